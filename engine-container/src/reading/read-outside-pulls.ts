import type { PullRequest } from '#core/domain/forge/forge.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { CommitLink, EngineForge } from '#core/ports/forge.ts';
import type { OutsideMove } from '../queue/record/merged-outside-state.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { OutsidePull, Snapshot } from '../queue/snapshot.ts';
import type { TryRead } from './look-reads.ts';
import { isLost } from './lost-commit.ts';

/**
 * Which pull requests were merged with what moved the base without the queue, and what their heads say of it: two calls,
 * and one for each of them, on that alarm alone. After the first that fails, which may have taken ten seconds, no other is asked for:
 * the next reconcile, which has another fence, begins with another one.
 */
export async function readOutsidePulls(
  forge: EngineForge,
  tryRead: TryRead,
  { outsideMove: move }: QueueRecord,
  baseBranch: string,
  fence: number,
): Promise<Pick<Snapshot, 'outsidePulls'>> {
  if (move === undefined) return {};
  const commits = await tryRead(() => listMoved(forge, baseBranch, move));
  const merged: Reading<readonly PullRequest[]> = commits.known
    ? await tryRead(() => forge.listMergedPullRequests())
    : UNKNOWN;
  if (!commits.known || !merged.known) return { outsidePulls: UNKNOWN };
  const added = new Set(commits.value.map(({ sha }) => sha));
  const isAmongThem = ({ baseRef, mergeCommitSha }: PullRequest): boolean =>
    baseRef === baseBranch && mergeCommitSha !== null && added.has(mergeCommitSha);
  const among = merged.value.filter(isAmongThem);
  const first = among.length === 0 ? 0 : fence % among.length;
  const found: OutsidePull[] = [];
  let hasFailed = false;
  for (const pull of [...among.slice(first), ...among.slice(0, first)]) {
    const statuses: OutsidePull['statuses'] = hasFailed
      ? UNKNOWN
      : await tryRead(() => forge.readStatuses(pull.headSha));
    hasFailed = !statuses.known;
    found.push({ pull, statuses });
  }
  return { outsidePulls: known(found) };
}

/** Commits on top of a tip that the forge has lost are told by no call: no pull request is named for them. */
async function listMoved(
  forge: EngineForge,
  baseBranch: string,
  { from, to }: OutsideMove,
): Promise<readonly CommitLink[]> {
  try {
    return await forge.listOwnCommits(from, to);
  } catch (error) {
    if ((await isLost(forge, baseBranch, from)) || (await isLost(forge, baseBranch, to))) return [];
    throw error;
  }
}
