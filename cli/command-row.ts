import { type Call, findRepo, type LoggedIn, logIn, type OnRepo } from './call.ts';

/** A row of the table of commands, for the program: how a command is called, and how it runs. */
export interface CommandRow extends Described {
  readonly start: (call: Call) => Promise<number>;
}

interface Described {
  /** Name and operands of the command, as `commander` reads them. */
  readonly spec: string;
  readonly says: string;
  readonly needs: Need;
  /** Options of this command alone. Those of every command, and those that name a repository, are added. */
  readonly options?: readonly OptionRow[];
}

export interface OptionRow {
  readonly flags: string;
  readonly says: string;
}

/** The needs of a command, each with the thing that it is given for it. */
interface Given {
  /** A command that needs nothing may still log in by itself, where its words ask for that. */
  readonly nothing: Call;
  readonly login: LoggedIn;
  readonly repository: OnRepo;
}

type Need = keyof Given;

interface Command<N extends Need, Input> extends Described {
  readonly needs: N;
  /** Checks the words of the call. A wrong one is a `Misuse`, before the service is asked for the repository. */
  readonly read: (call: Call) => Input | Promise<Input>;
  /** Gives the exit code. */
  readonly run: (given: Given[N], input: Input) => Promise<number>;
}

/**
 * Makes a row of the table. Of several faults of one call the first in this order is told: a missing login, a wrong
 * word, an unknown repository.
 */
export const command = <N extends Need, Input>({
  read,
  run,
  ...described
}: Command<N, Input>): CommandRow => ({
  ...described,
  start: async (call) => {
    const provide = PROVIDERS[described.needs](call);
    const input = await read(call);
    return run(await provide(), input);
  },
});

/**
 * How each need is met, in two steps: the outer call reads the login and asks the service nothing, the inner one may
 * ask the service.
 */
const PROVIDERS: { readonly [N in Need]: (call: Call) => () => Promise<Given[N]> } = {
  nothing: (call) => async () => call,
  login: (call) => {
    const login = logIn(call);
    return async () => login;
  },
  repository: (call) => {
    const { asked } = logIn(call);
    return async () => ({ asked, repo: await findRepo(asked, call.options) });
  },
};

/** The `read` of a command that has no words of its own. */
export const noInput = (): null => null;

export const NAMING: readonly OptionRow[] = [
  {
    flags: '--repo <name>',
    says: 'the repository: owner/name, or host/owner/name where several forges have it (default: of the remote origin)',
  },
  { flags: '--branch <name>', says: 'which queue, where the repository has several' },
];
