import type { PullRequest } from '#core/domain/forge.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { QueueRecord } from './queue/record.ts';
import type { Snapshot } from './queue/snapshot.ts';

/** Which pull requests were merged with what moved the base without the queue: two calls, on that alarm alone. */
export async function readPassed(
  forge: EngineForge,
  attempt: <T>(read: () => Promise<T>) => Promise<Reading<T>>,
  { passed }: QueueRecord,
  baseBranch: string,
): Promise<Pick<Snapshot, 'passed'>> {
  if (passed === undefined) return {};
  const commits = await attempt(() => forge.listOwnCommits(passed.from, passed.to));
  const merged: Reading<readonly PullRequest[]> = commits.known
    ? await attempt(() => forge.listMergedPullRequests())
    : UNKNOWN;
  if (!commits.known || !merged.known) return { passed: UNKNOWN };
  const added = new Set(commits.value.map(({ sha }) => sha));
  const isAmongThem = ({ baseRef, mergeCommitSha }: PullRequest): boolean =>
    baseRef === baseBranch && mergeCommitSha !== null && added.has(mergeCommitSha);
  return { passed: known(merged.value.filter(isAmongThem)) };
}
