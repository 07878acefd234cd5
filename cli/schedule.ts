import { type Asked, EXIT, emit, type Repo } from './asked.ts';
import type { Call } from './call.ts';
import { type Machine, Misuse } from './context.ts';
import { checkToken } from './login-file.ts';

/**
 * Reads the forge token of the person (not that of the queue) from the environment or standard input. The token is
 * neither stored nor printed.
 */
export async function readForgeToken(
  machine: Pick<Machine, 'env'>,
  readStdin: (() => Promise<string>) | null,
  ways = 'in MERGEYARD_FORGE_TOKEN, or on standard input with --token-stdin',
): Promise<string> {
  const token = checkToken((await readStdin?.()) ?? machine.env.MERGEYARD_FORGE_TOKEN ?? '');
  if (token === '')
    throw new Misuse(`Scheduling is done with your own right: give your forge token ${ways}.`);
  return token;
}

/** Reads the token when it is called, so that standard input is left alone until the repository is found. */
export const tokenReader =
  ({ machine, readStdin, options }: Call) =>
  (): Promise<string> =>
    readForgeToken(machine, options.tokenStdin === true ? readStdin : null);

const FULL_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const ID_DIGITS_MIN = 7;
const BEGINNING = new RegExp(`^[0-9a-f]{${ID_DIGITS_MIN},64}$`);

/** The head that the person looked at: the one named, else the commit that is checked out. */
export async function chooseHead(machine: Machine, named: string | undefined): Promise<string> {
  if (named !== undefined) return fullId(machine, named.toLowerCase());
  const head = await machine.readGit(['rev-parse', '--verify', 'HEAD']);
  if (head === null) throw new Misuse('Name the head that you looked at: --head SHA.');
  return head.toLowerCase();
}

/**
 * The service takes a full id alone: a commit with the same beginning is soon made by another person. A beginning is made whole
 * by the commits here, which the person has.
 */
async function fullId(machine: Machine, named: string): Promise<string> {
  if (FULL_ID.test(named)) return named;
  if (!BEGINNING.test(named))
    throw new Misuse(`Name the head by its id: --head SHA, with at least ${ID_DIGITS_MIN} hex digits.`);
  const found = await machine.readGit(['rev-parse', '--verify', '--quiet', `${named}^{commit}`]);
  // A branch or a tag of this name goes before the commit.
  if (found?.startsWith(named) !== true)
    throw new Misuse(
      `"${named}" begins the id of no commit here, or of several. Name the head by its full id.`,
    );
  return found;
}

export interface Wanted {
  readonly number: number;
  readonly forgeToken: string;
}

export async function enqueue(
  asked: Asked,
  repo: Repo,
  { number, forgeToken, head }: Wanted & { readonly head: string },
): Promise<number> {
  const made = await asked.api.enqueuePull({ id: repo.id, number, forgeToken, body: { head } });
  emit(asked, made, () => [sayEnqueued(made)]);
  return EXIT.ok;
}

export const sayEnqueued = (made: { number: number; head: string; already: boolean }): string =>
  `#${made.number} is scheduled at ${made.head.slice(0, 10)}${made.already ? ', as it was before' : ''}`;

export async function dequeue(asked: Asked, repo: Repo, { number, forgeToken }: Wanted): Promise<number> {
  await asked.api.dequeuePull({ id: repo.id, number, forgeToken });
  emit(asked, { number, scheduled: false }, () => [`#${number} is not scheduled`]);
  return EXIT.ok;
}
