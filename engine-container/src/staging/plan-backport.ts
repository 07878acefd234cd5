import type { CommitSha } from '#core/domain/ids.ts';
import { resultOfRefusal } from '#core/domain/pulls/backport.ts';
import type { BackportPlan, BackportPlanner } from '#core/ports/backport.ts';
import type { TreeReader } from '#core/ports/forge.ts';
import { RepoDirectories } from '../reconcile/engine-memory.ts';
import { renderPatch } from './patch.ts';
import { ReadingUnfinished, RepoObjects } from './repo-objects.ts';
import { planPick } from './three-way.ts';

/** Rounds of reads that one plan may take, of `FORGE_READS_AT_ONCE_MAX` each: they have to fit into one call of a function. */
const BACKPORT_READ_ROUNDS_MAX = 60;

/** Plans with the merge of staging, and with its patches by ids: there is no text that the forge could alter (forge facts, 6.2). */
export function openBackportPlanner(forge: TreeReader, isOutOfTime: () => boolean): BackportPlanner {
  const memory = new RepoDirectories();
  return { plan: (on, before, after) => plan({ forge, memory, isOutOfTime }, { on, before, after }) };
}

interface Reads {
  readonly forge: TreeReader;
  readonly memory: RepoDirectories;
  readonly isOutOfTime: () => boolean;
}

interface Change {
  readonly on: CommitSha;
  readonly before: CommitSha;
  readonly after: CommitSha;
}

async function plan(
  { forge, memory, isOutOfTime }: Reads,
  { on, before, after }: Change,
): Promise<BackportPlan> {
  let rounds = 0;
  const objects = new RepoObjects(forge, memory, () => {
    rounds += 1;
    return rounds > BACKPORT_READ_ROUNDS_MAX || isOutOfTime();
  });
  try {
    const trees = {
      base: await objects.treeOf(before),
      ours: await objects.treeOf(on),
      theirs: await objects.treeOf(after),
    };
    const merged = await objects.run(planPick(objects, trees));
    if (merged.kind === 'refused') return { kind: 'refused', result: resultOfRefusal(merged.reason) };
    return {
      kind: 'plan',
      patch: await renderPatch(merged.changes, (id) => objects.contentOf(id)),
      tree: merged.tree,
    };
  } catch (error) {
    if (!(error instanceof ReadingUnfinished)) throw error;
    return rounds > BACKPORT_READ_ROUNDS_MAX
      ? { kind: 'refused', result: 'too_large' }
      : { kind: 'unfinished' };
  }
}
