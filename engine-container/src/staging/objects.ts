import { createHash } from 'node:crypto';
import type { BlobId, TreeHash } from '#core/domain/ids.ts';

export const DIRECTORY_MODE = '040000';

export interface DirectoryEntry {
  readonly name: string;
  /** As git writes it, directories as 040000. */
  readonly mode: string;
  /** Of a blob, a tree, or the commit of a submodule. */
  readonly id: string;
  /** Bytes of a file; null = not told. */
  readonly size: number | null;
}

/** The entries directly in one directory, in git's order. The hash of exactly this is its id. */
export type Directory = readonly DirectoryEntry[];

/**
 * Objects of one repository, as far as they are at hand: undefined = not yet. `unsayable`: what the forge lists does not
 * hash to the id, because its JSON cannot carry a name that is not UTF-8. `withheld`: the forge keeps a blob of this size back.
 */
export interface ObjectView {
  directory(id: TreeHash): Directory | 'unsayable' | undefined;
  blob(id: BlobId): Buffer | 'withheld' | undefined;
  putDirectory(id: TreeHash, directory: Directory): void;
  putBlob(id: BlobId, content: Buffer): void;
}

/** `path`: where the directory stands, without slashes at the ends. */
export type Need =
  | { readonly kind: 'directory'; readonly id: TreeHash; readonly path: string }
  | ({ readonly kind: 'blob' } & BlobRequest);

/** A blob. `size`: its bytes as the tree lists them, of which no more are read; null: the tree lists none. */
export interface BlobRequest {
  readonly id: BlobId;
  readonly size?: number | null | undefined;
}

/** A computation that stops where objects are missing and goes on once its driver has put them into the view. */
export type Computation<Result> = Generator<readonly Need[], Result, void>;

/** A directory that a computation needs and that no listing shows as it is. `side`: whose directory it is. */
export class Unsayable extends Error {
  override readonly name = 'Unsayable';
  constructor(readonly side: 'base' | 'head') {
    super('a directory has a name that the forge cannot show');
  }
}

/** Asks for nothing: all others in the engine have a turn before the computation goes on. */
export const TURN: readonly Need[] = [];

/** Carries a computation out where everything is at hand. */
export function computeAtHand<Result>(computation: Computation<Result>): Result {
  for (;;) {
    const step = computation.next();
    if (step.done === true) return step.value;
    if (step.value !== TURN) throw new Error('an object is not at hand');
  }
}

export interface DirectoryRequest {
  /** Null: there is none, so nothing is in it. */
  readonly id: TreeHash | null;
  readonly path: string;
  /** @default base */
  readonly side?: 'base' | 'head';
}

/** Directories by request, asked for together. Throws `Unsayable`. */
export function* readDirectories(
  view: ObjectView,
  requests: readonly DirectoryRequest[],
): Computation<readonly Directory[]> {
  const missing = requests.flatMap(({ id, path }): Need[] =>
    id === null || view.directory(id) !== undefined ? [] : [{ kind: 'directory', id, path }],
  );
  if (missing.length > 0) yield missing;
  return requests.map(({ id, side = 'base' }) => {
    if (id === null) return [];
    const directory = view.directory(id);
    if (directory === 'unsayable') throw new Unsayable(side);
    if (directory === undefined) throw new Error('a directory was not read');
    return directory;
  });
}

/** Blobs by id, asked for together. What is at hand is taken before: the view may forget it while it reads the others. */
export function* readBlobs(
  view: ObjectView,
  wanted: readonly BlobRequest[],
): Computation<ReadonlyMap<BlobId, Buffer | 'withheld'>> {
  const found = new Map<BlobId, Buffer | 'withheld'>();
  const missing = new Map<BlobId, BlobRequest>();
  for (const { id, size } of wanted) {
    const blob = view.blob(id);
    if (blob === undefined) missing.set(id, { id, size });
    else found.set(id, blob);
  }
  if (missing.size > 0) yield [...missing.values()].map((request) => ({ kind: 'blob', ...request }));
  for (const id of missing.keys()) found.set(id, view.blob(id) ?? 'withheld');
  return found;
}

/** The entry at a path of a tree; null when there is none. */
export function* findEntry(
  view: ObjectView,
  tree: TreeHash,
  path: string,
): Computation<DirectoryEntry | null> {
  let id: TreeHash | null = tree;
  let found: DirectoryEntry | null = null;
  const names = path.split('/');
  for (const [at, name] of names.entries()) {
    if (id === null) return null;
    const [directory = []]: readonly Directory[] = yield* readDirectories(view, [
      { id, path: names.slice(0, at).join('/') },
    ]);
    found = directory.find((entry) => entry.name === name) ?? null;
    if (found === null) return null;
    id = isDirectory(found) ? found.id : null;
  }
  return found;
}

export function isDirectory(entry: { readonly mode: string } | undefined): boolean {
  return entry?.mode === DIRECTORY_MODE;
}

export type ObjectFormat = 'sha1' | 'sha256';

/** Ids of one repository are all of one length. */
export function formatOf(id: string): ObjectFormat {
  return id.length === 64 ? 'sha256' : 'sha1';
}

export function hashBlob(content: Buffer, format: ObjectFormat): BlobId {
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest('hex');
}
