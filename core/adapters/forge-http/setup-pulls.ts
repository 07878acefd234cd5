import type { PullRequestNumber } from '#core/domain/ids.ts';
import { FORGE_PAGE_SIZE_MAX } from '#core/domain/limits.ts';
import type { ForgeBranch, PullLink } from '#core/ports/forge-admin.ts';
import { readAllPages } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { readLink } from './wire/read-link.ts';
import { BranchRows, OpenedPull, type PullLinkRow, PullLinkRows } from './wire/schema-admin.ts';
import type { ForgeTransport } from './wire/transport.ts';

export async function findOpenPull(
  transport: ForgeTransport,
  base: string,
  head: string,
): Promise<PullLink | null> {
  const call = {
    method: 'GET',
    label: 'GET pulls',
    path: [...transport.repoPath, 'pulls'],
    // Every version filters by some of these; the rows are filtered here too.
    query: { state: 'open', sort: 'oldest', base, base_branch: base, head },
  } as const;
  const rows = await readAllPages(transport, call, (answer) => readBody(PullLinkRows, call, answer));
  return pick(transport, rows, (row) => row.state === 'open' && isOf(row, base, head));
}

/** As `findOpenPull`, else one that was closed or merged lately: the newest page of those is looked through. */
export async function findPull(
  transport: ForgeTransport,
  base: string,
  head: string,
): Promise<PullLink | null> {
  const open = await findOpenPull(transport, base, head);
  if (open !== null) return open;
  const call = {
    method: 'GET',
    label: 'GET pulls',
    path: [...transport.repoPath, 'pulls'],
    query: { state: 'closed', sort: 'recentupdate', page: 1, limit: FORGE_PAGE_SIZE_MAX },
  } as const;
  const rows = readBody(PullLinkRows, call, await transport.request(call));
  return pick(transport, rows, (row) => isOf(row, base, head));
}

/** Whether a row is the pull request from branch `head` of the repository itself into `base`. */
function isOf(row: PullLinkRow, base: string, head: string): boolean {
  return row.base.ref === base && row.head.ref === head && row.head.repo_id === row.base.repo_id;
}

function pick(
  transport: ForgeTransport,
  rows: readonly (PullLinkRow | null)[],
  isWanted: (row: PullLinkRow) => boolean,
): PullLink | null {
  const found = rows.find((row) => row !== null && isWanted(row));
  return found == null ? null : { number: found.number, url: readLink(transport, found.html_url) };
}

export async function openPull(
  transport: ForgeTransport,
  pull: { readonly base: string; readonly head: string; readonly title: string; readonly body: string },
): Promise<PullLink> {
  const call = {
    method: 'POST',
    label: 'POST pulls',
    path: [...transport.repoPath, 'pulls'],
    body: pull,
  } as const;
  const made = readBody(OpenedPull, call, await transport.request(call));
  return { number: made.number, url: readLink(transport, made.html_url) };
}

/** Lists at most `max` branches in the forge's order: the default branch, then those with the newest commits. */
export async function listBranches(transport: ForgeTransport, max: number): Promise<readonly ForgeBranch[]> {
  const call = { method: 'GET', label: 'GET branches', path: [...transport.repoPath, 'branches'] } as const;
  const branches: ForgeBranch[] = [];
  for (let page = 1; branches.length < max; page += 1) {
    const query = { page, limit: FORGE_PAGE_SIZE_MAX };
    const rows = readBody(BranchRows, call, await transport.request({ ...call, query }));
    if (rows.length === 0) break;
    for (const row of rows) {
      if (row === null) continue;
      const { name, commit, protected: isProtected } = row;
      branches.push({ name, tip: commit.id, committedAt: commit.timestamp, isProtected });
    }
  }
  return branches.slice(0, max);
}

/**
 * Takes a scheduled merge back. 404 means that it is not scheduled, or that the pull request is gone, which comes to
 * the same.
 */
export async function cancelAutoMerge(
  transport: ForgeTransport,
  pr: PullRequestNumber,
): Promise<'cancelled' | 'not_scheduled'> {
  const call = {
    method: 'DELETE',
    label: 'DELETE pulls/{n}/merge',
    path: [...transport.repoPath, 'pulls', String(pr), 'merge'],
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 404 && answer.isJson) return 'not_scheduled';
  if (answer.status !== 204) throw transport.failure(call, answer);
  return 'cancelled';
}
