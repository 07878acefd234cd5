import { resolve } from 'node:path';
import { readCommandLine, refuseCall } from '#core/adapters/system/command-line.ts';
import { createLog } from '#core/telemetry.ts';
import { readConfig } from './config.ts';
import { createLineWriter } from './line-writer.ts';
import { awaitStart, buildOwnPage, type OwnPage, runMain } from './run-main.ts';
import { startOnebox } from './service.ts';

const USAGE = `npm run serve -- --config config/mergeyard.yml

Runs the whole service in this process. docs/onebox.md says what the file holds.`;

/** How long a start may go on after a signal, in ms; less than a supervisor grants before it kills. */
const START_ENDS_WITHIN_MS = 10_000;

async function main(): Promise<number> {
  const { values } = readCommandLine({ config: { type: 'string' }, site: { type: 'string' } }, USAGE);
  if (values.config === undefined) refuseCall(USAGE);
  const log = createLog({ service: 'onebox', write: createLineWriter() });
  process.stderr.on('error', () => undefined);
  // From the first moment: a signal that ends a start in between would leave its database behind.
  const isToStop = new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done());
  });
  const config = readConfig(values.config);
  // An image has the page already, and nothing to build it with.
  const page = values.site === undefined ? await buildPage() : null;
  const siteDir = page?.dir ?? resolve(values.site ?? '');
  const starting = startOnebox({ config, siteDir, log, env: process.env }).finally(() => page?.remove());
  const onebox = await awaitStart(starting, isToStop, START_ENDS_WITHIN_MS);
  if (onebox === null) {
    page?.remove();
    console.error('The start did not end within 10 s of the signal, and is given up.');
    process.exit(1);
  }
  log.info('serving', { url: onebox.url, public_url: config.public_url });
  const broken = await Promise.race([isToStop, onebox.whenBroken]);
  if (broken !== undefined) log.error('ending: it cannot serve any more', { reason: broken });
  else log.info('stopping');
  await onebox.stop();
  log.info('stopped');
  return broken === undefined ? 0 : 1;
}

async function buildPage(): Promise<OwnPage> {
  const { buildDashboard } = await import('../lib/bundle-dashboard.ts');
  return buildOwnPage(buildDashboard);
}

runMain(main);
