import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { addNagChecks } from '../lib/nag.ts';
import { ServiceStack } from '../lib/service-stack.ts';
import { parseStageConfig, type StageConfig } from '../lib/stage-config.ts';

const app = new App();

/** What is wrong with the context is the operator's to read; where it was found is not. */
function readConfig(): StageConfig {
  try {
    return parseStageConfig(app.node.getAllContext());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}

const config = readConfig();
const stack = new ServiceStack(app, `Mergeyard-${config.stage}`, {
  config,
  bundlesDir: join(process.cwd(), 'dist'),
});
if (config.runNag) addNagChecks(app, stack);
app.synth();
