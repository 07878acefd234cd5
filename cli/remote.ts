import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Machine } from './context.ts';

/** A repository as an address names it. */
export interface Named {
  /** `owner/name`. */
  readonly slug: string;
  /** Null: nothing is said of the forge. */
  readonly forge: NamedForge | null;
}

export interface NamedForge {
  /** In small letters, one of IPv6 in brackets. */
  readonly host: string;
  /** Empty: the usual one, or not told. */
  readonly port: string;
  /** Of a forge that is not at the root of its host: between slashes, without those at the ends. */
  readonly path: string;
  /** `ssh`, as all that is no address of a page: it may have a host and a port of its own. */
  readonly way: 'https' | 'http' | 'ssh';
}

/** Of the remote `origin`. Null: there is none, or it names no repository. */
export async function readRemote({ readGit, cwd }: Pick<Machine, 'readGit' | 'cwd'>): Promise<Named | null> {
  // Git knows its own rules: `insteadOf`, included files, worktrees, quotes.
  const url = await readGit(['remote', 'get-url', 'origin']);
  return (url === null ? null : readAddress(url)) ?? readConfigured(cwd);
}

/** Of an address of git: a URL, `host:owner/name` of SSH, or a path. Null: it names no owner and name. */
export function readAddress(text: string): Named | null {
  const address = text.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return readUrl(address);
  // A colon before the first slash, and no letter of a drive: as git tells SSH from a path.
  const [, , ofSsh, path] = /^(?!.:[\\/])([^/@]*@)?(\[[^\]/]+\]|[^/:[\]]+):(.+)$/.exec(address) ?? [];
  if (ofSsh === undefined || path === undefined) return name(address.split('/'), null);
  return name(path.split('/'), { host: readHost(hostOfSsh(ofSsh)), port: '', path: '', way: 'ssh' });
}

function readUrl(address: string): Named | null {
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port, pathname } = new URL(address);
  const way = WAYS[protocol] ?? 'ssh';
  const parts = decode(pathname).split('/');
  if (hostname === '') return name(parts, null);
  return name(parts, { host: readHost(hostname), port: way === 'ssh' ? '' : port, path: '', way });
}

const WAYS: Readonly<Record<string, NamedForge['way']>> = { 'https:': 'https', 'http:': 'http' };
const NO_NAMES = ['', '.', '..', '.git'];

/** The last two parts are owner and name; what a web address has before them belongs to the forge. */
function name(parts: readonly string[], forge: NamedForge | null): Named | null {
  const filled = parts.filter((part) => !NO_NAMES.includes(part));
  const [owner, last] = filled.slice(-2);
  if (owner === undefined || last === undefined) return null;
  return {
    slug: `${owner}/${last.replace(/\.git$/, '')}`,
    forge: forge === null || forge.way === 'ssh' ? forge : { ...forge, path: filled.slice(0, -2).join('/') },
  };
}

/** Git takes `[user@host:port]` and `[user@::1]` too. */
function hostOfSsh(text: string): string {
  const inner = /^\[(?:[^@]*@)?(.*)\]$/.exec(text)?.[1];
  if (inner === undefined) return text;
  const [host = '', ...rest] = inner.split(':');
  return rest.length > 1 ? `[${inner}]` : host;
}

/** One host has several spellings in letters, and in IPv6. */
function readHost(host: string): string {
  const address = `http://${host}/`;
  return URL.canParse(address) ? new URL(address).hostname : host.toLowerCase();
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** From the nearest `.git/config`, where there is no git, or git does not trust the owner of the folder. */
function readConfigured(folder: string): Named | null {
  for (let at = folder; ; at = dirname(at)) {
    const named = readAddress(originOf(readConfig(at)));
    if (named !== null || dirname(at) === at) return named;
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

/** The address of the remote `origin` in a file of git; empty: none. */
function originOf(config: string): string {
  let isOrigin = false;
  for (const line of config.split(/\r?\n/)) {
    const [, section, rest = ''] = /^\s*\[([^"\]]+(?:"(?:[^"\\]|\\.)*")?)\s*\](.*)$/.exec(line) ?? [];
    if (section !== undefined) isOrigin = /^remote\s+"(.*)"$/i.exec(section)?.[1] === 'origin';
    const [, value] = /^\s*url\s*=(.*)$/i.exec(section === undefined ? line : rest) ?? [];
    if (isOrigin && value !== undefined) return unquote(value);
  }
  return '';
}

/** Quotes may stand anywhere in a value; a comment begins outside of them. */
const unquote = (value: string): string =>
  [...value.matchAll(/"((?:[^"\\]|\\.)*)"|([^"#;]+)|[#;].*/g)]
    .map(([, quoted, bare]) => (quoted === undefined ? (bare ?? '') : quoted.replaceAll(/\\(.)/g, '$1')))
    .join('')
    .trim();
