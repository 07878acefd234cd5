import type { TreeHash } from '#core/domain/ids.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { RepoDirectories } from '../../../../../engine-container/src/reconcile/engine-memory.ts';
import type { Directory } from '../../../../../engine-container/src/staging/objects.ts';
import { findCheckoutRefusal } from '../../../../../engine-container/src/staging/rebase/rebase-checkouts.ts';
import { RepoObjects } from '../../../../../engine-container/src/staging/repo-objects.ts';

const id = (digit: string) => digit.repeat(40);

/** A base, and a head with `count` names for one folder of so many files. The files have no attributes. */
function givenHead(count: number) {
  const memory = new RepoDirectories();
  const put = (tree: TreeHash, directory: Directory): TreeHash => {
    memory.put(tree, directory);
    return tree;
  };
  const rows = (mode: string, object: string): Directory =>
    Array.from({ length: count }, (_, at) => ({ name: `n${at}`, mode, id: object, size: null }));
  const files = put(id('1'), rows('100644', id('2')));
  const folders = put(id('3'), rows('040000', files));
  const ours = put(id('4'), [{ name: 'a', mode: '100644', id: id('2'), size: 1 }]);
  const head = put(id('5'), [{ name: 'z', mode: '040000', id: folders, size: null }]);
  const objects = new RepoObjects({} as EngineForge, memory, () => false);
  return findCheckoutRefusal(objects, { head, ours, written: [{ sha: head, parent: ours }] });
}

test('a rebase over more files than are compared is refused, as its checkouts are not known', async () => {
  expect(await givenHead(10)).toBe('none');
  expect(await givenHead(1_000)).toBe('too_many_files');
});
