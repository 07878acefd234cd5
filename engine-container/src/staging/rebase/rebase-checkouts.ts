import type { TreeHash } from '#core/domain/ids.ts';
import type { WrittenStep } from '../ancestry.ts';
import { isRuleFile } from '../attributes.ts';
import { type FileVersion, isSameVersion, type PathChange } from '../path-change.ts';
import { unlessTooMany } from '../refusal.ts';
import type { RepoObjects } from '../repo-objects.ts';
import { diffTrees } from '../tree-walk.ts';
import { type Checkout, findRewritten } from './checkout-rules.ts';

/** One rebase: the head, the base that it is rebased to, and the trees that it writes, oldest first. */
export interface Rebase {
  readonly head: TreeHash;
  readonly ours: TreeHash;
  readonly written: readonly WrittenStep[];
}

/** Changes of files, of all commits together, that are looked at; beyond it is not told whether the rebase stops. */
const CHECKOUT_CHANGES_MAX = 20_000;

type Files = ReadonlyMap<string, FileVersion | null>;

/**
 * The refusal of a rebase that stops at a file that git converts. Checked out is only what differs between the base and the head
 * (`services/pull/merge_prepare.go`): of the head, then of the base, where the commits are written one on the other, and at last
 * of the base again, to put the result on top of it. A Forgejo that uses `git replay` checks out the result, then the base. Where
 * more files differ than are compared, it is refused: the forge may stop there, and its merge would not come.
 */
export async function findCheckoutRefusal(
  objects: RepoObjects,
  rebase: Rebase,
): Promise<'file_converted' | 'too_many_files' | 'none'> {
  const stops = await unlessTooMany(() => isStopped(objects, rebase));
  return stops === null ? 'too_many_files' : stops ? 'file_converted' : 'none';
}

async function isStopped(objects: RepoObjects, { head, ours, written }: Rebase): Promise<boolean> {
  const { changes } = await objects.run(diffTrees(objects, ours, head, 'head'));
  const before = filesOf(changes, 'from');
  const after = new Map<string, FileVersion | null>();
  const steps: Checkout[] = [];
  const isRuled = ({ path }: PathChange): boolean => isRuleFile(path);
  let left = CHECKOUT_CHANGES_MAX - changes.length;
  for (const { sha, parent } of written) {
    if (left < 0) return false;
    const step = await objects.run(diffTrees(objects, parent, sha));
    left -= step.changes.length;
    const files = filesOf(
      step.changes.filter(({ path }) => before.has(path)),
      'to',
    );
    for (const [path, version] of files) after.set(path, version);
    steps.push({ tree: sha, isRuledAnew: step.changes.some(isRuled), files });
  }
  const back = [...after].filter(([path, version]) => !isSameVersion(before.get(path), version));
  const checkouts: readonly Checkout[] = [
    { tree: head, isRuledAnew: false, files: filesOf(changes, 'to') },
    { tree: ours, isRuledAnew: changes.some(isRuled), files: before },
    ...steps,
    {
      tree: ours,
      isRuledAnew: false,
      files: new Map(back.map(([path]) => [path, before.get(path) ?? null])),
    },
  ];
  return (await objects.run(findRewritten(objects, checkouts))) !== null;
}

function filesOf(changes: readonly PathChange[], side: 'from' | 'to'): Files {
  return new Map(changes.map(({ path, [side]: version }) => [path, version]));
}
