import { spawnSync } from 'node:child_process';

const OUTPUTS = 'dist/outputs.json';

/** Exit code of a program that writes to our own streams. */
function run(program: string, ...args: readonly string[]): number {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (error !== undefined) console.error(`${program} did not start: ${error.message}`);
  return status ?? 1;
}

// One script, not one and a `post…` beside it: npm runs none of those where `ignore-scripts` is set (npm, "ignore-scripts"), and
// the next deployment would take itself for the first one.
const deployed = run('cdk', 'deploy', '--outputs-file', OUTPUTS, ...process.argv.slice(2));
if (deployed === 0) {
  const recorded = run('tsx', 'bin/record-deployment.ts', OUTPUTS);
  process.exitCode = run('tsx', 'bin/prove-start.ts', OUTPUTS) || recorded;
} else process.exitCode = deployed;
