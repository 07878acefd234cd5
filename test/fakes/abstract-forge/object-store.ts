import { createHash } from 'node:crypto';
import type { Commit, TreeEntry, TreeListing } from '#core/domain/forge/forge.ts';
import type { BlobId, CommitSha, TreeHash } from '#core/domain/ids.ts';
import { hashDirectory, sortEntries } from '../../../engine-container/src/staging/hash-directory.ts';
import {
  computeAtHand,
  DIRECTORY_MODE,
  type Directory,
  type DirectoryEntry,
  isDirectory,
  type ObjectView,
} from '../../../engine-container/src/staging/objects.ts';
import { byPath } from '../../../engine-container/src/staging/path-change.ts';

/** One tree, never changed. What most trees are never asked for is worked out at the first question. */
export class StoredTree {
  readonly byPath: ReadonlyMap<string, TreeEntry>;
  #directories: ReadonlySet<string> | null = null;

  /** `entries` in git's order. */
  constructor(
    readonly hash: TreeHash,
    readonly entries: readonly TreeEntry[],
  ) {
    this.byPath = new Map(entries.map((entry) => [entry.path, entry]));
  }

  /** Every directory that holds an entry, directly or below. */
  get directories(): ReadonlySet<string> {
    this.#directories ??= collectDirectories(this.entries);
    return this.#directories;
  }
}

export interface StoredCommit extends Commit {
  /** 1 + the largest of its parents: a commit is never an ancestor of one that has a smaller number. */
  readonly generation: number;
  /** Counts the commits of the store; two of them make a key that is cheaper than two ids. */
  readonly index: number;
}

/** Rows that one answer of the tree call holds. */
const TREE_PAGE_ROWS = 1000;

/** Enough for a long run; a run that asks more often starts over. */
const MERGE_BASE_MEMO_MAX = 400_000;
/** Two indices below this fit into one safe integer. */
const COMMITS_MAX = 2 ** 26;

/** Blobs, trees and commits under the ids git gives them. Append-only, shared by the repository and its forks. */
export class ObjectStore {
  readonly #blobs = new Map<BlobId, string>();
  readonly #blobIds = new Map<string, BlobId>();
  readonly #trees = new Map<TreeHash, StoredTree>();
  readonly #directories = new Map<TreeHash, Directory>();
  readonly #listings = new Map<string, TreeListing>();
  readonly #commits = new Map<CommitSha, StoredCommit>();
  #made = 0;
  readonly #files = new WeakMap<StoredTree, ReadonlyMap<string, string>>();
  readonly #mergeBases = new Map<number, CommitSha | null>();

  putBlob(content: string): BlobId {
    const known = this.#blobIds.get(content);
    if (known !== undefined) return known;
    const bytes = Buffer.from(content);
    const id = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    this.#blobs.set(id, content);
    this.#blobIds.set(content, id);
    return id;
  }

  blob(id: BlobId): string | undefined {
    return this.#blobs.get(id);
  }

  putTree(unsorted: Iterable<TreeEntry>): StoredTree {
    const entries = [...unsorted].sort(byPath);
    const hash = this.#putDirectory(entries, 0);
    const known = this.#trees.get(hash);
    if (known !== undefined) return known;
    const tree = new StoredTree(hash, entries);
    this.#trees.set(hash, tree);
    return tree;
  }

  /** Stores what stands below one directory, whose path has `prefix` characters with its slash. */
  #putDirectory(entries: readonly TreeEntry[], prefix: number): TreeHash {
    const rows: DirectoryEntry[] = [];
    const below = new Map<string, TreeEntry[]>();
    for (const entry of entries) {
      const slash = entry.path.indexOf('/', prefix);
      if (slash === -1) {
        const { path, mode, id } = entry;
        rows.push({ name: path.slice(prefix), mode, id, size: this.#sizeOf(id) });
        continue;
      }
      const name = entry.path.slice(prefix, slash);
      const inner = below.get(name);
      if (inner === undefined) below.set(name, [entry]);
      else inner.push(entry);
    }
    for (const [name, inner] of below) {
      const id = this.#putDirectory(inner, prefix + name.length + 1);
      rows.push({ name, mode: DIRECTORY_MODE, id, size: null });
    }
    const directory = computeAtHand(sortEntries(rows));
    const hash = computeAtHand(hashDirectory(directory, 'sha1', encodeName));
    this.#directories.set(hash, directory);
    return hash;
  }

  /**
   * This tree with one directory more, in which each of so many names is the same directory, in which each of so many names is the
   * same file: two objects for `count` squared files, which are in no list of its entries.
   */
  putRepeated({ hash, entries }: StoredTree, name: string, count: number): StoredTree {
    const names = Array.from({ length: count }, (_, at) => `n${at}`);
    const put = (rows: readonly DirectoryEntry[]): TreeHash => {
      const directory = computeAtHand(sortEntries([...rows]));
      const id = computeAtHand(hashDirectory(directory, 'sha1', encodeName));
      this.#directories.set(id, directory);
      return id;
    };
    const file = this.putBlob('x\n');
    const files = put(names.map((each) => ({ name: each, mode: '100644', id: file, size: 2 })));
    const folders = put(names.map((each) => ({ name: each, mode: DIRECTORY_MODE, id: files, size: null })));
    const root = this.#directories.get(hash) ?? [];
    const tree = new StoredTree(
      put([...root, { name, mode: DIRECTORY_MODE, id: folders, size: null }]),
      entries,
    );
    this.#trees.set(tree.hash, tree);
    return tree;
  }

  #sizeOf(id: BlobId): number | null {
    const content = this.#blobs.get(id);
    return content === undefined ? null : Buffer.byteLength(content);
  }

