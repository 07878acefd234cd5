import type { TreeEntry } from '#core/domain/forge.ts';
import type { ObjectStore, StoredTree } from './object-store.ts';

/** Path -> new entry, undefined for a deletion. */
type Edits = ReadonlyMap<string, TreeEntry | undefined>;

interface Difference {
  readonly path: string;
  readonly from: TreeEntry | undefined;
  readonly to: TreeEntry | undefined;
}

const MEMO_MAX = 50_000;

/** Null = conflict. */
export type MergeContents = (base: string, ours: string, theirs: string) => string | null;

/**
 * The forge's own merge of trees, renames off. Written apart from the planner of the engine on purpose: a mistake
 * there must show as a difference here.
 */
export class TreeMerger {
  readonly #objects: ObjectStore;
  readonly #differences = new WeakMap<StoredTree, WeakMap<StoredTree, readonly Difference[]>>();
  readonly #merges = new Map<string, StoredTree | null>();

  /** Asked for at each merge of contents; its results are remembered, and it must give the same for the same contents. */
  readonly #contents: () => MergeContents;
  #contentsBefore: MergeContents | null = null;

  constructor(objects: ObjectStore, contents: () => MergeContents) {
    this.#objects = objects;
    this.#contents = contents;
  }

  /** Null = conflict. */
  merge(base: StoredTree, ours: StoredTree, theirs: StoredTree): StoredTree | null {
    const key = `${base.hash} ${ours.hash} ${theirs.hash}`;
    this.#forgetOthers();
    const known = this.#merges.get(key);
    if (known !== undefined) return known;
    const edits = this.#computeEdits(base, ours, theirs);
    const merged = edits === null ? null : this.applyEdits(ours, edits);
    if (this.#merges.size >= MEMO_MAX) this.#merges.clear();
    this.#merges.set(key, merged);
    return merged;
  }

  /** Whether `merge` would succeed, at the cost of what `theirs` changed only. */
  isClean(base: StoredTree, ours: StoredTree, theirs: StoredTree): boolean {
    const differences = this.#listDifferences(base, theirs);
    if (differences.every((difference) => isPlainlyClean(ours, difference))) return true;
    return this.#computeEdits(base, ours, theirs) !== null;
  }

  /** What a head changes since its merge base: the same text means the same diff. */
  describeDiff(base: StoredTree, head: StoredTree): string {
    return this.#listDifferences(base, head)
      .map(({ path, to }) => `${path} ${to?.mode} ${to?.id}`)
      .join('\n');
  }

  applyEdits(tree: StoredTree, edits: Edits): StoredTree {
    if (edits.size === 0) return tree;
    const entries = new Map(tree.byPath);
    for (const [path, entry] of edits) {
      if (entry === undefined) entries.delete(path);
      else entries.set(path, entry);
    }
    return this.#objects.putTree(entries.values());
  }

  /** Null = conflict. */
  mergeContents(base: string, ours: string, theirs: string): string | null {
    const texts = [base, ours, theirs].map((id) => this.#objects.blob(id));
    const [b, o, t] = texts;
    if (b === undefined || o === undefined || t === undefined) return null;
    const merged = this.#contents()(b, o, t);
    return merged === null ? null : this.#objects.putBlob(merged);
  }

  /** Another way to merge contents gives other results. */
  #forgetOthers(): void {
    const contents = this.#contents();
    if (contents === this.#contentsBefore) return;
    this.#contentsBefore = contents;
    this.#merges.clear();
  }

  #computeEdits(base: StoredTree, ours: StoredTree, theirs: StoredTree): Edits | null {
    const edits = new Map<string, TreeEntry | undefined>();
    for (const { path, from, to } of this.#listDifferences(base, theirs)) {
      const current = ours.byPath.get(path);
      if (same(current, to)) continue;
      if (same(current, from)) edits.set(path, to);
      else {
        const entry = this.#mergeEntry(from, current, to);
        if (entry === null) return null;
        edits.set(path, entry);
      }
    }
    return clashes(ours, edits) ? null : edits;
  }

  #mergeEntry(
    base: TreeEntry | undefined,
    ours: TreeEntry | undefined,
    theirs: TreeEntry | undefined,
  ): TreeEntry | null {
    if (base === undefined || ours === undefined || theirs === undefined) return null;
    for (const entry of [base, ours, theirs]) if (!entry.mode.startsWith('100')) return null;
    const mode = theirs.mode === base.mode ? ours.mode : theirs.mode;
    if (ours.id === theirs.id || theirs.id === base.id) return { ...ours, mode };
    if (ours.id === base.id) return { ...theirs, mode };
    const id = this.mergeContents(base.id, ours.id, theirs.id);
    return id === null ? null : { path: ours.path, mode, id };
  }

  #listDifferences(from: StoredTree, to: StoredTree): readonly Difference[] {
    let fromHere = this.#differences.get(from);
    if (fromHere === undefined) {
      fromHere = new WeakMap();
      this.#differences.set(from, fromHere);
    }
    const known = fromHere.get(to);
    if (known !== undefined) return known;
    const differences: Difference[] = [];
    if (from !== to) {
      for (const entry of to.entries) {
        const old = from.byPath.get(entry.path);
        if (!same(old, entry)) differences.push({ path: entry.path, from: old, to: entry });
      }
      for (const entry of from.entries) {
        if (!to.byPath.has(entry.path)) differences.push({ path: entry.path, from: entry, to: undefined });
      }
    }
    fromHere.set(to, differences);
    return differences;
  }
}

function same(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.id === b.id && a.mode === b.mode);
}

/** Ours left the path alone, and no directory stands where it goes: the common case, without building anything. */
function isPlainlyClean(ours: StoredTree, { path, from, to }: Difference): boolean {
  if (!same(ours.byPath.get(path), from)) return false;
  if (from !== undefined || to === undefined) return true;
  if (ours.directories.has(path)) return false;
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    if (ours.byPath.has(path.slice(0, slash))) return false;
  }
  return true;
}

/** A path that would be a file and a directory at once. */
export function clashes(tree: StoredTree, edits: Edits): boolean {
  const isFile = (path: string): boolean =>
    edits.has(path) ? edits.get(path) !== undefined : tree.byPath.has(path);
  for (const [path, entry] of edits) {
    if (entry === undefined) continue;
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      if (isFile(path.slice(0, slash))) return true;
    }
    if (!tree.directories.has(path)) continue;
    const prefix = `${path}/`;
    for (const other of tree.byPath.keys()) if (other.startsWith(prefix) && isFile(other)) return true;
  }
  return false;
}
