import { run } from '../../cli/run.ts';

export interface CliWorld {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** By the path behind `/api/v1/user/`; what has none is answered with an empty list. */
  readonly answers?: Readonly<Record<string, unknown>>;
  readonly readGit?: (args: readonly string[]) => Promise<string | null>;
  readonly stdin?: string;
}

export interface SentCall {
  readonly origin: string;
  readonly path: string;
  readonly authorization: string | null;
}

/** One call of the command line beside a service that answers from a table, with what it printed and sent. */
export async function callCli(argv: readonly string[], world: CliWorld = {}) {
  const { env = {}, cwd = '/', answers = {}, readGit = async () => null, stdin = '' } = world;
  const [out, complaints, sent]: [string[], string[], SentCall[]] = [[], [], []];
  const code = await run(
    argv,
    {
      env,
      cwd,
      fetch: async (url, init) => {
        const { origin, pathname } = new URL(String(url));
        const path = pathname.replace('/api/v1/user/', '');
        sent.push({ origin, path, authorization: new Headers(init?.headers).get('authorization') });
        return Response.json(answers[path] ?? []);
      },
      print: (line) => void out.push(line),
      isTerminal: false,
      readGit,
      now: () => 0,
      sleep: async () => {},
    },
    async () => stdin,
    (line) => complaints.push(line),
  );
  return { code, out, complaint: complaints.join('\n'), sent };
}
