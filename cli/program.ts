import complete from '@bomb.sh/tab/commander';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Command, Option } from 'commander';
import { createApiClient } from '#core/contracts/client.ts';
import { type Asked, EXIT, pickRepo, queue, type Repo, status, wait, why } from './commands.ts';
import { checkAddress, type Machine, Misuse, readLogin, readRemoteSlug, storeLogin } from './context.ts';
import { doctor } from './doctor.ts';
import { evidence, evidenceKey, readCommit, readFile, verify } from './evidence.ts';
import { fanout } from './fanout.ts';
import { hold, resume } from './hold.ts';
import { gateLog, LOG_EVENTS_DEFAULT, log, readEventName, readLimit } from './log.ts';
import { chooseHead, dequeue, enqueue, readForgeToken } from './schedule.ts';
import { SETTINGS_ACTIONS, settings } from './settings.ts';
import { openToolServer, type ToolDeps } from './tools.ts';
import { readNumber, readTime } from './values.ts';
import { watch } from './watch.ts';

const EXIT_CODES =
  '\nExit codes: 0 done or landed, 1 left or held with a fault, not verified or a wrong file, 2 left without one, 3 timed out, 4 doctor found something, 64 misuse, 69 refused or unreachable.';

interface Given {
  readonly json?: true;
  readonly quiet?: true;
  readonly repo?: string;
  readonly branch?: string;
  readonly timeout?: string;
  readonly reason?: string;
  readonly for?: string;
  readonly gate?: string;
  readonly pr?: string;
  readonly event?: string;
  readonly search?: string;
  readonly limit?: string;
  readonly head?: string;
  readonly tokenStdin?: true;
  readonly allowWrites?: true;
  readonly evidence?: string;
  readonly key?: string;
}

