import type { PullRequest } from '#core/domain/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import { readAllPages } from './paging.ts';
import { readBody } from './read-body.ts';
import { PullRow, PullRows } from './schema.ts';
import { type ForgeTransport, unusable } from './transport.ts';

/** Open pull requests of one base branch, oldest first. */
export async function listOpenPullRequests(
  transport: ForgeTransport,
  base: string,
): Promise<readonly PullRequest[]> {
  const call = {
    method: 'GET',
    label: 'GET pulls',
    path: [...transport.repoPath, 'pulls'],
    // `base` is Forgejo 16, `base_branch` Gitea 1.24; other versions ignore both, so the rows are filtered here too.
    query: { state: 'open', sort: 'oldest', base, base_branch: base },
  } as const;
  const rows = await readAllPages(transport, call, (answer) => readBody(PullRows, call, answer));
  const pulls = new Map<PullRequestNumber, PullRequest>();
  for (const row of rows) {
    if (row === null || row.state !== 'open' || row.base.ref !== base || !hasCommits(row)) continue;
    pulls.set(row.number, toPullRequest(row));
  }
  return [...pulls.values()];
}

export async function readPullRequest(
  transport: ForgeTransport,
  pr: PullRequestNumber,
): Promise<PullRequest> {
  const call = {
    method: 'GET',
    label: 'GET pulls/{n}',
    path: [...transport.repoPath, 'pulls', String(pr)],
  } as const;
  const answer = await transport.request(call);
  const row = readBody(PullRow, call, answer);
  if (!hasCommits(row)) throw unusable(call, answer.status);
  return toPullRequest(row);
}

/** A pull request whose head or base the forge cannot resolve has nothing that could be staged or merged. */
function hasCommits(row: PullRow): boolean {
  return row.head.sha !== '' && row.base.sha !== '';
}

function toPullRequest(row: PullRow): PullRequest {
  return {
    number: row.number,
    title: row.title,
    state: row.state,
    draft: row.draft,
    mergeable: row.mergeable,
    merged: row.merged,
    // An open pull request carries the commit of the forge's trial merge in some versions.
    mergeCommitSha: row.merged ? row.merge_commit_sha : null,
    mergeBase: row.merge_base,
    baseRef: row.base.ref,
    baseTip: row.base.sha,
    headRef: row.head.ref,
    headSha: row.head.sha,
    // -1 for a repository that is gone: not ours either.
    fromFork: row.head.repo_id !== row.base.repo_id,
    author: row.user,
    updatedAt: row.updated_at,
  };
}
