import type { CommitSha } from '#core/domain/ids.ts';
import { FORK_POINTS_ASKED_MAX } from '#core/domain/limits.ts';
import { type EngineForge, ListingTooLong } from '#core/ports/forge.ts';
import { listForkPoints, type OwnCommit } from './ancestry.ts';

/**
 * The commit that git merges from: the one best common ancestor of the head and of the base with what is staged on it.
 * `several`: two equally good ones. Null: unrelated histories. Throws `ListingTooLong` where too much lies between them.
 */
export async function findMergeBase(
  forge: EngineForge,
  head: CommitSha,
  own: readonly OwnCommit[],
  staged: ReadonlySet<CommitSha>,
): Promise<CommitSha | 'several' | null> {
  if (own.length === 0 || staged.has(head)) return head;
  const { staged: stagedEnds, base, below } = listForkPoints(own, staged);
  const isMany = base.length + below.length > FORK_POINTS_ASKED_MAX;
  const best = isMany ? await listBest(forge, head, base, below) : await askForBest(forge, base, below);
  const all = [...stagedEnds, ...best];
  return all.length > 1 ? 'several' : (all[0] ?? null);
}

/**
 * The merge base of a head and the base's tip, where the head has more commits of its own than can be listed: `told`, the
 * forge's own one, which may be of an older head or tip. It is the only one where it is on the base, and where the tip
 * lacks of the head's history no more than of that of `told`. Null: that is not so.
 */
export async function confirmMergeBase(
  forge: EngineForge,
  head: CommitSha,
  tip: CommitSha,
  told: CommitSha,
): Promise<CommitSha | null> {
  if (!(await isAncestor(forge, told, tip))) return null;
  const aboveHead = await forge.listOwnCommits(head, tip);
  const aboveTold = await forge.listOwnCommits(told, tip);
  const missed = new Set(aboveHead.map(({ sha }) => sha));
  const isSame = aboveTold.length === missed.size && aboveTold.every(({ sha }) => missed.has(sha));
  return isSame ? told : null;
}

/** Of a few ends those that no other one contains: a call for each pair that has to be compared. */
async function askForBest(
  forge: EngineForge,
  base: readonly CommitSha[],
  below: readonly CommitSha[],
): Promise<readonly CommitSha[]> {
  let best: CommitSha[] = [];
  for (const candidate of base) {
    if (await isContained(forge, candidate, [...best, ...below])) continue;
    const kept: CommitSha[] = [];
    for (const other of best) if (!(await isAncestor(forge, other, candidate))) kept.push(other);
    best = [...kept, candidate];
  }
  return best;
}

/**
 * The same of however many, from one listing: of what the head has above the first of them. An end that is not in it is
 * below the first. Each way from one end down to another one that is not below the first lies in it as a whole, and so
 * does each way down to the first.
 *
 * Forges list the newest first: the first end is where the base was merged last, and little more than the head's own
 * commits lies above it. With another one as the first the answer is as true, and the listing longer.
 */
async function listBest(
  forge: EngineForge,
  head: CommitSha,
  base: readonly CommitSha[],
  below: readonly CommitSha[],
): Promise<readonly CommitSha[]> {
  const [first] = base;
  if (first === undefined) return [];
  const above = await forge.listOwnCommits(first, head);
  const parents = new Map(above.map((commit) => [commit.sha, commit.parents]));
  const contained = new Set<CommitSha>();
  const stack = [...base, ...below].flatMap((end) => parents.get(end) ?? []);
  for (let sha = stack.pop(); sha !== undefined; sha = stack.pop()) {
    if (contained.has(sha)) continue;
    contained.add(sha);
    stack.push(...(parents.get(sha) ?? []));
  }
  return base.filter((end) => (end === first || parents.has(end)) && !contained.has(end));
}

async function isContained(
  forge: EngineForge,
  older: CommitSha,
  newer: readonly CommitSha[],
): Promise<boolean> {
  for (const each of newer) if (await isAncestor(forge, older, each)) return true;
  return false;
}

/** Whether `newer` is `older` or has it in its history: one call. */
export async function isAncestor(forge: EngineForge, older: CommitSha, newer: CommitSha): Promise<boolean> {
  return (await forge.listNewCommits(newer, older)).length === 0;
}

/** Commits of a head that the base does not have. */
export async function listAbove(
  forge: Pick<EngineForge, 'listOwnCommits'>,
  base: CommitSha,
  head: CommitSha,
): Promise<readonly OwnCommit[] | 'too many'> {
  try {
    return await forge.listOwnCommits(base, head);
  } catch (error) {
    if (error instanceof ListingTooLong) return 'too many';
    throw error;
  }
}
