import type { CommitSha } from '#core/domain/ids.ts';
import { MERGE_FILE_BYTES_MAX } from '#core/domain/limits.ts';
import { findEntry, isDirectory, readBlobs } from '../objects.ts';
import { SUBMODULE_MODE } from '../path-change.ts';
import type { RepoObjects } from '../repo-objects.ts';

const RULE_FILE = '.gitmodules';

/** A value of `ignore` with which git compares the commits of a submodule. */
const COMPARED = /^"?(?:untracked|dirty|none)"?$/;
const IGNORE = /(?:^|[\s\]])ignore[ \t]*=[ \t]*([^\s#;]*)/gi;

/**
 * Whether git, which compares patches by the rules of the head that it rebases, may pass over changes of submodules: `ignore = all`
 * in `.gitmodules`. One whose rules the forge keeps back may, and one with more of them than a file that is merged may have.
 */
export async function passesSubmodulesOver(objects: RepoObjects, head: CommitSha): Promise<boolean> {
  const tree = await objects.treeOf(head);
  const file = await objects.run(findEntry(objects, tree, RULE_FILE));
  if (file === null || isDirectory(file) || file.mode === SUBMODULE_MODE) return false;
  const { id, size } = file;
  if ((size ?? 0) > MERGE_FILE_BYTES_MAX) return true;
  const content = (await objects.run(readBlobs(objects, [{ id, size }]))).get(id);
  if (!Buffer.isBuffer(content)) return true;
  // One after the other: a file made to have a million of them would fill the memory of the engine.
  for (const [, value = ''] of content.toString('latin1').matchAll(IGNORE))
    if (!COMPARED.test(value)) return true;
  return false;
}
