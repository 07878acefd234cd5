import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { deployedFile, describeDeployment, findLosses, readDeployed } from '../lib/deployed.ts';
import { addNagChecks } from '../lib/nag.ts';
import { ServiceStack } from '../lib/service-stack.ts';
import { parseStageConfig, type StageConfig } from '../lib/stage-config.ts';
import { withStageFile } from '../lib/stage-file.ts';

const app = new App();

/** Files of the stages, and the records of what is deployed of each. */
const CONFIG_DIR = 'config';

/** The operator reads the fault in the configuration, and not the place in the code that found it. */
function readConfig(): {
  readonly config: StageConfig;
  readonly isFirst: boolean;
  readonly movesSecrets: boolean;
  readonly tellsCapitalsApart: boolean;
} {
  try {
    const config = parseStageConfig(withStageFile(app.node.getAllContext(), CONFIG_DIR));
    const before = readDeployed(CONFIG_DIR, config.stage);
    const losses = before === null ? [] : findLosses(before, describeDeployment(config));
    if (losses.length > 0) {
      const file = deployedFile(CONFIG_DIR, config.stage);
      throw new Error(
        `this would lose what is deployed\n  ${losses.join('\n  ')}\nIf that is meant, change ${file} first.`,
      );
    }
    return {
      config,
      isFirst: before === null,
      movesSecrets: before?.secretsIn === 'secrets-manager',
      tellsCapitalsApart: before?.ownUserPool === true && before.tellsCapitalsApart,
    };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

const { config, ...past } = readConfig();
const stack = new ServiceStack(app, `Mergeyard-${config.stage}`, {
  config,
  ...past,
  bundlesDir: join(process.cwd(), 'dist'),
});
if (config.runNag) addNagChecks(app, stack);
app.synth();
