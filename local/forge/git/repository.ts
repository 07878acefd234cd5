import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { History } from './history.ts';
import { type CommitObject, type FlatEntry, ObjectStore, parseTree, type Signature } from './objects.ts';
import { GitFailure, git, runGit } from './process.ts';
import { RefStore } from './refs.ts';
import { withSubmoduleRules } from './submodule-rules.ts';
import { writtenTree } from './written-tree.ts';

const FULL_ID = /^[0-9a-f]{40}$/;

export interface ListedEntry {
  readonly path: string;
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  readonly size: number;
}

export type MergedTree =
  | { readonly kind: 'clean'; readonly tree: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

/** Refuses in `pre-receive` what the forge decided while it read the commands of the push. */
const PRE_RECEIVE = `#!/bin/sh
while read -r old new ref; do
  for denied in $FAKE_FORGE_DENY; do
    if [ "$denied" = "$ref" ]; then
      echo "forge: not allowed to push to protected branch \${ref#refs/heads/}" >&2
      exit 1
    fi
  done
  for kept in $FAKE_FORGE_NO_FORCE; do
    if [ "$kept" = "$ref" ] && ! git merge-base --is-ancestor "$old" "$new"; then
      echo "forge: branch \${ref#refs/heads/} is protected from force push" >&2
      exit 1
    fi
  done
done
`;

/** One bare repository on disk. Immutable answers are kept by id; refs are read from disk each time. */
export class Repository {
  readonly dir: string;
  readonly objects: ObjectStore;
  readonly refs: RefStore;
  readonly #history: History;
  readonly #listings = new Map<string, readonly ListedEntry[]>();
  readonly #merges = new Map<string, MergedTree>();
  readonly #bases = new Map<string, string | null>();
  #scratch = 0;

  constructor(dir: string) {
    this.dir = dir;
    this.objects = new ObjectStore(dir);
    this.refs = new RefStore(dir, this.objects);
    this.#history = new History(this.objects);
  }

  /** The result of `git init --bare`, without a child process: tests make hundreds. */
  static create(dir: string, defaultBranch: string): Repository {
    for (const inside of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'hooks']) {
      mkdirSync(join(dir, inside), { recursive: true });
    }
    writeFileSync(join(dir, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`);
    writeFileSync(
      join(dir, 'config'),
      [
        '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\tlogallrefupdates = false',
        // A fake survives a killed process, not a lost machine: waiting for the disk would be half of its time.
        '\tfsync = none',
        // Loose objects are read in process; a pack would cost a child process per object.
        '[transfer]\n\tunpackLimit = 1000000',
        '[gc]\n\tauto = 0',
        '[receive]\n\tautogc = false',
        // Fetchable, never pushable: the forge writes these itself.
        '\thideRefs = refs/pull',
        '[http]\n\treceivepack = true',
        '[uploadpack]\n\tallowAnySHA1InWant = true',
        '',
      ].join('\n'),
    );
    writeFileSync(join(dir, 'hooks', 'pre-receive'), PRE_RECEIVE, { mode: 0o755 });
    return new Repository(dir);
  }

  ref(name: string): string | null {
    return this.refs.read(name);
  }

  tip(branch: string): string | null {
    return this.ref(`refs/heads/${branch}`);
  }

  branches(): Promise<{ readonly name: string; readonly sha: string }[]> {
    return this.refs.branches();
  }

  /** Compare-and-swap; `old` null = must not exist. False when git refuses: lease lost, or a/b against a. */
  updateRef(name: string, id: string, old: string | null): Promise<boolean> {
    return this.refs.move(name, id, old);
  }

  async setRef(name: string, id: string): Promise<void> {
    if (!(await this.refs.move(name, id))) throw new GitFailure(`git update-ref ${name} ${id} refused`);
  }

  deleteRef(name: string, old: string): Promise<boolean> {
    return this.refs.delete(name, old);
  }

  commit(id: string): Promise<CommitObject | null> {
    return FULL_ID.test(id) ? this.objects.readCommit(id) : Promise.resolve(null);
  }

  async mustCommit(id: string): Promise<CommitObject> {
    const commit = await this.commit(id);
    if (commit === null) throw new Error(`no commit ${id} in ${this.dir}`);
    return commit;
  }

  /** Full or abbreviated id, full ref, tag or branch, in the order of git -> commit id. */
  async resolve(name: string): Promise<string | null> {
    if (FULL_ID.test(name)) return (await this.commit(name)) === null ? null : name;
    const direct = this.ref(name) ?? this.ref(`refs/tags/${name}`) ?? this.tip(name);
    if (direct !== null) return direct;
    if (name.startsWith('-') || name.includes('..') || name === '') return null;
    const result = await runGit(this.dir, [
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${name}^{commit}`,
    ]);
    const id = result.stdout.toString('utf8').trim().split('\n').pop() ?? '';
    return result.code === 0 && FULL_ID.test(id) ? id : null;
  }

  /** Git's `<name>^{tree}`: of a commit, a branch, or a tree itself. */
  async treeOf(name: string): Promise<string | null> {
    const object = FULL_ID.test(name) ? await this.objects.read(name) : null;
    if (object?.type === 'tree') return name;
    const commit = await this.resolve(name);
    return commit === null ? null : (await this.mustCommit(commit)).tree;
  }

  /** All entries below a commit or tree, in git's order; null when there is no such tree. */
  async listTree(treeish: string, recursive: boolean): Promise<readonly ListedEntry[] | null> {
    const object = FULL_ID.test(treeish) ? await this.objects.read(treeish) : null;
    if (object === null || (object.type !== 'commit' && object.type !== 'tree')) return null;
    const tree = object.type === 'commit' ? (await this.mustCommit(treeish)).tree : treeish;
    const key = `${tree}:${recursive}`;
    const known = this.#listings.get(key);
    if (known !== undefined) return known;
    const entries = this.#listAtHand(tree, recursive, '') ?? (await this.#askLsTree(tree, recursive));
    this.#listings.set(key, entries);
    return entries;
  }

  /** Null when an object is in a pack. */
  #listAtHand(tree: string, recursive: boolean, prefix: string): ListedEntry[] | null {
    const object = this.objects.computeAtHand(tree);
    if (object === null) return null;
    const entries: ListedEntry[] = [];
    for (const { mode, name, id } of parseTree(object.data)) {
      const type = mode === '40000' ? 'tree' : mode === '160000' ? 'commit' : 'blob';
      const blob = type === 'blob' ? this.objects.computeAtHand(id) : undefined;
      const below = type === 'tree' && recursive ? this.#listAtHand(id, true, `${prefix}${name}/`) : [];
      if (blob === null || below === null) return null;
      const size = blob?.data.length ?? 0;
      entries.push({ mode: mode.padStart(6, '0'), type, sha: id, size, path: prefix + name });
      // One by one: a folder may have more entries than a call takes arguments.
      for (const entry of below) entries.push(entry);
    }
    return entries;
  }

  async #askLsTree(tree: string, recursive: boolean): Promise<ListedEntry[]> {
    const args = ['ls-tree', '-l', '-z', '--full-tree', ...(recursive ? ['-r', '-t'] : []), tree];
    const out = await runGit(this.dir, args);
    return out.stdout
      .toString('utf8')
      .split('\0')
      .filter((line) => line !== '')
      .map(parseListed);
  }

  /** git's own three-way merge (ort) of two commits, without touching a ref. */
  async mergeTree(ours: string, theirs: string): Promise<MergedTree> {
    const key = `${ours} ${theirs}`;
    const known = this.#merges.get(key);
    if (known !== undefined) return known;
    const flags = ['--write-tree', '--name-only', '--no-messages'];
    const result = await runGit(this.dir, ['merge-tree', ...flags, ours, theirs]);
    const lines = result.stdout.toString('utf8').trim().split('\n');
    const merged: MergedTree =
      result.code === 0
        ? { kind: 'clean', tree: await this.#written(ours, lines[0] ?? '') }
        : { kind: 'conflict', files: result.code === 1 ? lines.slice(1).filter((line) => line !== '') : [] };
    // Above 1 git could not even look: a missing object may arrive later.
    if (result.code <= 1) this.#merges.set(key, merged);
    return merged;
  }

  async #written(ours: string, tree: string): Promise<string> {
    return writtenTree(this.objects, (await this.mustCommit(ours)).tree, tree);
  }

  /**
   * Replays one commit on another tip. `merge-tree --merge-base` needs git 2.40, so the same three trees are given as
   * three throw-away commits whose merge base is the first.
   */
  async replayTree(tip: string, commit: CommitObject): Promise<MergedTree> {
    const replayer: Signature = { name: 'replay', email: 'replay@localhost', at: 0 };
    const parent = commit.parents[0];
    const baseTree =
      parent === undefined ? this.objects.writeFlat(new Map()) : (await this.mustCommit(parent)).tree;
    const write = (tree: string, parents: readonly string[]): string =>
      this.objects.writeCommit({ tree, parents, author: replayer, committer: replayer, message: 'replay' });
    const root = write(baseTree, []);
    return this.mergeTree(write((await this.mustCommit(tip)).tree, [root]), write(commit.tree, [root]));
  }

  async mergeBase(a: string, b: string): Promise<string | null> {
    if (a === b) return a;
    const key = `${a} ${b}`;
    const known = this.#bases.get(key);
    if (known !== undefined) return known;
    const found = this.#history.mergeBase(a, b);
    const base = found === null ? await this.#askMergeBase(a, b) : found.id;
    this.#bases.set(key, base);
    return base;
  }

  async #askMergeBase(a: string, b: string): Promise<string | null> {
    const result = await runGit(this.dir, ['merge-base', a, b]);
    return result.code === 0 ? (result.stdout.toString('utf8').trim().split('\n')[0] ?? null) : null;
  }

  async isAncestor(ancestor: string, of: string): Promise<boolean> {
    return (await this.mergeBase(ancestor, of)) === ancestor;
  }

  /** The commits that `tip` has beyond `excluded`, newest first. */
  async revList(tip: string, excluded: readonly string[] = []): Promise<readonly string[]> {
    return (
      this.#history.chain(tip, excluded) ?? (await this.#askRevList([tip, ...excluded.map((id) => `^${id}`)]))
    );
  }

  /** As `git rebase` chooses them: without merges and without what the other side has made, none before all that is built on it. */
  async revListToReplay(tip: string, excluded: string): Promise<readonly string[]> {
    const chain = this.#history.chain(tip, [excluded]);
    const isUpToDate = chain !== null && this.#history.mergeBase(tip, excluded)?.id === excluded;
    if (isUpToDate) return chain.filter((id) => !this.#history.isMerge(id));
    const args = ['--no-merges', '--topo-order', '--cherry-pick', '--right-only', `${excluded}...${tip}`];
    return withSubmoduleRules(this, tip, (env) => this.#askRevList(args, env));
  }

  /** Newest commit below `tip` that changed a path. */
  async lastChange(tip: string, path: string): Promise<string | null> {
    return (await this.#askRevList(['-n', '1', tip, '--', path]))[0] ?? null;
  }

  async #askRevList(args: readonly string[], env = {}): Promise<string[]> {
    const result = await runGit(this.dir, ['rev-list', ...args], { env });
    if (result.code !== 0) return [];
    return result.stdout
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  async diff(from: string, to: string, args: readonly string[] = []): Promise<string> {
    const result = await runGit(this.dir, ['diff', ...args, from, to]);
    return result.stdout.toString('utf8');
  }

  /**
   * The work of `POST diffpatch`, with the flags both forges use. A temporary index in the bare repository gives the same
   * result as their shared-object clone: same object store, same base tree. Null when the patch does not apply.
   */
  async applyPatch(tip: string, patch: string): Promise<string | null> {
    const index = join(this.dir, `apply-${process.pid}-${this.#scratch++}.index`);
    const env = { GIT_INDEX_FILE: index };
    try {
      await git(this.dir, ['read-tree', tip], { env });
      const flags = [
        '--index',
        '--recount',
        '--cached',
        '--ignore-whitespace',
        '--whitespace=fix',
        '--binary',
        '-3',
      ];
      const applied = await runGit(this.dir, ['apply', ...flags], { env, input: patch });
      if (applied.code !== 0) return null;
      return await git(this.dir, ['write-tree'], { env });
    } finally {
      rmSync(index, { force: true });
      rmSync(`${index}.lock`, { force: true });
    }
  }

  /** Copies the objects of a commit from another repository on this disk. */
  async copyCommit(from: Repository, id: string): Promise<void> {
    if ((await this.commit(id)) !== null) return;
    await git(this.dir, ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', from.dir, id]);
  }

  async readFiles(treeish: string): Promise<Map<string, string>> {
    const files = new Map<string, string>();
    for (const [path, entry] of await this.objects.readFlat(treeish)) {
      const object = entry.mode === '160000' ? null : await this.objects.read(entry.id);
      files.set(path, object?.data.toString('utf8') ?? entry.id);
    }
    return files;
  }

  async readFile(treeish: string, path: string): Promise<Buffer | null> {
    const entry = (await this.objects.readFlat(treeish)).get(path);
    if (entry === undefined || entry.mode === '160000') return null;
    return (await this.objects.read(entry.id))?.data ?? null;
  }

  /** Tree of `treeish` with the changes made; content null deletes. */
  async changeTree(
    treeish: string | null,
    changes: readonly { readonly path: string; readonly content: Buffer | null; readonly mode?: string }[],
  ): Promise<string> {
    const files = treeish === null ? new Map<string, FlatEntry>() : await this.objects.readFlat(treeish);
    for (const { path, content, mode } of changes) {
      if (content === null) files.delete(path);
      else {
        const kept = files.get(path)?.mode ?? '100644';
        const id = mode === '160000' ? content.toString('utf8').trim() : this.objects.write('blob', content);
        files.set(path, { mode: mode ?? kept, id });
      }
    }
    return this.objects.writeFlat(files);
  }
}

function parseListed(line: string): ListedEntry {
  const tab = line.indexOf('\t');
  const [mode = '', type = '', sha = '', size = '-'] = line.slice(0, tab).split(/ +/);
  return { mode, type, sha, size: size === '-' ? 0 : Number(size), path: line.slice(tab + 1) };
}