  tree(hash: TreeHash): StoredTree | undefined {
    return this.#trees.get(hash);
  }

  /** The tree call's view of a commit, a tree or a directory. A name that is not UTF-8 is shown with U+FFFD. */
  listTree(id: string, depth: 'all' | 'one'): TreeListing | undefined {
    const tree = this.#commits.get(id)?.tree ?? id;
    const directory = this.#directories.get(tree);
    if (directory === undefined) return undefined;
    const key = `${tree} ${depth}`;
    const known = this.#listings.get(key);
    if (known !== undefined) return known;
    const entries = this.#listRows(directory, '', depth);
    const listing = { tree, entries: depth === 'all' && entries.length > TREE_PAGE_ROWS ? null : entries };
    this.#listings.set(key, listing);
    return listing;
  }

  #listRows(directory: Directory, prefix: string, depth: 'all' | 'one'): TreeEntry[] {
    return directory.flatMap((entry) => {
      const path = prefix + entry.name.replace(/\p{Surrogate}/gu, '\uFFFD');
      const row = { path, mode: entry.mode, id: entry.id, size: entry.size };
      const inner = depth === 'all' && isDirectory(entry) ? this.#directories.get(entry.id) : undefined;
      return [row, ...this.#listRows(inner ?? [], `${path}/`, depth)];
    });
  }

  /** Everything at hand, for the planner of merges. */
  get view(): ObjectView {
    return {
      directory: (id) => this.#directories.get(id),
      blob: (id) => {
        const content = this.#blobs.get(id);
        return content === undefined ? undefined : Buffer.from(content);
      },
      putDirectory: () => undefined,
      putBlob: (_id, content) => {
        this.putBlob(content.toString());
      },
    };
  }

  putCommit(options: {
    readonly tree: StoredTree;
    readonly parents: readonly CommitSha[];
    readonly message: string;
    readonly author: string;
    readonly atMs: number;
  }): StoredCommit {
    const person = `${options.author} <${options.author}@forge.test> ${Math.floor(options.atMs / 1000)} +0000`;
    const body = Buffer.from(
      [
        `tree ${options.tree.hash}`,
        ...options.parents.map((parent) => `parent ${parent}`),
        `author ${person}`,
        `committer ${person}`,
        '',
        options.message,
      ].join('\n'),
    );
    const sha = createHash('sha1').update(`commit ${body.length}\0`).update(body).digest('hex');
    const known = this.#commits.get(sha);
    if (known !== undefined) return known;
    const commit: StoredCommit = {
      sha,
      tree: options.tree.hash,
      parents: options.parents,
      message: options.message,
      index: this.#made,
      generation: 1 + Math.max(0, ...options.parents.map((parent) => this.mustCommit(parent).generation)),
    };
    this.#made += 1;
    this.#commits.set(sha, commit);
    return commit;
  }

  commit(sha: CommitSha): StoredCommit | undefined {
    return this.#commits.get(sha);
  }

  mustCommit(sha: CommitSha): StoredCommit {
    const commit = this.#commits.get(sha);
    if (commit === undefined) throw new Error(`no commit ${sha}`);
    return commit;
  }

  treeOf(sha: CommitSha): StoredTree {
    const tree = this.#trees.get(this.mustCommit(sha).tree);
    if (tree === undefined) throw new Error(`no tree of commit ${sha}`);
    return tree;
  }

