import { spawnSync } from 'node:child_process';

/** What a command beside the project answers to `--version`, or null where it cannot be started. */
export type AskVersion = (command: string) => string | null;

export interface OutsideTool {
  readonly name: string;
  readonly command: string;
  /** Three numbers. An earlier release knows less of AWS, and would report what is right. */
  readonly atLeast: string;
  /** How a person gets it. */
  readonly hint: string;
}

export type FoundTool = { readonly version: string } | { readonly skipped: string };

const askVersion: AskVersion = (command) => {
  const { error, status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' });
  return error === undefined && status === 0 ? stdout : null;
};

const numbersOf = (version: string): number[] => version.split('.').map(Number);

function isEarlier(version: string, than: string): boolean {
  const wanted = numbersOf(than);
  const difference = numbersOf(version)
    .map((part, index) => part - (wanted[index] ?? 0))
    .find((part) => part !== 0);
  return difference !== undefined && difference < 0;
}

/** Looks for a program that is no dependency of the project: its version, or one sentence that says what is missing. */
export function findTool(tool: OutsideTool, ask: AskVersion = askVersion): FoundTool {
  const version = /\d+\.\d+\.\d+/.exec(ask(tool.command) ?? '')?.[0];
  if (version === undefined) return { skipped: `skipped: ${tool.name} is not on this machine; ${tool.hint}` };
  if (!isEarlier(version, tool.atLeast)) return { version };
  return {
    skipped: `skipped: this needs ${tool.name} ${tool.atLeast} or later, not ${version}; ${tool.hint}`,
  };
}
