import { passOn } from './pass-on.ts';

const USAGE = `npm run deploy -- [-c stage=NAME] [-c KEY=VALUE ...] [options of cdk deploy]

Deploys the stack, notes the deployment, and proves that the engine starts. Every key: docs/operate.md.`;
const OUTPUTS = 'dist/outputs.json';

/**
 * One script, not one and a `post…` beside it: npm runs none of those where `ignore-scripts` is set (npm, "ignore-scripts"), and
 * the next deployment would take itself for the first one.
 */
function deploy(options: readonly string[]): number {
  const deployed = passOn('cdk', 'deploy', '--outputs-file', OUTPUTS, ...options);
  if (deployed !== 0) return deployed;
  const recorded = passOn('tsx', 'bin/record-deployment.ts', OUTPUTS);
  return passOn('tsx', 'bin/prove-start.ts', OUTPUTS) || recorded;
}

const options = process.argv.slice(2);
// The help of cdk ends with 0, as a deployment does.
if (options.includes('--help')) console.log(USAGE);
else process.exitCode = deploy(options);
