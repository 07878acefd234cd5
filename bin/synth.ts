import { passOn } from './pass-on.ts';

// One script: npm gives what stands behind `--` to the last of several commands, and the stage would reach the report alone.
process.exitCode =
  passOn('cdk', 'synth', '--quiet', '-c', 'nag=true', ...process.argv.slice(2)) ||
  passOn('tsx', 'lib/report.ts');
