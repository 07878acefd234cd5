import type { FileWrite } from '#core/ports/forge.ts';
import { isRegularFile } from '../../../engine-container/src/staging/path-change.ts';
import { Refusal } from './exchange.ts';
import type { ObjectStore, StoredTree } from './object-store.ts';
import type { TreeMerger } from './tree-merge.ts';

type Edits = Parameters<TreeMerger['applyEdits']>[1];

/** The tree after whole files were written to it, as `POST contents` of the forges makes it. */
export function writeFilesTo(
  objects: ObjectStore,
  merger: TreeMerger,
  tree: StoredTree,
  files: readonly FileWrite[],
): StoredTree {
  const edits: Map<string, ReturnType<Edits['get']>> = new Map();
  for (const { path, content, replaces } of files) {
    const current = tree.byPath.get(path);
    if (replaces === null && (current !== undefined || !isFree(tree, path))) throw new Refusal(422);
    if (replaces !== null && current?.id !== replaces) throw new Refusal(current === undefined ? 404 : 422);
    if (current !== undefined && !isRegularFile(current)) throw new Refusal(422);
    const mode = current?.mode ?? '100644';
    edits.set(path, content === null ? undefined : { path, mode, id: objects.putBlob(content.toString()) });
  }
  return merger.applyEdits(tree, edits);
}

/** Neither a folder nor below a file. */
function isFree(tree: StoredTree, path: string): boolean {
  const above = path.split('/').slice(0, -1);
  return (
    !tree.directories.has(path) && above.every((_, at) => !tree.byPath.has(above.slice(0, at + 1).join('/')))
  );
}
