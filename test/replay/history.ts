import { execFileSync } from 'node:child_process';

/** Git of one bare repository, and of the clone whose history is replayed into it. */
export class ReplayGit {
  readonly #source: string;
  readonly #target: string;

  constructor(source: string, target: string) {
    this.#source = source;
    this.#target = target;
  }

  /** The commits after `from` on the first-parent line of `until`, oldest first. */
  listCommits(from: string, until: string, count: number): readonly string[] {
    const text = this.#read(this.#source, ['rev-list', '--first-parent', '--reverse', `${from}..${until}`]);
    return text.split('\n').filter(Boolean).slice(0, count);
  }

  resolve(ref: string): string {
    return this.#read(this.#source, ['rev-parse', '--verify', `${ref}^{commit}`]);
  }

  subjectOf(commit: string): string {
    return this.#read(this.#source, ['log', '-1', '--format=%s', commit]);
  }

  /** Copies commits with their trees and files, without their past. */
  copy(commits: readonly string[]): void {
    const wanted = `${commits.join('\n')}\n`;
    const objects = this.#run(
      this.#source,
      ['rev-list', '--objects', '--no-walk=unsorted', '--stdin'],
      wanted,
    );
    const names = objects.toString().replaceAll(/^(\S+).*$/gm, '$1');
    const pack = this.#run(this.#source, ['pack-objects', '--stdout', '--quiet'], names);
    this.#run(this.#target, ['unpack-objects', '-q'], pack);
  }

  treeOf(commit: string): string {
    return this.#read(this.#target, ['rev-parse', `${commit}^{tree}`]);
  }

  /** A commit on `parent` with the tree of `commit` and one file besides. */
  commitWithFile(commit: string, parent: string, path: string, content: string): string {
    const blob = this.#run(this.#target, ['hash-object', '-w', '--stdin'], content).toString().trim();
    const env = { GIT_INDEX_FILE: `${this.#target}/replay-index` };
    this.#run(this.#target, ['read-tree', commit], '', env);
    this.#run(this.#target, ['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`], '', env);
    const tree = this.#run(this.#target, ['write-tree'], '', env).toString().trim();
    return this.#commit(tree, parent, 'Begin');
  }

  /** The change of one commit on another parent; null where git finds a conflict, or nothing is left of it. */
  pick(commit: string, changeFrom: string, parent: string): string | null {
    // Commits made for it say what the common ancestor is: an option for that is younger than some gits.
    const base = this.#commit(this.treeOf(changeFrom), null, 'base');
    const ours = this.#commit(this.treeOf(parent), base, 'ours');
    const theirs = this.#commit(this.treeOf(commit), base, 'theirs');
    const tree = this.merge(ours, theirs);
    if (tree === null || tree === this.treeOf(parent)) return null;
    return this.#commit(tree, parent, 'A change of its own');
  }

  /** Tree of git's own merge; null = a conflict. */
  merge(base: string, head: string): string | null {
    try {
      return this.#read(this.#target, ['merge-tree', '--write-tree', base, head]);
    } catch (error) {
      // 1 is a conflict; anything else is a fault of the call.
      if ((error as { readonly status?: number }).status === 1) return null;
      throw error;
    }
  }

  #commit(tree: string, parent: string | null, message: string): string {
    return this.#run(this.#target, [
      'commit-tree',
      tree,
      ...(parent === null ? [] : ['-p', parent]),
      '-m',
      message,
    ])
      .toString()
      .trim();
  }

  #read(dir: string, args: readonly string[]): string {
    return this.#run(dir, args).toString().trim();
  }

  #run(
    dir: string,
    args: readonly string[],
    input: string | Buffer = '',
    env: Readonly<Record<string, string>> = {},
  ): Buffer {
    const who = { GIT_AUTHOR_NAME: 'dev', GIT_AUTHOR_EMAIL: 'dev@example.org' };
    const committer = { GIT_COMMITTER_NAME: 'dev', GIT_COMMITTER_EMAIL: 'dev@example.org' };
    return execFileSync('git', ['-C', dir, ...args], {
      input,
      maxBuffer: 1024 ** 3,
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, ...who, ...committer, ...env },
    });
  }
}
