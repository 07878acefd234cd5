import { createApiClient } from '#core/contracts/routes/client.ts';
import { isAnswer } from './answers.ts';
import type { Asked, Printing, Repo } from './asked.ts';
import { type Machine, Misuse } from './context.ts';
import { readLogin } from './login-file.ts';
import { NO_NAME, pickRepo, readRepoName } from './naming.ts';
import { reach } from './reach.ts';
import { readRemote } from './remote.ts';

/** One call of a command: its words, and the machine that it runs on. */
export interface Call {
  readonly machine: Machine;
  readonly readStdin: () => Promise<string>;
  /** A text without any secret, for what leaves by another way than `machine.print`. */
  readonly hide: (text: string) => string;
  readonly operands: readonly string[];
  readonly options: CallOptions;
}

/** Every option of the command line, as it was typed. */
export interface CallOptions {
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

export const printingOf = ({ machine, options }: Call): Printing & { readonly machine: Machine } => ({
  machine,
  json: options.json === true,
  quiet: options.quiet === true,
});

export interface LoggedIn {
  readonly asked: Asked;
  /** The address of the service. */
  readonly url: string;
  /** A client of the service for a command that has to end by `end` (epoch ms): no call takes longer. */
  readonly until: (end: number) => Asked;
}

/** Reads the login and asks the service nothing. */
export function logIn(call: Call): LoggedIn {
  const { url, token } = readLogin(call.machine);
  const until = (end: number): Asked => ({
    api: createApiClient({ baseUrl: url, readToken: () => token, fetch: reach(call.machine, end), isAnswer }),
    ...printingOf(call),
  });
  return { asked: until(Number.POSITIVE_INFINITY), url, until };
}

/** The options that name a queue; undefined: that of the folder. */
export interface NamedQueue {
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
}

export async function findRepo({ api, machine }: Asked, { repo, branch }: NamedQueue): Promise<Repo> {
  const named = repo === undefined ? await readRemote(machine) : readRepoName(repo);
  if (named === null) throw new Misuse(NO_NAME);
  return pickRepo(await api.listRepos(), named, branch);
}

export interface OnRepo {
  readonly asked: Asked;
  readonly repo: Repo;
}

/** Logs in and finds the repository that the call names. */
export async function openRepo(call: Call): Promise<OnRepo> {
  const { asked } = logIn(call);
  return { asked, repo: await findRepo(asked, call.options) };
}
