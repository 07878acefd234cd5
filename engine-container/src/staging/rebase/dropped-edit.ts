import type { TreeHash } from '#core/domain/ids.ts';

/** The end of a plan: a tree, or why there is none. */
type Plan = { readonly tree: TreeHash } | string;

/** Null: the plan makes no tree. */
export function treeOfPlan(plan: Plan, ours: TreeHash): TreeHash | null {
  if (plan === 'no_changes') return ours;
  return typeof plan === 'string' ? null : plan.tree;
}

/**
 * Whether a head with merges loses something by a rebase, which drops them: its replayed commits conflict, or make another tree than the
 * head does. Where git cannot merge the whole head at once, nothing tells.
 *
 * @param replayed - its commits without its merges
 * @param whole - the head as it is
 */
export function dropsEdit(replayed: Plan, whole: Plan, ours: TreeHash): boolean {
  if (replayed === 'conflict') return true;
  const [made, meant] = [treeOfPlan(replayed, ours), treeOfPlan(whole, ours)];
  return made !== null && meant !== null && made !== meant;
}
