import { parseUrl } from '#core/domain/parse-url.ts';

/** Where a real forge is. */
export interface RealForge {
  readonly url: string;
  /** Certificate authority of its own, as a PEM file; null = a public one. */
  readonly caFile: string | null;
}

/** Access tokens of a real forge. Owner and author are the bot itself where they have no account of their own. */
export interface ForgeTokens {
  readonly bot: string;
  readonly owner: string;
  readonly author: string;
}

export class ForgeOptionError extends Error {
  override readonly name = 'ForgeOptionError';
}

export const TOKEN_USAGE = `  FORGE_TOKEN         access token of the queue's bot there: it makes repositories
                      and comments besides: scopes write:repository, write:issue, write:user;
                      without the variable it is read from standard input, never from the command line`;

export const ACCOUNT_USAGE = `${TOKEN_USAGE}
  FORGE_OWNER_TOKEN   of another account, which owns the repository; else the bot does
  FORGE_PERSON_TOKEN  of another account, which opens and schedules; else the owner does`;

/** `url` from `--forge`, `caFile` from `--forge-ca`. Null: no real forge was named. */
export function readRealForge(url: string | undefined, caFile: string | undefined): RealForge | null {
  if (url === undefined) {
    if (caFile !== undefined) throw new ForgeOptionError('--forge-ca goes with --forge');
    return null;
  }
  const parsed = parseUrl(url);
  if (parsed === null || parsed.protocol !== 'https:')
    throw new ForgeOptionError('--forge takes an https URL');
  if (parsed.username !== '' || parsed.password !== '')
    throw new ForgeOptionError('--forge takes no user or password: set FORGE_TOKEN');
  return { url: url.replace(/\/+$/, ''), caFile: caFile ?? null };
}

/** A token on a command line is in every list of processes, and in the history of the shell. */
export function refuseTokenOption(argv: readonly string[]): void {
  if (argv.some((word) => word === '--token' || word.startsWith('--token=')))
    throw new ForgeOptionError(
      '--token is not taken: every list of processes shows a command line. Set FORGE_TOKEN, or write the token to standard input',
    );
}

export interface TokenInput extends AsyncIterable<Buffer | string> {
  readonly isTTY?: boolean;
}

const TOKEN_BYTES_MAX = 4096;

/** From the environment; the bot's also as the first line of standard input, unless that is a terminal. */
export async function readForgeTokens(
  env: Readonly<Record<string, string | undefined>>,
  input: TokenInput,
): Promise<ForgeTokens> {
  const named = (name: string): string | null => {
    const value = env[name]?.trim() ?? '';
    return value === '' ? null : value;
  };
  const bot = named('FORGE_TOKEN') ?? (input.isTTY === true ? null : await readFirstLine(input));
  if (bot === null)
    throw new ForgeOptionError('no token: set FORGE_TOKEN, or write the token to standard input');
  const owner = named('FORGE_OWNER_TOKEN') ?? bot;
  return { bot, owner, author: named('FORGE_PERSON_TOKEN') ?? owner };
}

async function readFirstLine(input: TokenInput): Promise<string | null> {
  let text = '';
  for await (const part of input) {
    text += part.toString();
    if (text.includes('\n') || text.length > TOKEN_BYTES_MAX) break;
  }
  const line = (text.split('\n')[0] ?? '').trim();
  return line === '' || line.length > TOKEN_BYTES_MAX ? null : line;
}
