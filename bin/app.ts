import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { addNagChecks } from '../lib/nag.ts';
import { ServiceStack } from '../lib/service-stack.ts';
import { parseStageConfig } from '../lib/stage-config.ts';

const app = new App();
const config = parseStageConfig(app.node.getAllContext());
const stack = new ServiceStack(app, `Mergeyard-${config.stage}`, {
  config,
  bundlesDir: join(process.cwd(), 'dist'),
});
if (config.runNag) addNagChecks(app, stack);
app.synth();
