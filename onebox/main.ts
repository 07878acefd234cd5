import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createLog } from '#core/telemetry.ts';
import { readConfig } from './config.ts';
import { runMain } from './run-main.ts';
import { startOnebox } from './service.ts';

const USAGE = `npm run serve -- --config mergeyard.yml

Runs the whole service in this process. docs/onebox.md says what the file holds.`;

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { config: { type: 'string' }, site: { type: 'string' } } });
  if (values.config === undefined) {
    console.error(USAGE);
    return 2;
  }
  const log = createLog({ service: 'onebox' });
  // From the first moment: a signal that ends a start in between would leave its database behind.
  const isToStop = new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done());
  });
  const config = readConfig(values.config);
  // An image has the page already, and nothing to build it with.
  const siteDir = values.site === undefined ? join(config.data_dir, 'site') : resolve(values.site);
  if (values.site === undefined) {
    const { buildDashboard } = await import('../lib/bundle-dashboard.ts');
    await buildDashboard({ outDir: siteDir });
  }
  const onebox = await startOnebox({ config, siteDir, log, env: process.env });
  log.info('serving', { url: onebox.url, public_url: config.public_url });
  await isToStop;
  log.info('stopping');
  await onebox.stop();
  log.info('stopped');
  return 0;
}

runMain(main);
