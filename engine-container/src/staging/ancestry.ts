import type { CommitSha } from '#core/domain/ids.ts';

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

/** The commits that a rebase replays: the own ones, parents first, without merges and without those staged already. */
export function listReplayed(
  own: readonly OwnCommit[],
  staged: ReadonlySet<CommitSha>,
): readonly { readonly sha: CommitSha; readonly parent: CommitSha }[] {
  return parentsFirst(own).flatMap(({ sha, parents }) => {
    const [parent] = parents;
    return parents.length === 1 && parent !== undefined && !staged.has(sha) ? [{ sha, parent }] : [];
  });
}

/** Listings are in order of date, which clocks of several machines can turn round. */
function parentsFirst(own: readonly OwnCommit[]): readonly OwnCommit[] {
  const bySha = new Map(own.map((commit) => [commit.sha, commit]));
  const ordered: OwnCommit[] = [];
  const seen = new Set<CommitSha>();
  // With its own stack: a pull request may have more commits than the language allows calls in each other.
  for (const start of [...own].reverse()) {
    const stack = [{ commit: start, entered: false }];
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      if (top.entered) ordered.push(top.commit);
      else if (!seen.has(top.commit.sha)) {
        seen.add(top.commit.sha);
        stack.push({ commit: top.commit, entered: true });
        for (const parent of top.commit.parents) {
          const above = bySha.get(parent);
          if (above !== undefined && !seen.has(parent)) stack.push({ commit: above, entered: false });
        }
      }
    }
  }
  return ordered;
}
