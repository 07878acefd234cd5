import { EMPTY_TREE, type ObjectStore, parseTree, type TreeEntry } from './objects.ts';

/**
 * The tree that a merge lands, which git writes from its index. An index has files alone, so that of each directory which differs
 * from `ours` the directories with nothing in them are left out (seen on both forges with every style, where the merge is no fast-forward).
 */
export async function writtenTree(objects: ObjectStore, ours: string, tree: string): Promise<string> {
  if (tree === ours) return tree;
  const [before, after] = [await entriesOf(objects, ours), await entriesOf(objects, tree)];
  const directories = new Map(before.filter(isDirectory).map(({ name, id }) => [name, id]));
  const kept = [];
  for (const entry of after) {
    const id = isDirectory(entry)
      ? await writtenTree(objects, directories.get(entry.name) ?? EMPTY_TREE, entry.id)
      : entry.id;
    if (!isDirectory(entry) || id !== EMPTY_TREE) kept.push({ ...entry, id });
  }
  const isAsItWas = kept.length === after.length && kept.every(({ id }, at) => id === after[at]?.id);
  return isAsItWas ? tree : objects.writeTree(kept);
}

function isDirectory({ mode }: { readonly mode: string }): boolean {
  return mode === '40000';
}

async function entriesOf(objects: ObjectStore, tree: string): Promise<readonly TreeEntry[]> {
  if (tree === EMPTY_TREE) return [];
  return parseTree((await objects.read(tree))?.data ?? Buffer.alloc(0));
}
