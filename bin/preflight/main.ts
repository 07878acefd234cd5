import { spawnSync } from 'node:child_process';
import { readCommandLine, refuseCall, runProgram } from '../../core/adapters/system/command-line.ts';
import { readDeployed } from '../../lib/deployed.ts';
import { parseStageConfig } from '../../lib/stage-config.ts';
import { withStageFile } from '../../lib/stage-file.ts';
import { findPlace, NEEDS_CREDENTIALS, renderResult, runChecks } from './account.ts';

const USAGE = `npm run preflight -- -c stage=prod [-c key=value …]

Looks, with your credentials and before anything is created, whether the deployment of this stage would succeed. Changes nothing.`;
const CONFIG_DIR = 'config';
const ANSWER_TIMEOUT_MS = 10_000;

/** 0: nothing stands in the way. 1: something does. 2: it could not look. */
async function main(): Promise<number> {
  const { values } = readCommandLine({ context: { type: 'string', short: 'c', multiple: true } }, USAGE);
  const pairs = (values.context ?? []).map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) refuseCall(USAGE);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  const config = parseStageConfig(withStageFile(Object.fromEntries(pairs), CONFIG_DIR));
  const found = await findPlace();
  if (found === null) {
    console.error(NEEDS_CREDENTIALS);
    return 2;
  }
  const { account, region, partition } = found;
  console.log(`stage ${config.stage}, account ${account}, region ${region}`);
  if (partition !== 'aws') {
    console.error(
      `partition ${partition}: only the commercial one is supported, because of the names of its services`,
    );
    return 1;
  }
  if (config.waf && region !== 'us-east-1') {
    console.error('waf=true makes its rules in us-east-1 alone: deploy there, or name rules with webAclArn');
    return 1;
  }
  const results = await runChecks({
    config,
    account,
    region,
    stackName: `Mergeyard-${config.stage}`,
    isFirst: readDeployed(CONFIG_DIR, config.stage) === null,
    runs: (program) =>
      spawnSync(program, ['version'], { stdio: 'ignore', timeout: ANSWER_TIMEOUT_MS }).status === 0,
  });
  for (const result of results) console.log(renderResult(result));
  const count = (level: string): number => results.filter(({ finding }) => finding.level === level).length;
  console.log(`${count('stop')} in the way, ${count('note')} to note, ${count('unknown')} not looked at`);
  return count('stop') > 0 ? 1 : 0;
}

runProgram(main, (error) => (error instanceof Error ? error.message : error), 2);
