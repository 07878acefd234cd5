import { CommanderError } from 'commander';
import { ApiError } from '#core/contracts/client.ts';
import { EXIT } from './commands.ts';
import { type Machine, Misuse } from './context.ts';
import { openProgram } from './program.ts';

/** One command, to its exit code. Errors go to `complain` as one line, never with the token. */
export async function run(
  argv: readonly string[],
  machine: Machine,
  readStdin: () => Promise<string>,
  complain: (line: string) => void,
): Promise<number> {
  const json = argv.includes('--json');
  const say = (code: string, message: string): void =>
    complain(json ? JSON.stringify({ error: { code, message } }) : message);
  try {
    return await openProgram(argv, machine, readStdin);
  } catch (error) {
    if (error instanceof ApiError) {
      say(error.code, json ? error.message : `${error.code}: ${error.message}`);
      return EXIT.refused;
    }
    if (error instanceof Misuse) {
      say('misuse', error.message);
      return EXIT.misuse;
    }
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.ok;
      say('misuse', error.code === 'commander.help' ? 'Name a command; see --help.' : tidy(error.message));
      return EXIT.misuse;
    }
    throw error;
  }
}

const tidy = (message: string): string => message.replace(/^error: /, '').replaceAll('\n', ' ');
