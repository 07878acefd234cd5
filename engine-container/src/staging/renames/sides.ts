import type { BlobId } from '#core/domain/ids.ts';

export interface RenameFile {
  readonly path: string;
  readonly mode: string;
  readonly id: BlobId;
  /** Null = not told. */
  readonly size: number | null;
}

/** The renames of one side of a merge. Files in git's order, empty ones left out. */
export interface RenameSides {
  /** Files of the base that this side does not have. */
  readonly sources: readonly RenameFile[];
  /** Files of this side that the base does not have. */
  readonly targets: readonly RenameFile[];
  /** Sources whose new place matters for the merge. */
  readonly relevant: ReadonlySet<string>;
  readonly removedDirectories: ReadonlySet<string>;
}

export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Says whether a path is below one of the directories. Each directory is looked at once: there may be as many as files. */
export function belowAny(directories: ReadonlySet<string>): (path: string) => boolean {
  const known = new Map<string, boolean>([['', false]]);
  return (path) => {
    const unknown: string[] = [];
    let directory = directoryOf(path);
    for (; !known.has(directory); directory = directoryOf(directory)) unknown.push(directory);
    let isBelow = known.get(directory) === true;
    for (const each of unknown.reverse()) {
      isBelow ||= directories.has(each);
      known.set(each, isBelow);
    }
    return isBelow;
  };
}

export function basenameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
