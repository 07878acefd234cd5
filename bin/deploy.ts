import { spawnSync } from 'node:child_process';

const USAGE = `npm run deploy -- [-c stage=NAME] [-c KEY=VALUE ...] [options of cdk deploy]

Deploys the stack, notes the deployment, and proves that the engine starts. Every key: docs/operate.md.`;
const OUTPUTS = 'dist/outputs.json';

/** Exit code of a program that writes to our own streams. */
function run(program: string, ...args: readonly string[]): number {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (error !== undefined) console.error(`${program} did not start: ${error.message}`);
  return status ?? 1;
}

/**
 * One script, not one and a `post…` beside it: npm runs none of those where `ignore-scripts` is set (npm, "ignore-scripts"), and
 * the next deployment would take itself for the first one.
 */
function deploy(options: readonly string[]): number {
  const deployed = run('cdk', 'deploy', '--outputs-file', OUTPUTS, ...options);
  if (deployed !== 0) return deployed;
  const recorded = run('tsx', 'bin/record-deployment.ts', OUTPUTS);
  return run('tsx', 'bin/prove-start.ts', OUTPUTS) || recorded;
}

const options = process.argv.slice(2);
// The help of cdk ends with 0, as a deployment does.
if (options.includes('--help')) console.log(USAGE);
else process.exitCode = deploy(options);