/** Each command, with its arguments and options, to its exit code. Throws what `commander` does for a misuse. */
export async function openProgram(
  argv: readonly string[],
  machine: Machine,
  readStdin: () => Promise<string>,
): Promise<number> {
  let code: number = EXIT.ok;
  const program = new Command('mergeyard')
    .description('asks a merge queue from a terminal or a script')
    .exitOverride()
    .configureOutput({ writeOut: (text) => machine.print(text.trimEnd()), writeErr: () => {} })
    .addHelpText('after', EXIT_CODES)
    .helpCommand(false);

  const open = (given: Given): { readonly asked: Asked; readonly url: string } => {
    const { url, token } = readLogin(machine);
    const api = createApiClient({ baseUrl: url, readToken: () => token, fetch: machine.fetch });
    return { asked: { api, machine, json: given.json === true, quiet: given.quiet === true }, url };
  };
  const find = async ({ api }: Asked, { repo, branch }: Given): Promise<Repo> =>
    pickRepo(await api.listRepos(), repo ?? readRemoteSlug(machine.cwd), branch);

  /** On every command: a script may ask each of them for one line, or for none. */
  const add = (spec: string, says: string, more: readonly Option[] = []): Command => {
    const command = program.command(spec).description(says);
    for (const option of [...more, ...printing()]) command.addOption(option);
    return command;
  };
  const onRepo = (
    spec: string,
    says: string,
    act: (asked: Asked, find: () => Promise<Repo>, given: Given, operand: string) => Promise<number>,
    more: readonly Option[] = [],
  ): void => {
    add(spec, says, [...more, ...naming()]).action(async (...args: unknown[]) => {
      const given = (args.at(-1) as Command).opts<Given>();
      const { asked } = open(given);
      code = await act(asked, () => find(asked, given), given, typeof args[0] === 'string' ? args[0] : '');
    });
  };

  /** With both files nothing is asked of the service, so that no login is needed either. */
  const addVerify = (): void => {
    const more = [
      new Option('--evidence <file>', 'the statement (default: fetched from the service)'),
      new Option('--key <file>', 'the public key that you kept (default: fetched from the service)'),
    ];
    add('verify <commit>', 'checks the signed statement of a commit against the clone', [
      ...more,
      ...naming(),
    ]).action(async (name: string, given: Given) => {
      const ask = (): Asked => open(given).asked;
      const statement = async (): Promise<string> => {
        const asked = ask();
        const commit = await readCommit(machine, name);
        const { id } = await find(asked, given);
        return JSON.stringify(await asked.api.readCommitEvidence({ id, query: { commit } }));
      };
      const printed = { machine, json: given.json === true, quiet: given.quiet === true };
      code = await verify(printed, name, {
        envelope: given.evidence === undefined ? await statement() : readFile(given.evidence),
        key: given.key === undefined ? (await ask().api.readEvidenceKey()).public_key : readFile(given.key),
      });
    });
  };

  /** Where the file is wrong, or is only checked, nothing is asked of the service. */
  const addSettings = (): void => {
    const says = `works on settings as a file (default: .mergeyard.yml): ${SETTINGS_ACTIONS.join(', ')}`;
    add('settings <action> [file]', says, naming()).action(
      async (action: string, file: string | undefined, given: Given) => {
        const printed = { machine, json: given.json === true, quiet: given.quiet === true };
        code = await settings(printed, action, file, async () => {
          const { asked } = open(given);
          return { asked, repo: await find(asked, given) };
        });
      },
    );
  };

  add('login <address>', 'stores address and token (on standard input)').action(
    async (address: string, given: Given) => {
      code = await login(machine, address, readStdin, given);
    },
  );
  add('status', 'lists the queues that the token sees').action(async (given: Given) => {
    code = await status(open(given).asked);
  });
  onRepo('queue', 'lists the pull requests that wait, in order', async (asked, repo) =>
    queue(asked, await repo()),
  );
  onRepo(
    'why <number>',
    'says where a pull request stands, and the next step',
    async (asked, repo, _, operand) => {
      const number = readNumber(operand);
      return why(asked, await repo(), number);
    },
  );
  onRepo(
    'wait <number>',
    'waits until a pull request has left the queue, and says how',
    async (asked, repo, given, operand) => {
      const [number, timeoutMs] = [readNumber(operand), readTime(given.timeout ?? '30m')];
      return wait(asked, await repo(), number, timeoutMs);
    },
    [new Option('--timeout <time>', 'gives up after this time (default: 30m)')],
  );
  onRepo(
    'watch',
    'shows the queue, live',
    async (asked, repo, given) => {
      const timeoutMs = given.timeout === undefined ? null : readTime(given.timeout);
      return watch(asked, await repo(), timeoutMs);
    },
    [new Option('--timeout <time>', 'stops after this time')],
  );
  onRepo('fanout', 'advises how many gate runs at once, from the last weeks', async (asked, repo) =>
    fanout(asked, await repo()),
  );
  onRepo(
    'evidence <commit>',
    'prints the signed statement of the landing that made this commit',
    async (asked, repo, _, operand) => evidence(asked, await repo(), operand),
  );
  add('evidence-key', 'prints the public key of the service, as PEM').action(async (given: Given) => {
    code = await evidenceKey(open(given).asked);
  });
  addVerify();
  addSettings();
  const tokenFrom = ({ tokenStdin }: Given) =>
    readForgeToken(machine, tokenStdin === true ? readStdin : null);
  const TOKEN_STDIN = new Option(
    '--token-stdin',
    'your forge token is on standard input, not in MERGEYARD_FORGE_TOKEN',
  );
  onRepo(
    'enqueue <number>',
    'schedules the merge on the forge, with your own right there',
    async (asked, repo, given, operand) => {
      const [number, head] = [readNumber(operand), await chooseHead(machine, given.head)];
      return enqueue(asked, await repo(), { number, head, forgeToken: await tokenFrom(given) });
    },
    [new Option('--head <sha>', 'the commit that you looked at (default: the one checked out)'), TOKEN_STDIN],
  );
  onRepo(
    'dequeue <number>',
    'takes the schedule back, with your own right on the forge',
    async (asked, repo, given, operand) => {
      const number = readNumber(operand);
      return dequeue(asked, await repo(), { number, forgeToken: await tokenFrom(given) });
    },
    [TOKEN_STDIN],
  );
  onRepo(
    'log',
    'prints what happened, newest first, or with --gate the log of a gate run',
    async (asked, repo, { gate, event, pr, search, limit }) => {
      if (gate !== undefined) return gateLog(asked, await repo(), readNumber(gate));
      const filter = {
        event: event === undefined ? null : readEventName(event),
        pr: pr === undefined ? null : readNumber(pr),
        words: search ?? null,
        limit: limit === undefined ? LOG_EVENTS_DEFAULT : readLimit(limit),
      };
      return log(asked, await repo(), filter);
    },
    [
      new Option('--pr <number>', 'events of this pull request alone'),
      new Option('--event <name>', 'events of this kind alone: landed, bounced, refused, …'),
      new Option('--search <words>', 'events whose title, author or reason has these words'),
      new Option('--limit <count>', `events at most (default: ${LOG_EVENTS_DEFAULT})`),
      new Option('--gate <number>', 'the end of the log of the newest gate run of this pull request'),
    ],
  );
  for (const [kind, says] of [
    ['pause', 'stages nothing and lands nothing from now on'],
    ['drain', 'lands the batches that are under way, and stages nothing new'],
  ] as const) {
    onRepo(
      kind,
      says,
      async (asked, repo, given) => {
        const forMs = given.for === undefined ? null : readTime(given.for);
        return hold(asked, await repo(), kind, { reason: given.reason ?? null, forMs });
      },
      [
        new Option('--reason <words>', 'the reason, told in the status of each pull request'),
        new Option('--for <time>', 'goes on by itself after this time'),
      ],
    );
  }
  onRepo('resume', 'ends a pause or a drain', async (asked, repo) => resume(asked, await repo()));
  add('doctor', 'looks for what keeps the queues from landing').action(async (given: Given) => {
    const { asked, url } = open(given);
    code = await doctor(asked, url);
  });
  onRepo(
    'mcp',
    'answers an agent: a tool server (MCP) on standard input and output',
    async (asked, _, given) => {
      const forgeToken = given.allowWrites === true ? await readForgeToken(machine, null) : null;
      return serveTools(asked, forgeToken, (repo, branch) =>
        find(asked, {
          ...given,
          ...(repo === undefined ? {} : { repo }),
          ...(branch === undefined ? {} : { branch }),
        }),
      );
    },
    [new Option('--allow-writes', 'also enqueue and dequeue, with the token in MERGEYARD_FORGE_TOKEN')],
  );
  complete(program);
  await program.parseAsync([...argv], { from: 'user' });
  return code;
}

