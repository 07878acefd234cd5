import { ForgeError } from '#core/ports/forge.ts';
import { MemberPlanner, type PlannerDeps } from './plan-members.ts';
import { type Root, type Staged, treeOf } from './queue/record.ts';
import { StagedTreeMismatch } from './stage-trees.ts';
import { formatOf, hashTree } from './staging/tree-hash.ts';

/**
 * Makes the tree of a prefix readable where the forge never had it: members in a row share one commit, so the trees
 * between exist by their hash only. It is planned again from what staging was planned from, and must have that hash.
 */
export async function recallTree(deps: PlannerDeps, root: Root, length: number): Promise<void> {
  const { chain, baseSha, baseTree, ground } = root;
  const tree = treeOf(root, length);
  if (tree === undefined || ground === undefined || !isShared(chain, length)) return;
  let from = length;
  while (from > 0 && isShared(chain, from)) from -= 1;
  let entries = await deps.trees.read(treeOf(root, from) ?? baseTree);
  const members = root.members.map(({ pr, head }, index) => ({
    ...{ pr, head, mergeBase: ground.forks[index] ?? null },
    behind: [],
  }));
  const planner = new MemberPlanner(deps, { ...ground, members });
  await planner.standOnStack();
  for (const [index, member] of members.slice(0, length).entries()) {
    const own = await planner.listOwn(member.head);
    if (own === null) throw unread();
    if (index >= from) {
      const planned = await planner.planInTurn(member, own, entries);
      if (planned === 'head_not_ready') throw unread();
      if (typeof planned === 'string' || planned.kind !== 'plan' || planned.plan.result === null)
        throw new StagedTreeMismatch();
      entries = planned.plan.result;
    }
    planner.pass(own);
  }
  if (hashTree(entries, formatOf({ sha: baseSha })) !== tree) throw new StagedTreeMismatch();
  deps.trees.remember(tree, entries);
}

/** What was there when the batch was staged is not shown now: the staging is tried again. */
function unread(): ForgeError {
  return new ForgeError('unreachable', 'recall tree', null);
}

/** Whether the commit that the prefix of this length went into holds members behind it as well. */
export function isShared(chain: readonly Staged[], length: number): boolean {
  const own = chain[length - 1];
  return own !== undefined && own.sha === chain[length]?.sha;
}
