import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { types } from 'node:util';
import * as z from 'zod';
import { type Machine, Misuse } from './context.ts';

export interface Login {
  readonly url: string;
  readonly token: string;
}

const loginFile = ({ env }: Pick<Machine, 'env'>): string =>
  join(configFolder(env), 'mergeyard', 'login.json');

/**
 * The folder of the configuration; always an absolute path. A path relative to the working folder could be filled by a
 * stranger, to whose address the token would go.
 */
function configFolder(env: Machine['env']): string {
  const { XDG_CONFIG_HOME: named = '' } = env;
  if (isAbsolute(named)) return named;
  for (const readHome of [() => env.HOME ?? '', homedir, () => userInfo().homedir]) {
    const home = orNone(readHome);
    if (isAbsolute(home)) return join(home, '.config');
  }
  throw new Misuse('This account has no home folder: set HOME, or MERGEYARD_URL and MERGEYARD_TOKEN.');
}

/**
 * Result of a reader of Node, or '' where it throws, as for an account that the machine does not know (in a container).
 */
function orNone(readHome: () => string): string {
  try {
    return readHome();
  } catch {
    return '';
  }
}

/**
 * Reads the login. The environment wins over the file, so that a CI job needs no file. The stored token belongs to the
 * address that is stored with it: an address from elsewhere gets no stored token.
 */
export function readLogin(machine: Machine): Login {
  const { MERGEYARD_URL: url, MERGEYARD_TOKEN: token } = machine.env;
  refuseEmpty('MERGEYARD_URL', url, 'the address of the service');
  refuseEmpty('MERGEYARD_TOKEN', token, 'an API token');
  if (url !== undefined && token !== undefined) return toLogin(url, token);
  const stored = readStored(machine);
  if (stored === null)
    throw new Misuse('Log in first: mergeyard login ADDRESS, with the token on standard input.');
  if (token !== undefined) return toLogin(stored.url, token);
  if (url === undefined) return toLogin(stored.url, stored.token);
  const [named, own] = [checkAddress(url), new URL(stored.url).origin];
  if (named !== own)
    throw new Misuse(
      `The stored login is for ${own}, and MERGEYARD_URL names ${named}: set MERGEYARD_TOKEN to a token of that service, or log in there with mergeyard login ${named}.`,
    );
  return toLogin(url, stored.token);
}

/** Refuses a variable that is set and empty: it names no login, and hides the stored one. Throws `Misuse`. */
function refuseEmpty(name: string, value: string | undefined, wanted: string): void {
  if (value?.trim() === '')
    throw new Misuse(
      `${name} is set and empty, as in a CI job that is given no secret: give it ${wanted}, or unset it.`,
    );
}

function toLogin(url: string, token: string): Login {
  return { url: checkAddress(url), token: checkToken(token) };
}

/**
 * Returns the token. Throws `Misuse` for one that no HTTP header can carry, because the call would look like a service
 * that is away.
 */
export function checkToken(text: string): string {
  const token = text.trim();
  if (/^[!-~]*$/.test(token)) return token;
  throw new Misuse(
    'The token holds a character that no token can have: give it as one line of plain text (UTF-8, without a byte order mark).',
  );
}

/** Returns the origin of the service. Throws `Misuse` for anything but https, unless the host is this machine. */
export function checkAddress(address: string): string {
  const { origin, protocol, hostname, username, password } = URL.canParse(address)
    ? new URL(address)
    : NO_ADDRESS;
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal))
    throw new Misuse('The address must begin with https://, or the token could be read on the way.');
  if (username !== '' || password !== '' || /[?#]/.test(address))
    throw new Misuse('The address must have no user, no password, no query and no fragment.');
  return origin;
}

const NO_ADDRESS = { origin: '', protocol: '', hostname: '', username: '', password: '' };

const StoredLogin = z.object({
  url: z.string().refine((text) => URL.canParse(text)),
  token: z.string().min(1),
});

/** Reads the stored login; null: there is none. */
function readStored(machine: Pick<Machine, 'env'>): Login | null {
  const file = loginFile(machine);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new Misuse(
      `${file} cannot be read (${code}): give yourself the right to read it, log in again, or set MERGEYARD_URL and MERGEYARD_TOKEN.`,
    );
  }
  try {
    return StoredLogin.parse(JSON.parse(text));
  } catch {
    // The words of the parser would show a piece of the file, which may be one of the token.
    throw new Misuse(
      `${file} holds no login: log in again with mergeyard login ADDRESS and the token on standard input, or set MERGEYARD_URL and MERGEYARD_TOKEN.`,
    );
  }
}

/** Reads the stored token. Undefined: there is none, or the file cannot be used; the command that needs it tells that. */
export function readStoredToken(machine: Pick<Machine, 'env'>): string | undefined {
  try {
    return readStored(machine)?.token;
  } catch {
    return undefined;
  }
}

/**
 * Stores the login with mode 600 from the first byte: it is written under another name, then renamed. Returns the path.
 */
export function storeLogin(machine: Pick<Machine, 'env'>, login: Login): string {
  const file = loginFile(machine);
  const next = `${file}.${process.pid}.next`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Of one that died before: in a container each has the same number.
    rmSync(next, { force: true });
    writeFileSync(next, JSON.stringify(login), { mode: 0o600, flag: 'wx' });
    renameSync(next, file);
  } catch (error) {
    throw new Misuse(
      `The login cannot be stored in ${file} (${codeOf(error)}): make the folder writable, or set MERGEYARD_URL and MERGEYARD_TOKEN.`,
    );
  }
  return file;
}

const codeOf = (error: unknown): string =>
  types.isNativeError(error) && 'code' in error ? String(error.code) : 'unknown';