/** Until standard input ends. Nothing else is written to standard output meanwhile: it is the protocol's. */
async function serveTools(asked: Asked, forgeToken: string | null, find: ToolDeps['find']): Promise<number> {
  const server = openToolServer({ asked, version: '1', forgeToken, find });
  const closed = new Promise<void>((done) => {
    server.server.onclose = done;
    process.stdin.once('end', () => void server.close());
  });
  await server.connect(new StdioServerTransport());
  await closed;
  return EXIT.ok;
}

const printing = (): readonly Option[] => [
  new Option('--json', 'the answer of the API as one line, errors too'),
  new Option('--quiet', 'prints nothing but errors'),
];
const naming = (): readonly Option[] => [
  new Option('--repo <owner/name>', 'the repository (default: of the remote origin)'),
  new Option('--branch <name>', 'which queue, where the repository has several'),
];

async function login(
  machine: Machine,
  address: string,
  readStdin: () => Promise<string>,
  { quiet }: Given,
): Promise<number> {
  if (!URL.canParse(address)) throw new Misuse('login takes the address of the service.');
  const origin = checkAddress(address);
  const token = (await readStdin()).trim();
  if (token === '') throw new Misuse('The token is read from standard input, and there was none.');
  const api = createApiClient({ baseUrl: origin, readToken: () => token, fetch: machine.fetch });
  await api.readQueueStatus();
  const file = storeLogin(machine, { url: origin, token });
  if (quiet !== true) machine.print(`Stored in ${file}`);
  return EXIT.ok;
}
