import type { TreeHash } from '#core/domain/ids.ts';
import type { FileWrite } from '#core/ports/forge.ts';
import { isRuleFile } from './attributes.ts';
import { MergeRules, type RuleWords } from './merge-rules.ts';
import { type Computation, type ObjectView, readBlobs } from './objects.ts';
import { isRegularFile, NEW_FILE_MODE, type PathChange } from './path-change.ts';
import { Refused } from './refusal.ts';

/** Each file is a read of the queue, and four processes of the forge. */
const WRITTEN_FILES_MAX = 50;
/** Contents of one commit, bytes: nginx takes requests of one MiB by default, and base 64 adds a third. */
const WRITTEN_BYTES_MAX = 700 * 1024;
/** Both forges take no longer path in a list of files, and count its characters (forge facts, 6.2). */
const WRITTEN_PATH_CHARS_MAX = 500;
/** Git reads some characters as a pattern, JSON escapes others, and older forges take a dash at the beginning for an option. */
const PLAIN_PATH = /^(?!-)[^:*?[\]\\"\p{Cc}]+$/u;
const GIT_FOLDER = /(?:^|\/)\.git(?:\/|$)/i;
/** A forge with LFS stores other contents than those sent where a rule names a filter. */
const FILTER_WORDS: RuleWords = new Map([['filter', new Set([false, null])]]);

/**
 * A change as whole files, for a forge whose patches are slow; null where files cannot say it: new executables, changed modes,
 * links, submodules, a file in the place of a folder, a long path, contents that the forge would filter, and where it is large.
 */
export function* readFiles(
  view: ObjectView,
  before: TreeHash,
  changes: readonly PathChange[],
): Computation<readonly FileWrite[] | null> {
  if (changes.length > WRITTEN_FILES_MAX || !changes.every(isPlain) || hasFolderSwap(changes)) return null;
  const sizes = changes.map(({ to }) => to?.size ?? 0);
  if (sizes.reduce((sum, size) => sum + size, 0) > WRITTEN_BYTES_MAX) return null;
  if (yield* isFiltered(view, before, changes)) return null;
  const wanted = changes.flatMap(({ to }) => (to === null ? [] : [{ id: to.id, size: to.size }]));
  const contents = yield* readBlobs(view, wanted);
  const files: FileWrite[] = [];
  let bytes = 0;
  for (const { path, from, to } of changes) {
    const content = to === null ? null : contents.get(to.id);
    if (content === undefined || content === 'withheld') return null;
    bytes += content?.length ?? 0;
    files.push({ path, content, replaces: from?.id ?? null });
  }
  return bytes > WRITTEN_BYTES_MAX ? null : files;
}

function isPlain({ path, from, to }: PathChange): boolean {
  if (path.length > WRITTEN_PATH_CHARS_MAX) return false;
  if (!PLAIN_PATH.test(path) || GIT_FOLDER.test(path)) return false;
  if (from === null) return to?.mode === NEW_FILE_MODE;
  return isRegularFile(from) && (to === null || from.mode === to.mode);
}

/** A path that comes or goes below another one that does. */
function hasFolderSwap(changes: readonly PathChange[]): boolean {
  const paths = changes.map(({ path }) => path);
  return paths.some((path) => paths.some((other) => other.startsWith(`${path}/`)));
}

/** The rules of the branch before the change count; a change of the rules themselves is sent as a patch. */
function* isFiltered(
  view: ObjectView,
  before: TreeHash,
  changes: readonly PathChange[],
): Computation<boolean> {
  if (changes.some(({ path }) => isRuleFile(path))) return true;
  const rules = new MergeRules(view, [before], FILTER_WORDS);
  try {
    for (const { path, to } of changes) if (to !== null) yield* rules.refuse(path);
    return false;
  } catch (error) {
    if (error instanceof Refused) return true;
    throw error;
  }
}
