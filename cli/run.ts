import { CommanderError } from 'commander';
import { ApiError } from '#core/contracts/routes/client.ts';
import { EXIT } from './asked.ts';
import { type Machine, Misuse, ReaderLeft } from './context.ts';
import { readStoredToken } from './login-file.ts';
import { openProgram } from './program.ts';
import { notUsable, sayRefusal, stepOf } from './refusal.ts';
import { Secrets } from './secrets.ts';
import { plain } from './values.ts';

/** Runs one command and returns its exit code. Errors go to `complain` as one line, never with the token. */
export async function run(
  argv: readonly string[],
  machine: Machine,
  readStdin: () => Promise<string>,
  complain: (line: string) => void,
): Promise<number> {
  const json = argv.includes('--json');
  const { MERGEYARD_TOKEN, MERGEYARD_FORGE_TOKEN } = machine.env;
  const secrets = new Secrets([MERGEYARD_TOKEN, MERGEYARD_FORGE_TOKEN, readStoredToken(machine)]);
  const hide = (text: string): string => secrets.hide(text);
  const readSecret = async (): Promise<string> => {
    const text = await readStdin();
    secrets.add(text);
    return text;
  };
  const say = (line: string, code: string, message: string, next: string | null): void => {
    const error = { code: plain(code), message: plain(message), next: next === null ? null : plain(next) };
    complain(hide(json ? JSON.stringify({ error }) : plain(line)));
  };
  // Its one sentence says the step.
  const sayMisuse = (message: string): void => say(message, 'misuse', message, null);
  try {
    return await openProgram(argv, {
      machine: { ...machine, print: (line) => machine.print(hide(line)) },
      readStdin: readSecret,
      hide,
    });
  } catch (error) {
    if (error instanceof ReaderLeft) return EXIT.ok;
    if (error instanceof Misuse) {
      sayMisuse(error.message);
      return EXIT.misuse;
    }
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.ok;
      sayMisuse(error.code === 'commander.help' ? 'Name a command; see --help.' : tidy(error.message));
      return EXIT.misuse;
    }
    const refusal = error instanceof ApiError ? error : notUsable(error);
    say(sayRefusal(refusal), refusal.code, refusal.message, stepOf(refusal));
    return EXIT.refused;
  }
}

const tidy = (message: string): string =>
  `${message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '')}; see --help.`;