  filesOf(tree: StoredTree): ReadonlyMap<string, string> {
    const cached = this.#files.get(tree);
    if (cached !== undefined) return cached;
    const files = new Map(tree.entries.map((entry) => [entry.path, this.#blobs.get(entry.id) ?? entry.id]));
    this.#files.set(tree, files);
    return files;
  }

  /** As in a copy of before them: without these commits, and without all that stands on them. */
  forget(lost: ReadonlySet<CommitSha>): ReadonlySet<CommitSha> {
    const gone = new Set(lost);
    // In the order in which they were made, parents first.
    for (const { sha, parents } of this.#commits.values())
      if (parents.some((parent) => gone.has(parent))) gone.add(sha);
    for (const sha of gone) this.#commits.delete(sha);
    return gone;
  }

  isAncestor(ancestor: CommitSha, descendant: CommitSha): boolean {
    return this.mergeBase(ancestor, descendant) === ancestor;
  }

  /** The best common ancestor; where several are equally good, the one furthest from the root. */
  mergeBase(left: CommitSha, right: CommitSha): CommitSha | null {
    let [a, b] = [this.mustCommit(left), this.mustCommit(right)];
    let firstKey: number | null = null;
    let best: CommitSha | null = null;
    for (;;) {
      if (a.sha === b.sha) {
        best = a.sha;
        break;
      }
      if (a.generation < b.generation) [a, b] = [b, a];
      const key = a.index * COMMITS_MAX + b.index;
      const known = this.#mergeBases.get(key);
      if (known !== undefined) {
        best = known;
        break;
      }
      // Only the first step is remembered: a base that moves by one commit then finds its old answer next door.
      firstKey ??= key;
      // `a` cannot be an ancestor of `b`, so whatever the two share is shared by a parent of `a`.
      const [parent, ...others] = a.parents;
      if (parent === undefined) break;
      if (others.length > 0) {
        best = this.#bestOf(a.parents, b.sha);
        break;
      }
      a = this.mustCommit(parent);
    }
    if (this.#mergeBases.size >= MERGE_BASE_MEMO_MAX) this.#mergeBases.clear();
    if (firstKey !== null) this.#mergeBases.set(firstKey, best);
    return best;
  }

  /** All best common ancestors: those that no other one has. Slow, for the judge. */
  mergeBases(left: CommitSha, right: CommitSha): readonly CommitSha[] {
    const ofRight = this.#ancestorsOf(right);
    const common = [...this.#ancestorsOf(left)].filter((sha) => ofRight.has(sha));
    return common.filter(
      (sha) => !common.some((other) => other !== sha && this.#ancestorsOf(other).has(sha)),
    );
  }

  #ancestorsOf(sha: CommitSha): ReadonlySet<CommitSha> {
    const found = new Set<CommitSha>();
    const queue = [sha];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (found.has(next)) continue;
      found.add(next);
      queue.push(...this.mustCommit(next).parents);
    }
    return found;
  }

  #bestOf(parents: readonly CommitSha[], other: CommitSha): CommitSha | null {
    let best: StoredCommit | null = null;
    for (const parent of parents) {
      const found = this.mergeBase(parent, other);
      const commit = found === null ? null : this.mustCommit(found);
      if (commit !== null && (best === null || commit.generation > best.generation)) best = commit;
    }
    return best?.sha ?? null;
  }

  /** Commits of `head` that `base` does not have, parents before children. */
  listMissingCommits(base: CommitSha, head: CommitSha): readonly StoredCommit[] {
    const missing: StoredCommit[] = [];
    const seen = new Set<CommitSha>();
    const queue = [head];
    for (let sha = queue.pop(); sha !== undefined; sha = queue.pop()) {
      if (seen.has(sha) || this.isAncestor(sha, base)) continue;
      seen.add(sha);
      const commit = this.mustCommit(sha);
      missing.push(commit);
      queue.push(...commit.parents);
    }
    return missing.sort((a, b) => a.generation - b.generation);
  }
}

function collectDirectories(entries: readonly TreeEntry[]): ReadonlySet<string> {
  const directories = new Set<string>();
  for (const { path } of entries) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const directory = path.slice(0, slash);
      if (directories.has(directory)) break;
      directories.add(directory);
    }
  }
  return directories;
}

/** Half a surrogate pair from U+DC80 on stands for one byte that is not UTF-8. */
function encodeName(name: string): Buffer {
  if (!/\p{Surrogate}/u.test(name)) return Buffer.from(name);
  return Buffer.concat(
    [...name].map((char) => {
      const code = char.codePointAt(0) ?? 0;
      return code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(char);
    }),
  );
}
