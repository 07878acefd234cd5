import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { types } from 'node:util';

/** A refusal of the command line itself: one sentence for a person. */
export class Misuse extends Error {}

/** The parts of the machine that a command uses. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly fetch: typeof globalThis.fetch;
  readonly print: (line: string) => void;
  /** Standard output is a terminal, which `watch` draws on. */
  readonly isTerminal: boolean;
  /** Standard output of git in `cwd`, without the last line break; null: git refused, or is not there. */
  readonly readGit: (args: readonly string[]) => Promise<string | null>;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface Login {
  readonly url: string;
  readonly token: string;
}

const loginFile = ({ env }: Machine): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME ?? homedir(), '.config'), 'mergeyard', 'login.json');

/** The environment wins over the file, so that a job needs no file. */
export function readLogin(machine: Machine): Login {
  const { MERGEYARD_URL: url, MERGEYARD_TOKEN: token } = machine.env;
  const stored = url !== undefined && token !== undefined ? {} : readStored(machine);
  const login = { url: url ?? stored.url, token: token ?? stored.token };
  if (login.url === undefined || login.token === undefined)
    throw new Misuse('Log in first: mergeyard login ADDRESS, with the token on standard input.');
  checkAddress(login.url);
  return { url: login.url, token: login.token };
}

/** Without TLS only this machine is spoken to. Returns the origin. */
export function checkAddress(address: string): string {
  const { origin, protocol, hostname } = URL.canParse(address) ? new URL(address) : NO_ADDRESS;
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal))
    throw new Misuse('The address must begin with https://, or the token could be read on the way.');
  return origin;
}

const NO_ADDRESS = { origin: '', protocol: '', hostname: '' };

function readStored(machine: Machine): Partial<Login> {
  try {
    return JSON.parse(readFileSync(loginFile(machine), 'utf8')) as Partial<Login>;
  } catch {
    return {};
  }
}

export function readStoredToken(machine: Machine): string | undefined {
  return readStored(machine).token;
}

/** Mode 600 from the first byte: the file is made under another name, then moved. */
export function storeLogin(machine: Machine, login: Login): string {
  const file = loginFile(machine);
  const next = `${file}.${process.pid}.next`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(next, JSON.stringify(login), { mode: 0o600, flag: 'wx' });
    renameSync(next, file);
  } catch (error) {
    const code = types.isNativeError(error) && 'code' in error ? String(error.code) : 'unknown';
    throw new Misuse(
      `The login cannot be stored in ${file} (${code}): make the folder writable, or set MERGEYARD_URL and MERGEYARD_TOKEN.`,
    );
  }
  return file;
}

/** `owner/name` of the remote `origin`, from the nearest `.git/config`; null: there is none. */
export function readRemoteSlug(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const slug = slugOf(readConfig(at));
    if (slug !== null) return slug;
    if (dirname(at) === at) return null;
  }
}

function readConfig(folder: string): string {
  for (const path of ['.git/config', '.git']) {
    try {
      const text = readFileSync(join(folder, path), 'utf8');
      // A worktree has a file that names its folder, two levels below that of the repository.
      const linked = /^gitdir: (.+)$/m.exec(text)?.[1];
      return linked === undefined ? text : readFileSync(join(folder, linked, '../../config'), 'utf8');
    } catch {}
  }
  return '';
}

export function slugOf(config: string): string | null {
  const section = /^\[remote "origin"\]([^[]*)/m.exec(config)?.[1] ?? '';
  const url = /^\s*url\s*=\s*(\S+)\s*$/m.exec(section)?.[1] ?? '';
  return /([^/:\s]+\/[^/:\s]+?)(?:\.git)?\/?$/.exec(url)?.[1] ?? null;
}
