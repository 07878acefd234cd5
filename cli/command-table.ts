import { findRepo, openRepo, printingOf } from './call.ts';
import { type CommandRow, command, NAMING, noInput, type OptionRow } from './command-row.ts';
import { queue, status, wait, why } from './commands.ts';
import { doctor } from './doctor.ts';
import { evidence, evidenceKey, gatherProof, verify } from './evidence.ts';
import { fanout } from './fanout.ts';
import { hold, readHold, resume } from './hold.ts';
import { gateLog, LOG_EVENTS_DEFAULT, log, readLogged } from './log.ts';
import { login, readAddress } from './login.ts';
import { chooseHead, dequeue, enqueue, readForgeToken, tokenReader } from './schedule.ts';
import { readAction, SETTINGS_ACTIONS, settings } from './settings.ts';
import { serveTools } from './tools.ts';
import { readNumber, readTime } from './values.ts';
import { watch } from './watch.ts';

const TOKEN_STDIN: OptionRow = {
  flags: '--token-stdin',
  says: 'your forge token is on standard input, not in MERGEYARD_FORGE_TOKEN',
};

const holdRow = (kind: 'pause' | 'drain', says: string): CommandRow =>
  command({
    spec: kind,
    says,
    needs: 'repository',
    options: [
      { flags: '--reason <words>', says: 'the reason, told in the status of each pull request' },
      { flags: '--for <time>', says: 'goes on by itself after this time' },
    ],
    read: ({ options }) => readHold(options),
    run: ({ asked, repo }, wanted) => hold(asked, repo, kind, wanted),
  });

