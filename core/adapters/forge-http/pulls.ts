import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import { FORGE_PAGE_SIZE_MAX, FORGE_TOUCHED_PULLS_MAX } from '#core/domain/limits.ts';
import { readStyles } from './repos.ts';
import { readAllPages, readFirstRows } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { PullRow, PullRows } from './wire/schema.ts';
import { type ForgeAnswer, type ForgeTransport, unusable } from './wire/transport.ts';

/**
 * Open pull requests to every branch, oldest first: the same head may be that of one to another branch (D-17). Without one
 * whose text is larger than any that a person writes (decision 0130).
 */
export async function listOpenPullRequests(transport: ForgeTransport): Promise<readonly PullRequest[]> {
  const call = listCall(transport, 'oldest');
  const readRows = (answer: ForgeAnswer) => readBody(PullRows, call, answer);
  return toOpen(await readAllPages(transport, call, readRows, { leavesOutLarge: true }));
}

/** Open pull requests that changed last; those that were opened, pushed to or retargeted just now are among them. */
export async function listTouchedPullRequests(transport: ForgeTransport): Promise<readonly PullRequest[]> {
  const call = listCall(transport, 'recentupdate');
  const readRows = (answer: ForgeAnswer) => readBody(PullRows, call, answer);
  return toOpen(await readFirstRows(transport, call, FORGE_TOUCHED_PULLS_MAX, readRows));
}

/** Merged pull requests that changed last, newest change first; a merge is a change. */
export async function listMergedPullRequests(transport: ForgeTransport): Promise<readonly PullRequest[]> {
  const call = {
    ...listCall(transport, 'recentupdate'),
    label: 'GET pulls (merged)',
    query: { state: 'closed', sort: 'recentupdate' },
  };
  const rows = await readFirstRows(transport, call, FORGE_PAGE_SIZE_MAX, (answer) =>
    readBody(PullRows, call, answer),
  );
  return rows.flatMap((row) => (row?.merged && hasCommits(row) ? [toPullRequest(row)] : []));
}

function listCall(transport: ForgeTransport, sort: 'oldest' | 'recentupdate') {
  return {
    method: 'GET',
    label: sort === 'oldest' ? 'GET pulls' : 'GET pulls (touched)',
    path: [...transport.repoPath, 'pulls'],
    query: { state: 'open', sort },
  } as const;
}

function toOpen(rows: readonly (PullRow | null)[]): readonly PullRequest[] {
  const pulls = new Map<PullRequestNumber, PullRequest>();
  for (const row of rows) {
    if (row === null || row.state !== 'open' || !hasCommits(row)) continue;
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

/** Whether the forge can resolve head and base. One without has nothing that could be staged or merged. */
function hasCommits(row: PullRow): boolean {
  return row.head.sha !== '' && row.base.sha !== '';
}

/** `flow` of a pull request that was pushed to `refs/for/…`. */
const FLOW_AGIT = 1;

function toPullRequest(row: PullRow): PullRequest {
  const allowedStyles = row.base.repo === null ? null : readStyles(row.base.repo);
  return {
    number: row.number,
    repoId: row.base.repo_id,
    title: row.title,
    state: row.state,
    draft: row.draft,
    // Gitea calls one mergeable whose merge base it failed to find, and never merges it (forge facts, 2).
    mergeable: row.mergeable && (row.state !== 'open' || row.merge_base !== null),
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
    agit: isAgit(row),
    ...(isBranchGone(row) ? { isBranchGone: true } : {}),
    ...(row.base.repo?.archived === true ? { isArchived: true } : {}),
    ...(allowedStyles === null ? {} : { allowedStyles }),
    author: row.user,
    ...(row.labels.length === 0 ? {} : { labels: row.labels.map(({ name }) => name) }),
    updatedAt: row.updated_at,
  };
}

/**
 * Whether it was pushed to `refs/for/…`. Forgejo says so; Gitea shows the repository itself as that of the head, and no label. Its
 * reference says nothing: the list of Gitea names a branch there that has the name of its topic, whatever that branch holds.
 */
function isAgit({ flow, head, base }: PullRow): boolean {
  if (flow !== null) return flow === FLOW_AGIT;
  return head.repo_id === base.repo_id && head.label === '';
}

/** Whether its branch is gone. The forge closes it then, and a person can open it again. */
function isBranchGone(row: PullRow): boolean {
  return isKept(row) && !isAgit(row);
}

/**
 * Whether the head is the forge's own reference (`refs/pull/<n>/head`); a branch may have a name that begins in the
 * same way.
 */
function isKept({ head, number }: PullRow): boolean {
  return head.ref === `refs/pull/${number}/head` && head.label !== head.ref;
}
