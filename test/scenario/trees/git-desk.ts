import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quoteName } from '../../../engine-container/src/staging/patch.ts';

const CLOCK_START_S = Date.UTC(2026, 0, 1) / 1000;

/** A file of a change; a submodule's content is a commit id. Null deletes. */
export interface DeskFile {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  readonly content: string | Buffer;
}
export type DeskChange = Readonly<Record<string, DeskFile | null>>;
/** A parent is an id, or the place of an earlier commit in the list. `merged` is a second one. */
export interface DeskCommit {
  readonly parent: string | number | null;
  readonly merged?: string | number;
  readonly change: DeskChange;
  readonly message: string;
}

/** A name in git's quotes; half a surrogate pair from U+DC80 on stands for one byte that is not UTF-8. */
function quotePath(path: string): string {
  if (!/\p{Surrogate}/u.test(path)) return quoteName(path);
  return `"${[...path].map((char) => (/\p{Surrogate}/u.test(char) ? `\\${(char.charCodeAt(0) - 0xdc00).toString(8)}` : char)).join('')}"`;
}

/** A person's clone: commits of any shape, pushed over HTTPS. */
export class GitDesk {
  readonly #dir = mkdtempSync(join(tmpdir(), 'git-desk-'));
  readonly #url: string;
  #imports = 0;
  readonly #env: Readonly<Record<string, string>>;

  /** `url` carries user and token. */
  constructor(url: string, caFile: string | undefined) {
    this.#url = url;
    this.#env = {
      PATH: process.env.PATH ?? '',
      HOME: this.#dir,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'dev',
      GIT_AUTHOR_EMAIL: 'dev@example.test',
      GIT_COMMITTER_NAME: 'dev',
      GIT_COMMITTER_EMAIL: 'dev@example.test',
      LC_ALL: 'C',
      ...(caFile === undefined ? {} : { GIT_SSL_CAINFO: caFile }),
    };
  }

  async open(): Promise<void> {
    await this.git(['init', '-q', '--bare', '.']);
  }

  dispose(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }

  git(args: readonly string[], input?: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = spawn('git', [...args], {
        cwd: this.#dir,
        env: this.#env,
        stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      });
      const out: Buffer[] = [];
      const errors: Buffer[] = [];
      child.stdout?.on('data', (part: Buffer) => out.push(part));
      child.stderr?.on('data', (part: Buffer) => errors.push(part));
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input);
      child.on('error', reject);
      child.on('close', (code) => {
        if (code === 0) resolve(Buffer.concat(out).toString('utf8').trim());
        else reject(new Error(`git ${args[0]}: ${code} ${Buffer.concat(errors).toString('utf8')}`));
      });
    });
  }

  /** Makes commits in one process. Returns their ids. */
  async commitAll(commits: readonly DeskCommit[]): Promise<readonly string[]> {
    this.#imports += 1;
    const marks = join(this.#dir, `marks-${this.#imports}`);
    const stream: Buffer[] = [];
    const write = (text: string | Buffer) => stream.push(Buffer.from(text));
    const markOf = (commit: string | number) => (typeof commit === 'number' ? `:${commit + 1}` : commit);
    commits.forEach(({ parent, merged, change, message }, at) => {
      write(`commit refs/made/${this.#imports}-${at}\nmark :${at + 1}\n`);
      write(`committer dev <dev@example.test> ${CLOCK_START_S + at} +0000\n`);
      write(`data ${Buffer.byteLength(message)}\n${message}\n`);
      if (parent !== null) write(`from ${markOf(parent)}\n`);
      if (merged !== undefined) write(`merge ${markOf(merged)}\n`);
      for (const [path, file] of Object.entries(change)) {
        if (file === null) write(`D ${quotePath(path)}\n`);
        else if (file.mode === '160000') write(`M 160000 ${file.content} ${quotePath(path)}\n`);
        else {
          const bytes = Buffer.from(file.content);
          write(`M ${file.mode} inline ${quotePath(path)}\ndata ${bytes.length}\n`);
          write(bytes);
          write('\n');
        }
      }
      write('\n');
    });
    await this.git(['fast-import', '--quiet', `--export-marks=${marks}`], Buffer.concat(stream));
    const ids = new Map(
      readFileSync(marks, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    );
    return commits.map((_, at) => ids.get(`:${at + 1}`) ?? '');
  }

  /** Pushes commits to branches of the forge, all in one push. */
  async push(branches: Readonly<Record<string, string>>): Promise<void> {
    const specs = Object.entries(branches).map(([branch, sha]) => `${sha}:refs/heads/${branch}`);
    await this.git(['push', '--quiet', '--force', this.#url, ...specs]);
  }

  /** First-parent line of a branch as the forge has it, oldest first, each commit with its tree. */
  async readLine(branch: string): Promise<readonly { readonly sha: string; readonly tree: string }[]> {
    await this.git([
      'fetch',
      '--quiet',
      '--no-recurse-submodules',
      this.#url,
      `+refs/heads/${branch}:refs/seen/${branch}`,
    ]);
    const log = await this.git([
      'log',
      '--first-parent',
      '--reverse',
      '--format=%H %T',
      `refs/seen/${branch}`,
    ]);
    return log.split('\n').map((line) => {
      const [sha = '', tree = ''] = line.split(' ');
      return { sha, tree };
    });
  }
}
