import type { CommitSha } from '#core/domain/ids.ts';

/** A commit of a pull request that its base does not have. */
export interface OwnCommit {
  readonly sha: CommitSha;
  readonly parents: readonly CommitSha[];
}

/**
 * Where a pull request forks off from those staged before it, when it stands on one of them: once that one has landed
 * by a merge, this is what the forge's merge starts from. Null: on none. `several`: on more than one line of commits,
 * which the forge merges from a base that no tree listing shows.
 */
export function findStackBase(
  own: readonly OwnCommit[],
  staged: ReadonlySet<CommitSha>,
): CommitSha | null | 'several' {
  const shared = new Map(
    own.filter((commit) => staged.has(commit.sha)).map((commit) => [commit.sha, commit.parents]),
  );
  const below = new Set([...shared.values()].flat());
  const tops = [...shared.keys()].filter((sha) => !below.has(sha));
  const [top = null] = tops;
  return tops.length > 1 ? 'several' : top;
}

/** What a rebase replays: the own commits one by one, parents first, without merges and without what is staged already. */
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
