import { spawnSync } from 'node:child_process';

/** Exit code of a program that writes to our own streams. */
export function passOn(program: string, ...args: readonly string[]): number {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (error !== undefined) console.error(`${program} did not start: ${error.message}`);
  return status ?? 1;
}