/** Every command, in the order of `mergeyard --help`. */
export const COMMAND_TABLE: readonly CommandRow[] = [
  command({
    spec: 'login <address>',
    says: 'stores address and token (on standard input)',
    needs: 'nothing',
    read: ({ operands: [address = ''] }) => readAddress(address),
    run: login,
  }),
  command({
    spec: 'status',
    says: 'lists the queues that the token sees',
    needs: 'login',
    read: noInput,
    run: ({ asked }) => status(asked),
  }),
  command({
    spec: 'queue',
    says: 'lists the pull requests that wait, in order',
    needs: 'repository',
    read: noInput,
    run: ({ asked, repo }) => queue(asked, repo),
  }),
  command({
    spec: 'why <number>',
    says: 'says where a pull request stands, and the next step',
    needs: 'repository',
    read: ({ operands: [number = ''] }) => readNumber(number),
    run: ({ asked, repo }, number) => why(asked, repo, number),
  }),
  command({
    spec: 'wait <number>',
    says: 'waits until a pull request has left the queue, and says how',
    needs: 'login',
    options: [{ flags: '--timeout <time>', says: 'gives up after this time (default: 30m)' }, ...NAMING],
    read: ({ operands: [number = ''], options, machine }) => ({
      number: readNumber(number),
      end: machine.now() + readTime(options.timeout ?? '30m'),
      named: options,
    }),
    run: ({ until }, { number, end, named }) => {
      const asked = until(end);
      return wait(asked, () => findRepo(asked, named), number, end);
    },
  }),
  command({
    spec: 'watch',
    says: 'shows the queue, live',
    needs: 'login',
    options: [{ flags: '--timeout <time>', says: 'stops after this time' }, ...NAMING],
    read: ({ options, machine }) => ({
      end:
        options.timeout === undefined ? Number.POSITIVE_INFINITY : machine.now() + readTime(options.timeout),
      named: options,
    }),
    run: async ({ until }, { end, named }) => {
      const asked = until(end);
      return watch(asked, await findRepo(asked, named), end);
    },
  }),
  command({
    spec: 'fanout',
    says: 'advises how many gate runs at once, from the last weeks',
    needs: 'repository',
    read: noInput,
    run: ({ asked, repo }) => fanout(asked, repo),
  }),
  command({
    spec: 'evidence <commit>',
    says: 'prints the signed statement of the landing that made this commit',
    needs: 'repository',
    read: ({ operands: [commit = ''] }) => commit,
    run: ({ asked, repo }, commit) => evidence(asked, repo, commit),
  }),
  command({
    spec: 'evidence-key',
    says: 'prints the public key of the service, as PEM',
    needs: 'login',
    read: noInput,
    run: ({ asked }) => evidenceKey(asked),
  }),
  command({
    spec: 'verify <commit>',
    says: 'checks the signed statement of a commit against the clone',
    needs: 'nothing',
    options: [
      { flags: '--evidence <file>', says: 'the statement (default: fetched from the service)' },
      { flags: '--key <file>', says: 'the public key that you kept (default: fetched from the service)' },
      ...NAMING,
    ],
    read: ({ operands: [commit = ''] }) => commit,
    run: async (call, commit) => verify(printingOf(call), commit, await gatherProof(call, commit)),
  }),
  command({
    spec: 'settings <action> [file]',
    says: `works on settings as a file (default: .mergeyard.yml): ${SETTINGS_ACTIONS.join(', ')}`,
    needs: 'nothing',
    options: NAMING,
    read: ({ operands: [action = '', file] }) => ({ action: readAction(action), file }),
    run: (call, { action, file }) => settings(printingOf(call), action, file, () => openRepo(call)),
  }),
  command({
    spec: 'enqueue <number>',
    says: 'schedules the merge on the forge, with your own right there',
    needs: 'repository',
    options: [
      {
        flags: '--head <sha>',
        says: 'the commit that you looked at, by its id (default: the one checked out)',
      },
      TOKEN_STDIN,
    ],
    read: async (call) => ({
      number: readNumber(call.operands[0] ?? ''),
      head: await chooseHead(call.machine, call.options.head),
      readToken: tokenReader(call),
    }),
    run: async ({ asked, repo }, { number, head, readToken }) =>
      enqueue(asked, repo, { number, head, forgeToken: await readToken() }),
  }),
  command({
    spec: 'dequeue <number>',
    says: 'takes the schedule back, with your own right on the forge',
    needs: 'repository',
    options: [TOKEN_STDIN],
    read: (call) => ({ number: readNumber(call.operands[0] ?? ''), readToken: tokenReader(call) }),
    run: async ({ asked, repo }, { number, readToken }) =>
      dequeue(asked, repo, { number, forgeToken: await readToken() }),
  }),
  command({
    spec: 'log',
    says: 'prints what happened, newest first, or with --gate the log of a gate run',
    needs: 'repository',
    options: [
      { flags: '--pr <number>', says: 'events of this pull request alone' },
      { flags: '--event <name>', says: 'events of this kind alone: landed, bounced, refused, …' },
      { flags: '--search <words>', says: 'events whose title, author or reason has these words' },
      { flags: '--limit <count>', says: `events at most (default: ${LOG_EVENTS_DEFAULT})` },
      { flags: '--gate <number>', says: 'the end of the log of the newest gate run of this pull request' },
    ],
    read: ({ options }) => readLogged(options),
    run: ({ asked, repo }, logged) =>
      logged.gate === null ? log(asked, repo, logged.filter) : gateLog(asked, repo, logged.gate),
  }),
  holdRow('pause', 'stages nothing and lands nothing from now on'),
  holdRow('drain', 'lands the batches that are under way, and stages nothing new'),
  command({
    spec: 'resume',
    says: 'ends a pause or a drain',
    needs: 'repository',
    read: noInput,
    run: ({ asked, repo }) => resume(asked, repo),
  }),
  command({
    spec: 'doctor',
    says: 'looks for what keeps the queues from landing',
    needs: 'login',
    read: noInput,
    run: ({ asked, url }) => doctor(asked, url),
  }),
  command({
    spec: 'mcp',
    says: 'answers an agent: a tool server (MCP) on standard input and output',
    needs: 'login',
    options: [
      { flags: '--allow-writes', says: 'also enqueue and dequeue, with the token in MERGEYARD_FORGE_TOKEN' },
      ...NAMING,
    ],
    read: async ({ machine, options, hide }) => ({
      forgeToken:
        options.allowWrites === true ? await readForgeToken(machine, null, 'in MERGEYARD_FORGE_TOKEN') : null,
      named: options,
      hide,
    }),
    run: ({ until }, { forgeToken, named, hide }) =>
      serveTools({ until, forgeToken, hide }, (asked, repo = named.repo, branch = named.branch) =>
        findRepo(asked, { repo, branch }),
      ),
  }),
];
