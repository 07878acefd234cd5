import type { CommitSha } from '#core/domain/ids.ts';
import { FORK_POINTS_MAX } from '#core/domain/limits.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { listForkPoints, type OwnCommit } from './staging/ancestry.ts';

/**
 * The commit that git merges from: the one best common ancestor of the head and of the base with what is staged on it.
 * `several`: two equally good ones, or too many to tell. Null: unrelated histories.
 */
export async function findMergeBase(
  forge: EngineForge,
  head: CommitSha,
  own: readonly OwnCommit[],
  staged: ReadonlySet<CommitSha>,
): Promise<CommitSha | 'several' | null> {
  if (own.length === 0 || staged.has(head)) return head;
  const { staged: stagedEnds, base, below } = listForkPoints(own, staged);
  if (base.length + below.length > FORK_POINTS_MAX) return 'several';
  let best: CommitSha[] = [];
  for (const candidate of base) {
    if (await isContained(forge, candidate, [...best, ...below])) continue;
    const kept: CommitSha[] = [];
    for (const other of best) if (!(await isAncestor(forge, other, candidate))) kept.push(other);
    best = [...kept, candidate];
  }
  const all = [...stagedEnds, ...best];
  return all.length > 1 ? 'several' : (all[0] ?? null);
}

async function isContained(
  forge: EngineForge,
  older: CommitSha,
  newer: readonly CommitSha[],
): Promise<boolean> {
  for (const each of newer) if (await isAncestor(forge, older, each)) return true;
  return false;
}

async function isAncestor(forge: EngineForge, older: CommitSha, newer: CommitSha): Promise<boolean> {
  return (await forge.listNewCommits(newer, older)).length === 0;
}
