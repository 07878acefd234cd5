import { parseArgs, types } from 'node:util';
import { ApiError, createApiClient } from '#core/contracts/client.ts';
import { type Asked, EXIT, log, pickRepo, queue, type Repo, status, wait, why } from './commands.ts';
import { type Machine, Misuse, readLogin, readRemoteSlug, storeLogin } from './context.ts';

const USAGE = `mergeyard COMMAND [--json] [--repo OWNER/NAME] [--branch NAME]

  login ADDRESS                 stores address and token (on standard input)
  status                        every queue that the token sees
  queue                         who waits, in order
  why NUMBER                    where a pull request stands, and the next step
  wait NUMBER [--timeout 30m]   until it left the queue
  log                           what happened last

Exit codes: 0 done or landed, 1 left with a fault, 2 left without one, 3 timed out, 64 misuse, 69 refused or unreachable.`;

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** One command, to its exit code. Errors go to `complain` as one line, never with the token. */
export async function run(
  argv: readonly string[],
  machine: Machine,
  readStdin: () => Promise<string>,
  complain: (line: string) => void,
): Promise<number> {
  try {
    return await dispatch(argv, machine, readStdin);
  } catch (error) {
    if (error instanceof ApiError) {
      complain(`${error.code}: ${error.message}`);
      return EXIT.refused;
    }
    if (error instanceof Misuse || isWrongOption(error)) {
      complain(error.message);
      return EXIT.misuse;
    }
    throw error;
  }
}

/** `parseArgs` tells its refusals by code alone. */
const isWrongOption = (error: unknown): error is Error =>
  types.isNativeError(error) && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');

async function dispatch(
  argv: readonly string[],
  machine: Machine,
  readStdin: () => Promise<string>,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      repo: { type: 'string' },
      branch: { type: 'string' },
      timeout: { type: 'string', default: '30m' },
    },
  });
  const [command, operand, ...rest] = positionals;
  if (values.help || command === undefined) {
    machine.print(USAGE);
    return values.help ? EXIT.ok : EXIT.misuse;
  }
  if (rest.length > 0) throw new Misuse(`One operand is enough for ${command}.`);
  if (command === 'login') return login(machine, operand, readStdin);
  const { url, token } = readLogin(machine);
  const api = createApiClient({ baseUrl: url, readToken: () => token, fetch: machine.fetch });
  const asked: Asked = { api, machine, json: values.json };
  if (command === 'status') return status(asked);
  const find = async (): Promise<Repo> =>
    pickRepo(await api.listRepos(), values.repo ?? readRemoteSlug(machine.cwd), values.branch);
  switch (command) {
    case 'queue':
      return queue(asked, await find());
    case 'log':
      return log(asked, await find());
    case 'why': {
      const number = readNumber(operand);
      return why(asked, await find(), number);
    }
    case 'wait': {
      const [number, timeoutMs] = [readNumber(operand), readTime(values.timeout)];
      return wait(asked, await find(), number, timeoutMs);
    }
    default:
      throw new Misuse(`There is no command ${JSON.stringify(command)}; see --help.`);
  }
}

async function login(
  machine: Machine,
  address: string | undefined,
  readStdin: () => Promise<string>,
): Promise<number> {
  if (address === undefined || !URL.canParse(address))
    throw new Misuse('login takes the address of the service.');
  const { origin, protocol, hostname } = new URL(address);
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal))
    throw new Misuse('The address must begin with https://, or the token could be read on the way.');
  const token = (await readStdin()).trim();
  if (token === '') throw new Misuse('The token is read from standard input, and there was none.');
  const api = createApiClient({ baseUrl: origin, readToken: () => token, fetch: machine.fetch });
  await api.readQueueStatus();
  machine.print(`Stored in ${storeLogin(machine, { url: origin, token })}`);
  return EXIT.ok;
}

function readNumber(text: string | undefined): number {
  if (text === undefined || !/^#?[1-9]\d{0,9}$/.test(text))
    throw new Misuse('Give the number of the pull request.');
  return Number(text.replace('#', ''));
}

function readTime(text: string): number {
  const [, count, unit] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) throw new Misuse('A time is a number with s, m or h: 30m.');
  return Number(count) * (UNIT_MS[unit] ?? 0);
}
