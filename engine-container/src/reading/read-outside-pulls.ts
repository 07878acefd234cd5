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
 * and one for each of them, on that alarm alone.
 */
export async function readOutsidePulls(
  forge: EngineForge,
  tryRead: TryRead,
  { outsideMove: move }: QueueRecord,
  baseBranch: string,
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
  const found: OutsidePull[] = [];
  for (const pull of merged.value.filter(isAmongThem))
    found.push({ pull, statuses: await tryRead(() => forge.readStatuses(pull.headSha)) });
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
