import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

/** A program in a process of its own, in TypeScript, with what it prints on pipes. */
export function startScript(script: string, args: readonly string[]) {
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, '--', ...args], {
    cwd: resolve('.'),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
