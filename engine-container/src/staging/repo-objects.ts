import { setImmediate } from 'node:timers/promises';
import { Pace } from '#core/domain/effort.ts';
import type { TreeEntry } from '#core/domain/forge/forge.ts';
import type { BlobId, CommitSha, TreeHash } from '#core/domain/ids.ts';
import {
  FORGE_READS_AT_ONCE_MAX,
  MERGE_BYTES_MAX,
  MERGE_FILE_BYTES_MAX,
  MERGED_BYTES_MAX,
} from '#core/domain/limits.ts';
import type { TreeReader } from '#core/ports/forge.ts';
import type { BaseSides, RepoDirectories } from '../reconcile/engine-memory.ts';
import { hashDirectory, sortEntries } from './hash-directory.ts';
import {
  type Computation,
  type Directory,
  type DirectoryEntry,
  formatOf,
  isDirectory,
  type Need,
  type ObjectView,
  TURN,
} from './objects.ts';
import { directoryOf } from './renames/sides.ts';

/** Contents that one merge read and the next may ask for again: a changed file of the base, for one, is read by every member. */
const BLOBS_KEPT_BYTES_MAX = 16 * 1024 * 1024;
/** Contents of one question beyond which their merge waits for a place among those of all repositories. */
const LARGE_CONTENTS_BYTES = 4 * 1024 * 1024;
/** An answer with a blob takes some four times its bytes while it is read: larger ones are read one after the other. */
const LARGE_BLOB_BYTES = 1024 * 1024;

/**
 * Entries of directories that are looked at between two turns of all others in the engine. Commits that change thousands of files
 * to and fro are worked through without a call.
 */
const TURN_ENTRIES = 100_000;
/** Steps of one entry of a listing that is taken apart, beside those of sorting and hashing. */
const ENTRY_STEPS = 25;

/** Raised when the time of a reconcile is up while trees are read. What was read is kept: the next one goes on. */
export class ReadingUnfinished extends Error {
  override readonly name = 'ReadingUnfinished';
  constructor() {
    super('the time was up before all trees were read');
  }
}

/**
 * The objects of one repository during one reconcile, read through the forge's API as a computation asks for them.
 * Contents are read for the merges and commits that need them and live no longer than the reconcile: they are neither stored nor
 * logged (A10).
 */
export class RepoObjects implements ObjectView {
  readonly #forge: TreeReader;
  readonly #memory: RepoDirectories;
  readonly #isOutOfTime: () => boolean;
  readonly #blobs = new Map<BlobId, Buffer | 'withheld'>();
  #blobBytes = 0;
  readonly #made = new Map<BlobId, Buffer>();
  #madeBytes = 0;
  #hasRead = false;
  #entriesSeen = 0;

  constructor(forge: TreeReader, memory: RepoDirectories, isOutOfTime: () => boolean) {
    this.#forge = forge;
    this.#memory = memory;
    this.#isOutOfTime = isOutOfTime;
  }

  get baseSides(): BaseSides {
    return this.#memory.baseSides;
  }

  get patchPace(): RepoDirectories['patchPace'] {
    return this.#memory.patchPace;
  }

  get patches(): RepoDirectories['patches'] {
    return this.#memory.patches;
  }

  directory(id: TreeHash): Directory | 'unsayable' | undefined {
    const found = this.#memory.directories.get(id);
    this.#entriesSeen += found?.length ?? 0;
    return found;
  }

  blob(id: BlobId): Buffer | 'withheld' | undefined {
    return this.#made.get(id) ?? this.#blobs.get(id);
  }

  putDirectory(id: TreeHash, directory: Directory): void {
    this.#memory.put(id, directory);
  }

