import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { ObjectStore } from './objects.ts';
import { git, runGit } from './process.ts';

const FULL_ID = /^[0-9a-f]{40}$/;
export const ZERO_ID = '0'.repeat(40);

/** Names about which git has no rule of its own; any other is left to git. */
const PLAIN_NAME = /^(?!.*\.lock(\/|$))refs\/(heads|pull)(\/[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*)+$/;

/**
 * References of one bare repository, read from disk each time. Plain ones are moved here, by git's own protocol: a lock
 * file made anew, compared under it, renamed over the reference. Whatever is not plain (packed, odd name, a name in the
 * way, a lock held) is git's to judge.
 */
export class RefStore {
  readonly #dir: string;
  readonly #objects: ObjectStore;

  constructor(gitDir: string, objects: ObjectStore) {
    this.#dir = gitDir;
    this.#objects = objects;
  }

  read(name: string): string | null {
    const loose = this.#readLoose(name);
    if (loose !== null) return loose;
    try {
      const line = readFileSync(join(this.#dir, 'packed-refs'), 'utf8')
        .split('\n')
        .find((row) => row.endsWith(` ${name}`));
      return line?.slice(0, 40) ?? null;
    } catch {
      return null;
    }
  }

  #readLoose(name: string): string | null {
    try {
      const id = readFileSync(join(this.#dir, name), 'utf8').trim();
      return FULL_ID.test(id) ? id : null;
    } catch {
      return null;
    }
  }

  /** All references, by their full names. */
  async list(): Promise<readonly { readonly name: string; readonly sha: string }[]> {
    const out = await git(this.#dir, ['for-each-ref', '--format=%(objectname) %(refname)']);
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ sha: line.slice(0, 40), name: line.slice(41) }));
  }

  /** Branches in git's order. */
  async branches(): Promise<{ readonly name: string; readonly sha: string }[]> {
    if (!this.#isPacked()) return this.#looseBranches();
    const out = await git(this.#dir, ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads']);
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ sha: line.slice(0, 40), name: line.slice(41 + 'refs/heads/'.length) }));
  }

  #looseBranches(): { readonly name: string; readonly sha: string }[] {
    const found: { readonly name: string; readonly sha: string }[] = [];
    const collect = (prefix: string): void => {
      for (const entry of readdirSync(join(this.#dir, 'refs/heads', prefix), { withFileTypes: true })) {
        const name = prefix + entry.name;
        if (entry.isDirectory()) collect(`${name}/`);
        else if (!name.endsWith('.lock')) {
          const sha = this.#readLoose(`refs/heads/${name}`);
          if (sha !== null) found.push({ name, sha });
        }
      }
    };
    collect('');
    return found.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  }

  /** Compare-and-swap; `old` null = must not exist, absent = whatever it was. False when git refuses. */
  async move(name: string, id: string, old?: string | null): Promise<boolean> {
    const plain = PLAIN_NAME.test(name) && !this.#isPacked() && this.#objects.commitAtHand(id) !== null;
    const done = plain ? this.#underLock(name, old, (lock, path) => renameSync(lock, path), id) : null;
    if (done !== null) return done;
    const expected = old === undefined ? [] : [old ?? ZERO_ID];
    return (await runGit(this.#dir, ['update-ref', name, id, ...expected])).code === 0;
  }

  async delete(name: string, old: string): Promise<boolean> {
    const plain = PLAIN_NAME.test(name) && !this.#isPacked() && old !== ZERO_ID;
    const done = plain
      ? this.#underLock(name, old, (lock, path) => {
          rmSync(path);
          rmSync(lock);
          this.#removeEmptyAbove(path);
        })
      : null;
    return done ?? (await runGit(this.#dir, ['update-ref', '-d', name, old])).code === 0;
  }

  /** Null when git has to judge. */
  #underLock(
    name: string,
    old: string | null | undefined,
    change: (lock: string, path: string) => void,
    content = '',
  ): boolean | null {
    const path = join(this.#dir, name);
    const lock = `${path}.lock`;
    let file: number;
    try {
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return null;
      mkdirSync(dirname(path), { recursive: true });
      file = openSync(lock, 'wx');
    } catch {
      return null;
    }
    try {
      if (old !== undefined && this.#readLoose(name) !== old) {
        rmSync(lock);
        return false;
      }
      writeSync(file, `${content}\n`);
      change(lock, path);
      return true;
    } finally {
      closeSync(file);
    }
  }

  /** As git does: `a` may be a branch when the last `a/b` is gone. */
  #removeEmptyAbove(path: string): void {
    const top = join(this.#dir, 'refs/heads');
    for (let dir = dirname(path); dir.startsWith(`${top}/`); dir = dirname(dir)) {
      try {
        rmdirSync(dir);
      } catch {
        return;
      }
    }
  }

  #isPacked(): boolean {
    return existsSync(join(this.#dir, 'packed-refs'));
  }
}
