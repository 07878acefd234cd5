import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Machine } from './context.ts';

/** A repository as an address names it. */
export interface Named {
  /** `owner/name`. */
  readonly slug: string;
  /** Null: the address names no forge. */
  readonly forge: NamedForge | null;
}

export interface NamedForge {
  /** Host in lower case; an IPv6 address in brackets. */
  readonly host: string;
  /** Port; empty: the default one, or not named. */
  readonly port: string;
  /** Path of a forge that is not at the root of its host, without slashes at its ends; else empty. */
  readonly path: string;
  /**
   * Scheme of the address; `ssh` for every address that is no web address, and whose host and port may differ from
   * those of the page.
   */
  readonly way: 'https' | 'http' | 'ssh';
}

/** The repository of the remote `origin`. Null: there is no such remote, or it names no repository. */
export async function readRemote({ readGit, cwd }: Pick<Machine, 'readGit' | 'cwd'>): Promise<Named | null> {
  // Git knows its own rules: `insteadOf`, included files, worktrees, quotes.
  const url = await readGit(['remote', 'get-url', 'origin']);
  return (url === null ? null : readAddress(url)) ?? readConfigured(cwd);
}

/**
 * The repository that an address of git names: a URL, `host:owner/name` of SSH, or a path. Null: it has no owner and
 * name.
 */
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

/** Reads path segments: the last two are owner and name, those before them the path of the forge. */
function name(parts: readonly string[], forge: NamedForge | null): Named | null {
  const filled = parts.filter((part) => !NO_NAMES.includes(part));
  const [owner, last] = filled.slice(-2);
  if (owner === undefined || last === undefined) return null;
  return {
    slug: `${owner}/${last.replace(/\.git$/, '')}`,
    forge: forge === null || forge.way === 'ssh' ? forge : { ...forge, path: filled.slice(0, -2).join('/') },
  };
}

/** Host of an SSH address, which git also takes as `[user@host:port]` and `[user@::1]`. */
function hostOfSsh(text: string): string {
  const inner = /^\[(?:[^@]*@)?(.*)\]$/.exec(text)?.[1];
  if (inner === undefined) return text;
  const [host = '', ...rest] = inner.split(':');
  return rest.length > 1 ? `[${inner}]` : host;
}

/** One spelling of a host: lower case, and the shortest form of an IPv6 address. */
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

/**
 * Reads the nearest `.git/config` itself, where git is not installed or does not trust the owner of the folder. A repository
 * around that one is another one, whatever its remote is.
 */
function readConfigured(folder: string): Named | null {
  for (let at = folder; ; at = dirname(at)) {
    const config = readConfig(at);
    if (config !== null || dirname(at) === at) return readAddress(originOf(config ?? ''));
  }
}

/** The configuration of the repository whose folder this is; null: it is that of none. */
function readConfig(folder: string): string | null {
  for (const path of ['.git/config', '.git']) {
    try {
      const text = readFileSync(join(folder, path), 'utf8');
      // A worktree has a file that names its folder, two levels below that of the repository.
      const linked = /^gitdir: (.+)$/m.exec(text)?.[1];
      return linked === undefined ? text : readFileSync(join(folder, linked, '../../config'), 'utf8');
    } catch {}
  }
  return null;
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

/** A value of a git configuration without its quotes, which may stand anywhere in it, and without its comment. */
const unquote = (value: string): string =>
  [...value.matchAll(/"((?:[^"\\]|\\.)*)"|([^"#;]+)|[#;].*/g)]
    .map(([, quoted, bare]) => (quoted === undefined ? (bare ?? '') : quoted.replaceAll(/\\(.)/g, '$1')))
    .join('')
    .trim();
