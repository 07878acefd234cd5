import complete from '@bomb.sh/tab/commander';
import { Command } from 'commander';
import { EXIT } from './asked.ts';
import type { Call, CallOptions } from './call.ts';
import { type CommandRow, NAMING, type OptionRow } from './command-row.ts';
import { COMMAND_TABLE } from './command-table.ts';
import type { Machine } from './context.ts';
import { VERSION } from './version.ts';

const EXIT_CODES =
  '\nExit codes: 0 done or landed, 1 left or held with a fault, not verified or a wrong file, 2 left without one, 3 timed out, 4 doctor found something, 64 misuse, 69 refused, unreachable or not written.';

/** Runs the command that the arguments name, and returns its exit code. Throws the errors of `commander` for a misuse. */
export async function openProgram(
  argv: readonly string[],
  world: Omit<Call, 'operands' | 'options'>,
): Promise<number> {
  let code: number = EXIT.ok;
  const program = describeProgram(world.machine);
  for (const row of COMMAND_TABLE)
    addCommand(program, row, async (words) => {
      code = await row.start({ ...world, ...words });
    });
  complete(program);
  await program.parseAsync([...argv], { from: 'user' });
  return code;
}

const describeProgram = (machine: Machine): Command =>
  new Command('mergeyard')
    .description('asks a merge queue from a terminal or a script')
    .version(VERSION, '--version', 'prints the version of this program')
    .exitOverride()
    .configureOutput({ writeOut: (text) => machine.print(text.trimEnd()), writeErr: () => {} })
    .addHelpText('after', EXIT_CODES)
    .helpCommand(false);

type Words = Pick<Call, 'operands' | 'options'>;

function addCommand(program: Command, row: CommandRow, act: (words: Words) => Promise<void>): void {
  const command = program.command(row.spec).description(row.says);
  for (const { flags, says } of optionsOf(row)) command.option(flags, says);
  command.action(() => act({ operands: command.args, options: command.opts<CallOptions>() }));
}

const optionsOf = ({ needs, options = [] }: CommandRow): readonly OptionRow[] => [
  ...options,
  ...(needs === 'repository' ? NAMING : []),
  ...PRINTING,
];

/** Options of every command of the table, so that a script may ask any of them for one line, or for none. */
const PRINTING: readonly OptionRow[] = [
  { flags: '--json', says: 'the answer of the API as one line, errors too' },
  { flags: '--quiet', says: 'prints nothing but errors' },
];
