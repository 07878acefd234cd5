import { Pace } from '#core/domain/effort.ts';
import type { TreeHash } from '#core/domain/ids.ts';
import { hashDirectory, sortEntries } from './hash-directory.ts';
import {
  type Computation,
  DIRECTORY_MODE,
  type DirectoryEntry,
  formatOf,
  isDirectory,
  type ObjectView,
  readDirectories,
  TURN,
} from './objects.ts';
import type { FileVersion, PathChange } from './path-change.ts';

/** Steps of one entry of a directory that is written anew, beside those of sorting and hashing. */
const ENTRY_STEPS = 25;

/**
 * Ids of a directory with nothing in it. Some tools write one, and git, whose index has files alone, leaves it out of each directory
 * that it writes anew.
 */
const EMPTY_TREES: ReadonlySet<string> = new Set([
  '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
]);

/** The wanted entry at one name of a directory: a file or none (undefined = as it is), and changes below it. */
interface Wish {
  file: FileVersion | null | undefined;
  readonly below: Map<string, Wish>;
}

/**
 * The tree with the changes made, put into the view. `clash`: a path would be a file and a directory at once. Throws
 * `Unsayable` for a directory on the way to a change.
 */
export function* editTree(
  view: ObjectView,
  tree: TreeHash,
  changes: readonly Pick<PathChange, 'path' | 'to'>[],
): Computation<TreeHash | 'clash'> {
  const pace = new Pace();
  const root: Wish = { file: undefined, below: new Map() };
  for (const { path, to } of changes) {
    let wish = root;
    for (const name of path.split('/')) {
      const next = wish.below.get(name) ?? { file: undefined, below: new Map() };
      wish.below.set(name, next);
      wish = next;
      pace.walk(ENTRY_STEPS);
    }
    wish.file = to;
    if (pace.isTurnDue()) yield TURN;
  }
  const edited = yield* editDirectory({ view, sample: tree, pace }, tree, '', root.below);
  if (edited !== null) return edited;
  const empty = yield* hashDirectory([], formatOf(tree));
  view.putDirectory(empty, []);
  return empty;
}

interface Edit {
  readonly view: ObjectView;
  /** Any id of the repository. */
  readonly sample: TreeHash;
  readonly pace: Pace;
}

/** Null = nothing is left in it. */
function* editDirectory(
  edit: Edit,
  id: TreeHash | null,
  path: string,
  wishes: ReadonlyMap<string, Wish>,
): Computation<TreeHash | null | 'clash'> {
  const { view, sample } = edit;
  const [directory = []] = yield* readDirectories(view, [{ id, path }]);
  const entries = new Map<string, DirectoryEntry>();
  for (const entry of directory) {
    if (!EMPTY_TREES.has(entry.id)) entries.set(entry.name, entry);
    edit.pace.walk(ENTRY_STEPS);
    if (edit.pace.isTurnDue()) yield TURN;
  }
  for (const [name, wish] of wishes) {
    edit.pace.walk(ENTRY_STEPS);
    if (edit.pace.isTurnDue()) yield TURN;
    const current = entries.get(name);
    const place = path === '' ? name : `${path}/${name}`;
    const subtree: TreeHash | null = current !== undefined && isDirectory(current) ? current.id : null;
    const below: TreeHash | null | 'clash' =
      wish.below.size === 0 ? subtree : yield* editDirectory(edit, subtree, place, wish.below);
    if (below === 'clash') return 'clash';
    const standing = current === undefined || isDirectory(current) ? null : current;
    const file = wish.file === undefined ? standing : wish.file;
    if (file !== null && below !== null) return 'clash';
    if (file !== null) entries.set(name, toEntry(name, file));
    else if (below !== null) entries.set(name, { name, mode: DIRECTORY_MODE, id: below, size: null });
    else entries.delete(name);
  }
  if (entries.size === 0) return null;
  edit.pace.walk(ENTRY_STEPS * entries.size);
  if (edit.pace.isTurnDue()) yield TURN;
  const sorted = yield* sortEntries([...entries.values()]);
  const hash = yield* hashDirectory(sorted, formatOf(sample));
  view.putDirectory(hash, sorted);
  return hash;
}

function toEntry(name: string, { mode, id, size }: FileVersion): DirectoryEntry {
  return { name, mode, id, size: size ?? null };
}
