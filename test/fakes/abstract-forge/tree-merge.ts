import type { TreeEntry } from '#core/domain/forge/forge.ts';
import { computeAtHand } from '../../../engine-container/src/staging/objects.ts';
import { mergeText } from '../../../engine-container/src/staging/text/merge-text.ts';
import { planMerge } from '../../../engine-container/src/staging/three-way.ts';
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

/** Git's merge of a text that both sides changed. */
export function mergeAsGit(base: string, ours: string, theirs: string): string | null {
  const merged = computeAtHand(mergeText(Buffer.from(base), Buffer.from(ours), Buffer.from(theirs)));
  return merged.kind === 'merged' ? merged.content.toString() : null;
}

/**
 * The forge's own merge of trees. It is the engine's planner, which `npm run merges` holds to real git; a test may give
 * it another way to merge contents, as a forge of another version would have.
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
    const isPlain = differences.every(
      (difference) => isPlainlyClean(ours, difference) && keepsDirectories(base, ours, theirs, difference),
    );
    return isPlain || this.merge(base, ours, theirs) !== null;
  }

  /** The changes of a head since its merge base: the same text means the same diff. */
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

  /** Another way to merge contents gives other results. */
  #forgetOthers(): void {
    const contents = this.#contents();
    if (contents === this.#contentsBefore) return;
    this.#contentsBefore = contents;
    this.#merges.clear();
  }

  #computeEdits(base: StoredTree, ours: StoredTree, theirs: StoredTree): Edits | null {
    const trees = { base: base.hash, ours: ours.hash, theirs: theirs.hash };
    const plan = computeAtHand(planMerge(this.#objects.view, trees));
    if (plan.kind === 'refused') return null;
    const contents = this.#contents();
    const edits = new Map<string, TreeEntry | undefined>();
    for (const { path, to } of plan.changes) {
      const sides = [base, ours, theirs].map((tree) => tree.byPath.get(path)?.id);
      // Three versions of one file: contents were merged.
      const isMerged = sides.every((id) => id !== undefined) && new Set(sides).size === 3;
      const id = contents === mergeAsGit || !isMerged ? to?.id : this.#mergeOtherwise(contents, sides);
      if (id === null) return null;
      edits.set(path, to === null || id === undefined ? undefined : { path, mode: to.mode, id });
    }
    return edits;
  }

  #mergeOtherwise(contents: MergeContents, sides: readonly (string | undefined)[]): string | null {
    const [base = '', ours = '', theirs = ''] = sides.map((id) => this.#objects.blob(id ?? ''));
    const merged = contents(base, ours, theirs);
    return merged === null ? null : this.#objects.putBlob(merged);
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

/** Nothing new in a directory that the other side has removed: it may have been moved, and git asks. */
function keepsDirectories(
  base: StoredTree,
  ours: StoredTree,
  theirs: StoredTree,
  { path, from, to }: Difference,
): boolean {
  const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  if (!base.directories.has(directory)) return true;
  if (from === undefined) return ours.directories.has(directory);
  return to !== undefined || theirs.directories.has(directory);
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