  putBlob(id: BlobId, content: Buffer): void {
    if (this.#made.has(id)) return;
    this.#made.set(id, content);
    this.#madeBytes += content.length;
  }

  /** Contents that a merge of this reconcile made, which the forge may not have. */
  contentOf(id: BlobId): Buffer | undefined {
    return this.#made.get(id);
  }

  /** True when so many contents were merged that no more should be. */
  get isFull(): boolean {
    return this.#madeBytes > MERGED_BYTES_MAX;
  }

  /** Notes the tree of a commit that was read elsewhere: what the queue landed, it has staged before. */
  noteTree(commit: CommitSha, tree: TreeHash): void {
    this.#memory.trees.set(commit, tree);
  }

  /** The tree of a commit, or of a tree itself. */
  async treeOf(id: string): Promise<TreeHash> {
    if (this.#memory.directories.has(id)) return id;
    const known = this.#memory.trees.get(id);
    if (known !== undefined) return known;
    this.#countTime();
    const tree = await this.#readDirectory(id, '');
    this.#memory.trees.set(id, tree);
    return tree;
  }

  /** Carries a computation out and reads what it asks for. Throws `ReadingUnfinished`. */
  async run<Result>(computation: Computation<Result>): Promise<Result> {
    let leavePlace: (() => void) | null = null;
    try {
      for (;;) {
        const step = computation.next();
        if (this.#entriesSeen > TURN_ENTRIES) await this.#giveTurn();
        if (step.done === true) return step.value;
        if (leavePlace === null && bytesOf(step.value) > LARGE_CONTENTS_BYTES)
          leavePlace = await this.#takePlace();
        await this.#readAll(step.value);
      }
    } finally {
      if (this.#blobBytes > BLOBS_KEPT_BYTES_MAX || leavePlace !== null) this.#forgetBlobs();
      leavePlace?.();
    }
  }

  /** The same without reading contents: null as soon as the result depends on one. */
  async runWithoutContents<Result>(computation: Computation<Result>): Promise<Result | null> {
    for (;;) {
      const step = computation.next();
      if (this.#entriesSeen > TURN_ENTRIES) await this.#giveTurn();
      if (step.done === true) return step.value;
      if (step.value.some((need) => need.kind === 'blob')) return null;
      await this.#readAll(step.value);
    }
  }

  /** Work that takes no call ends with the time of its reconcile as well. */
  async #giveTurn(): Promise<void> {
    this.#entriesSeen = 0;
    this.#countTime();
    await setImmediate();
  }

  async #takePlace(): Promise<() => void> {
    const leave = await this.#memory.takePlace(this.#isOutOfTime);
    if (leave === null) throw new ReadingUnfinished();
    return leave;
  }

  #forgetBlobs(): void {
    this.#blobs.clear();
    this.#blobBytes = 0;
  }

  /**
   * Reads what one question asks for: `FORGE_READS_AT_ONCE_MAX` side by side, and each large blob by itself. Blobs of earlier
   * questions are forgotten first where they are many. No question asks for more than `MERGE_BYTES_MAX` by the sizes that trees
   * list. A forge that lists wrong sizes may send more: further blobs then count as withheld, so that the engine of all
   * repositories keeps its memory.
   */
  async #readAll(needs: readonly Need[]): Promise<void> {
    if (needs === TURN) return setImmediate();
    if (this.#blobBytes > BLOBS_KEPT_BYTES_MAX) this.#forgetBlobs();
    const bytesMax = this.#blobBytes + MERGE_BYTES_MAX;
    const small = needs.filter((need) => !isLarge(need));
    const together = Array.from({ length: Math.ceil(small.length / FORGE_READS_AT_ONCE_MAX) }, (_, nth) =>
      small.slice(nth * FORGE_READS_AT_ONCE_MAX, (nth + 1) * FORGE_READS_AT_ONCE_MAX),
    );
    for (const group of [...together, ...needs.filter(isLarge).map((need) => [need])]) {
      this.#countTime();
      await Promise.all(group.map((need) => this.#read(need, bytesMax)));
    }
  }

  /** Close to its end, each reconcile still reads something: else a slow forge would never be read to the end. */
  #countTime(): void {
    if (this.#hasRead && this.#isOutOfTime()) throw new ReadingUnfinished();
    this.#hasRead = true;
  }

  async #read(need: Need, bytesMax: number): Promise<void> {
    if (need.kind === 'blob') {
      const { id, size = null } = need;
      const isTooMuch = this.#blobBytes > bytesMax;
      const content = isTooMuch ? null : await this.#forge.readBlob(id, size ?? MERGE_FILE_BYTES_MAX);
      this.#blobs.set(id, content ?? 'withheld');
      this.#blobBytes += content?.length ?? 0;
    } else if (this.directory(need.id) === undefined) await this.#readDirectory(need.id, need.path);
  }

  /** Reads a directory with all that is below where that fits one answer, else alone. Returns its id. */
  async #readDirectory(id: string, path: string): Promise<TreeHash> {
    const { large } = this.#memory;
    if (!large.has(path)) {
      const { tree, entries } = await this.#forge.readTree(id, 'all');
      if (entries !== null) {
        await this.#keep(tree, entries);
        return tree;
      }
      large.add(path);
      if (this.#memory.directories.has(tree)) return tree;
    }
    const { tree, entries } = await this.#forge.readTree(id, 'one');
    await this.#keep(tree, entries ?? []);
    return tree;
  }

  /** Takes a listing apart into directories. One that does not hash to its id is not what it says. */
  async #keep(root: TreeHash, entries: readonly TreeEntry[]): Promise<void> {
    // The time of a reconcile does not end it: what was read would have to be read again.
    for (const _ of this.#takeApart(root, entries)) await setImmediate();
  }

  *#takeApart(root: TreeHash, entries: readonly TreeEntry[]): Computation<void> {
    const pace = new Pace();
    const ids = new Map<string, string>([['', root]]);
    const contents = new Map<string, DirectoryEntry[]>();
    for (const { path, mode, id, size = null } of entries) {
      const parent = directoryOf(path);
      const entry = { name: path.slice(path.lastIndexOf('/') + 1), mode, id, size };
      const siblings = contents.get(parent);
      if (siblings === undefined) contents.set(parent, [entry]);
      else siblings.push(entry);
      if (isDirectory(entry)) ids.set(path, id);
      pace.walk(ENTRY_STEPS);
      if (pace.isTurnDue()) yield TURN;
    }
    for (const [path, id] of ids) {
      const below = contents.get(path);
      // Not listed: one level was asked for.
      if (below === undefined && path !== '') continue;
      this.#memory.put(id, yield* verify(id, below ?? []));
      pace.walk(ENTRY_STEPS * (below?.length ?? 0));
      if (pace.isTurnDue()) yield TURN;
    }
  }
}

/** As the trees list them; a size that none lists is taken for the largest. */
function bytesOf(needs: readonly Need[]): number {
  return needs.reduce(
    (sum, need) => sum + (need.kind === 'blob' ? (need.size ?? MERGE_FILE_BYTES_MAX) : 0),
    0,
  );
}

function isLarge(need: Need): boolean {
  return need.kind === 'blob' && (need.size ?? 0) > LARGE_BLOB_BYTES;
}

function* verify(id: TreeHash, entries: Directory): Computation<Directory | 'unsayable'> {
  const directory = yield* sortEntries(entries);
  return (yield* hashDirectory(directory, formatOf(id))) === id ? directory : 'unsayable';
}
