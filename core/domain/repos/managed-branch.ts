import type { RepoId } from '../ids.ts';
import type { ManagedRepo } from './repo.ts';

/** One managed branch of a repository of a forge. */
export type ManagedBranch = Pick<ManagedRepo, 'id' | 'baseBranch' | 'statusContext'>;

/** The branch, or the context, that another managed branch of the repository has. */
export type BranchConflict =
  | { readonly kind: 'branch'; readonly id: RepoId }
  | { readonly kind: 'context'; readonly id: RepoId };

/**
 * A status belongs to a commit, and one commit may head pull requests to two branches: under one context the success of
 * one would open the other.
 */
export function findBranchConflict(
  branches: readonly ManagedBranch[],
  wanted: ManagedBranch,
): BranchConflict | null {
  const others = branches.filter(({ id }) => id !== wanted.id);
  const same = others.find(({ baseBranch }) => baseBranch === wanted.baseBranch);
  if (same !== undefined) return { kind: 'branch', id: same.id };
  const sharing = others.find((other) => isSameContext(other.statusContext, wanted.statusContext));
  return sharing === undefined ? null : { kind: 'context', id: sharing.id };
}

export function isSameContext(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** git holds no branch below another one; names of the queue for two such branches could meet. */
export function isBranchBelow(one: string, other: string): boolean {
  return one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

/**
 * Whether a deleted repo that is being wound down must end before this one acts: two records never act on one branch, nor
 * under one context. Null: a row of before several branches, which does not say.
 */
export function concernsBranch(
  left: { readonly baseBranch: string | null; readonly statusContext: string | null },
  repo: Pick<ManagedRepo, 'baseBranch' | 'statusContext'>,
): boolean {
  if (left.baseBranch === null || left.statusContext === null) return true;
  return left.baseBranch === repo.baseBranch || isSameContext(left.statusContext, repo.statusContext);
}
