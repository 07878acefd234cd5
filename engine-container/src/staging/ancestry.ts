import type { CommitSha, TreeHash } from '#core/domain/ids.ts';

/** A commit of a pull request that its base does not have. */
export interface OwnCommit {
  readonly sha: CommitSha;
  readonly parents: readonly CommitSha[];
}

/** Commits that a head shares with what it is merged into, candidates for the merge base. */
export interface ForkPoints {
  /** Staged commits that no other of them contains. */
  readonly staged: readonly CommitSha[];
  /** Commits of the base that none of the staged ones is known to contain, in the order of the listing. */
  readonly base: readonly CommitSha[];
  /** Commits of the base right below the staged ones: what these contain, the staged ones contain too. */
  readonly below: readonly CommitSha[];
}

/**
 * Where the commits of a head end that are neither on the base nor staged before it. Git takes the best of these as the
 * merge base; where two are equally good it merges them first, into a base that no listing shows.
 */
export function listForkPoints(own: readonly OwnCommit[], staged: ReadonlySet<CommitSha>): ForkPoints {
  const parents = new Map(own.map((commit) => [commit.sha, commit.parents]));
  const ends = new Set(own.filter(({ sha }) => !staged.has(sha)).flatMap((commit) => commit.parents));
  const stagedEnds = [...ends].filter((sha) => staged.has(sha) && parents.has(sha));
  const contained = new Set<CommitSha>();
  const below = new Set<CommitSha>();
  for (const end of stagedEnds) {
    const stack = [...(parents.get(end) ?? [])];
    for (let sha = stack.pop(); sha !== undefined; sha = stack.pop()) {
      const above = parents.get(sha);
      if (above === undefined) below.add(sha);
      else if (!contained.has(sha)) {
        contained.add(sha);
        stack.push(...above);
      }
    }
  }
  return {
    staged: stagedEnds.filter((sha) => !contained.has(sha)),
    base: [...ends].filter((sha) => !parents.has(sha) && !below.has(sha)),
    below: [...below],
  };
}

/** One commit that a rebase replays, as the change that it is of its parent. */
export interface ReplayStep {
  readonly sha: CommitSha;
  readonly parent: CommitSha;
}

/** A change as one that may not be written yet: of commits, or of trees. */
export interface TreeStep {
  readonly sha: CommitSha | TreeHash;
  readonly parent: CommitSha | TreeHash;
}

/** A commit as a rebase writes it, by trees. */
export interface WrittenStep {
  readonly sha: TreeHash;
  readonly parent: TreeHash;
}

/** The commits that a rebase replays, in its order: the own ones, without merges and without those staged already. */
export function listReplayed(
  own: readonly OwnCommit[],
  staged: ReadonlySet<CommitSha>,
): readonly ReplayStep[] {
  return inReplayOrder(own).flatMap(({ sha, parents }) => {
    const [parent] = parents;
    return parents.length === 1 && parent !== undefined && !staged.has(sha) ? [{ sha, parent }] : [];
  });
}

/**
 * Whether a rebase to `base`, with those `before` it on that, moves the branch alone and writes no commit anew. `kept`: those of
 * them that landed so themselves.
 */
export function isFastForward(
  own: readonly OwnCommit[],
  base: CommitSha,
  before: ReadonlySet<CommitSha>,
  kept: ReadonlySet<CommitSha>,
): boolean {
  const shas = new Set(own.map(({ sha }) => sha));
  for (const sha of before) if (!shas.has(sha) || !kept.has(sha)) return false;
  return own.every(
    ({ parents }) => parents.length === 1 && parents.every((sha) => sha === base || shas.has(sha)),
  );
}

export function hasRoots(own: readonly OwnCommit[]): boolean {
  return own.some(({ parents }) => parents.length === 0);
}

/** Not one of its commits stands on a commit of the base: git finds no merge base. */
export function isUnrelated(own: readonly OwnCommit[]): boolean {
  const shas = new Set(own.map(({ sha }) => sha));
  return own.every(({ parents }) => parents.every((sha) => shas.has(sha)));
}

/** Whether a head, by its commits that `base` does not have, has `base` in its history: one of them stands on it then. */
export function standsOn(own: readonly OwnCommit[], base: CommitSha): boolean {
  return own.some(({ parents }) => parents.includes(base));
}

export function hasMerges(own: readonly OwnCommit[]): boolean {
  return own.some(({ parents }) => parents.length > 1);
}

/**
 * The order of `git rev-list --topo-order --reverse`, which follows one line to its end before it takes the other: commits of
 * two lines may come to another tree in another order. Listings are in order of date, which clocks of several machines can
 * turn round.
 */
function inReplayOrder(own: readonly OwnCommit[]): readonly OwnCommit[] {
  const bySha = new Map(own.map((commit) => [commit.sha, commit]));
  const waitsFor = new Map<CommitSha, number>(own.map(({ sha }) => [sha, 0]));
  for (const parent of own.flatMap(({ parents }) => parents))
    if (bySha.has(parent)) waitsFor.set(parent, (waitsFor.get(parent) ?? 0) + 1);
  const newestFirst: OwnCommit[] = [];
  const ready = own.filter(({ sha }) => waitsFor.get(sha) === 0).reverse();
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    newestFirst.push(next);
    for (const sha of next.parents) {
      const parent = bySha.get(sha);
      if (parent === undefined) continue;
      const left = (waitsFor.get(sha) ?? 0) - 1;
      waitsFor.set(sha, left);
      if (left === 0) ready.push(parent);
    }
  }
  return newestFirst.reverse();
}
