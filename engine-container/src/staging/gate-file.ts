import type { BlobId, TreeHash } from '#core/domain/ids.ts';
import { gateFileNames } from '#core/domain/queue-names.ts';
import { findEntry, isDirectory, type ObjectView, type Reading } from './objects.ts';

export interface GateFile {
  /** Name without its folder, as run listings show it. */
  readonly file: string;
  readonly id: BlobId;
}

/** The gate workflow of a tree, in the first of the forge's folders that the tree has; null when absent there. */
export function* findGateFile(
  view: ObjectView,
  tree: TreeHash,
  { queueName, folders }: { readonly queueName: string; readonly folders: readonly string[] },
): Reading<GateFile | null> {
  for (const folder of folders) {
    const found = yield* findEntry(view, tree, folder);
    if (found === null || !isDirectory(found)) continue;
    for (const file of gateFileNames(queueName)) {
      const entry = yield* findEntry(view, tree, `${folder}/${file}`);
      if (entry !== null && !isDirectory(entry)) return { file, id: entry.id };
    }
    return null;
  }
  return null;
}

/** What a member does to the gate that judges it: a changed file judges itself (D-18), a removed one judges no member. */
export function judgeGateChange(
  before: GateFile | null,
  after: GateFile | null,
): 'removes_gate' | 'edits_gate' | null {
  if (before !== null && after === null) return 'removes_gate';
  // Runs are looked up by the file's name: a batch has one.
  return before?.id === after?.id && before?.file === after?.file ? null : 'edits_gate';
}
