import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { GitFailure, runGit } from './process.ts';

export interface GitObject {
  readonly type: string;
  readonly data: Buffer;
}

export interface CommitObject {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
}

export interface Signature {
  readonly name: string;
  readonly email: string;
  /** Epoch ms, whole seconds. */
  readonly at: number;
}

export interface FlatEntry {
  readonly mode: string;
  readonly id: string;
}

export interface TreeEntry extends FlatEntry {
  readonly name: string;
}

/** A tree with nothing in it. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Most objects a run touches are read more than once; older ones fall out first. */
const CACHE_MAX = 20_000;

/**
 * Objects of one bare repository. Writes loose objects itself and reads them itself, which is git's own format without
 * a child process; packed ones come from `git cat-file`.
 */
export class ObjectStore {
  readonly #dir: string;
  #alternates: readonly string[] | null = null;
  readonly #cache = new Map<string, GitObject>();

  constructor(gitDir: string) {
    this.#dir = gitDir;
  }

  #path(id: string, objects = join(this.#dir, 'objects')): string {
    return join(objects, id.slice(0, 2), id.slice(2));
  }

  async read(id: string): Promise<GitObject | null> {
    const found = this.computeAtHand(id) ?? (await this.#readPacked(id));
    if (found !== null) this.#remember(id, found);
    return found;
  }

  /** Without git: null also when the object is in a pack. */
  computeAtHand(id: string): GitObject | null {
    const cached = this.#cache.get(id);
    if (cached !== undefined) return cached;
    const found = this.#readLoose(id);
    if (found !== null) this.#remember(id, found);
    return found;
  }

  commitAtHand(id: string): CommitObject | null {
    const object = this.computeAtHand(id);
    return object?.type === 'commit' ? parseCommit(id, object.data) : null;
  }

  #remember(id: string, object: GitObject): void {
    if (this.#cache.size >= CACHE_MAX) {
      const oldest = this.#cache.keys().next().value;
      if (oldest !== undefined) this.#cache.delete(oldest);
    }
    this.#cache.set(id, object);
  }

  #readLoose(id: string): GitObject | null {
    for (const objects of [undefined, ...this.#alternateDirs()]) {
      let raw: Buffer;
      try {
        raw = inflateSync(readFileSync(this.#path(id, objects)));
      } catch {
        continue;
      }
      const end = raw.indexOf(0);
      const type = raw.subarray(0, end).toString('latin1').split(' ')[0] ?? '';
      return { type, data: raw.subarray(end + 1) };
    }
    return null;
  }

  /** Where a fork finds what it has from its parent. */
  #alternateDirs(): readonly string[] {
    if (this.#alternates !== null) return this.#alternates;
    try {
      const listed = readFileSync(join(this.#dir, 'objects', 'info', 'alternates'), 'utf8');
      this.#alternates = listed.split('\n').filter((line) => line.startsWith('/'));
    } catch {
      this.#alternates = [];
    }
    return this.#alternates;
  }

  async #readPacked(id: string): Promise<GitObject | null> {
    const { stdout } = await runGit(this.#dir, ['cat-file', '--batch'], { input: `${id}\n` });
    const end = stdout.indexOf(10);
    const [, type, size] = stdout.subarray(0, end).toString('latin1').split(' ');
    if (type === undefined || size === undefined) return null;
    return { type, data: stdout.subarray(end + 1, end + 1 + Number(size)) };
  }

  write(type: 'blob' | 'tree' | 'commit', data: Buffer): string {
    const raw = Buffer.concat([Buffer.from(`${type} ${data.length}\0`), data]);
    const id = createHash('sha1').update(raw).digest('hex');
    const path = this.#path(id);
    if (!existsSync(path)) {
      mkdirSync(join(path, '..'), { recursive: true });
      const draft = `${path}.tmp${process.pid}`;
      writeFileSync(draft, deflateSync(raw, { level: 1 }), { mode: 0o444 });
      renameSync(draft, path);
    }
    this.#remember(id, { type, data });
    return id;
  }

  async readCommit(id: string): Promise<CommitObject | null> {
    const object = await this.read(id);
    return object?.type === 'commit' ? parseCommit(id, object.data) : null;
  }

  /** Every file below a tree or commit: path -> mode and id, directories left out. */
  async readFlat(treeish: string): Promise<Map<string, FlatEntry>> {
    const commit = await this.readCommit(treeish);
    const files = new Map<string, FlatEntry>();
    await this.#collect(commit?.tree ?? treeish, '', files);
    return files;
  }

  async #collect(tree: string, prefix: string, into: Map<string, FlatEntry>): Promise<void> {
    const object = await this.read(tree);
    if (object?.type !== 'tree') throw new GitFailure(`no tree ${tree}`);
    for (const entry of parseTree(object.data)) {
      if (entry.mode === '40000') await this.#collect(entry.id, `${prefix}${entry.name}/`, into);
      else into.set(prefix + entry.name, { mode: entry.mode, id: entry.id });
    }
  }

  /** Writes the tree of a flat listing and returns its id. */
  writeFlat(files: ReadonlyMap<string, FlatEntry>): string {
    const directories = new Map<string, Map<string, FlatEntry>>();
    const entries: TreeEntry[] = [];
    for (const [path, file] of files) {
      const slash = path.indexOf('/');
      if (slash < 0) {
        entries.push({ name: path, ...file });
        continue;
      }
      const name = path.slice(0, slash);
      const inner = directories.get(name) ?? new Map<string, FlatEntry>();
      inner.set(path.slice(slash + 1), file);
      directories.set(name, inner);
    }
    for (const [name, inner] of directories) entries.push({ name, mode: '40000', id: this.writeFlat(inner) });
    return this.writeTree(entries);
  }

  writeTree(entries: readonly TreeEntry[]): string {
    return this.write('tree', encodeTree(entries));
  }

  writeCommit(commit: Omit<CommitObject, 'id'>): string {
    const lines = [
      `tree ${commit.tree}`,
      ...commit.parents.map((parent) => `parent ${parent}`),
      `author ${signatureLine(commit.author)}`,
      `committer ${signatureLine(commit.committer)}`,
      '',
      commit.message.endsWith('\n') ? commit.message : `${commit.message}\n`,
    ];
    return this.write('commit', Buffer.from(lines.join('\n')));
  }
}

/** git sorts a directory as if its name ended in a slash. */
function encodeTree(entries: readonly TreeEntry[]): Buffer {
  const keyed = entries.map((entry) => ({
    entry,
    key: Buffer.from(entry.mode === '40000' ? `${entry.name}/` : entry.name),
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(
    keyed.map(({ entry }) =>
      Buffer.concat([Buffer.from(`${entry.mode} ${entry.name}\0`), Buffer.from(entry.id, 'hex')]),
    ),
  );
}

export function parseTree(data: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at);
    const end = data.indexOf(0, space);
    entries.push({
      mode: data.subarray(at, space).toString('latin1'),
      name: data.subarray(space + 1, end).toString('utf8'),
      id: data.subarray(end + 1, end + 21).toString('hex'),
    });
    at = end + 21;
  }
  return entries;
}

function parseCommit(id: string, data: Buffer): CommitObject {
  const text = data.toString('utf8');
  const split = text.indexOf('\n\n');
  const headers = text.slice(0, split).split('\n');
  const value = (name: string): string =>
    headers.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  return {
    id,
    tree: value('tree'),
    parents: headers.filter((line) => line.startsWith('parent ')).map((line) => line.slice(7)),
    author: parseSignature(value('author')),
    committer: parseSignature(value('committer')),
    message: text.slice(split + 2),
  };
}

function signatureLine(who: Signature): string {
  const clean = (text: string): string => text.replace(/[<>\n]/g, '').trim();
  return `${clean(who.name) || 'unknown'} <${clean(who.email)}> ${Math.floor(who.at / 1000)} +0000`;
}

function parseSignature(line: string): Signature {
  const match = /^(.*?) ?<([^>]*)> (\d+)/.exec(line);
  return { name: match?.[1] ?? '', email: match?.[2] ?? '', at: Number(match?.[3] ?? 0) * 1000 };
}
