import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { drawLargeTree } from './large-tree.ts';
import { onboard, openRepo, sees, signIn, watchSplit } from './steps.ts';
import { type BrowserWorld, findChromium, openBrowserWorld, openPulls, type WatchedPage } from './world.ts';

const OUT = resolve(process.argv[2] ?? '.mergeyard/screenshots');
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 860 };

/** Pictures of the main pages in light, dark and phone width, of a service in the middle of its work. */
async function main(): Promise<void> {
  const chromium = findChromium();
  if (chromium === null) {
    console.log('no screenshots: no chromium on this machine; install one or set CHROMIUM_PATH');
    return;
  }
  mkdirSync(OUT, { recursive: true });
  const world = await openBrowserWorld(chromium, 2_500);
  try {
    await take(world);
  } finally {
    await world.close();
  }
  console.log(`pictures in ${OUT}`);
}

async function take(world: BrowserWorld): Promise<void> {
  const visitor = await world.open({ viewport: DESK });
  await visitor.page.goto(world.baseUrl);
  await sees(visitor.page.getByRole('heading', { name: 'Sign in to Mergeyard' }));
  await shoot(visitor, 'sign-in');
  const watched = await world.open({ viewport: DESK });
  const { page } = watched;
  await signIn(watched, world, 'Ada');
  await sees(page.getByRole('heading', { name: 'Let the first pull request through' }));
  await shoot(watched, 'welcome');
  await page.getByRole('link', { name: 'Begin' }).click();
  await shoot(watched, 'start-connect');
  await page.getByRole('link', { name: 'Mergeyard, overview' }).click();
  await onboard(watched, world);
  await shoot(watched, 'start-merge');
  await watchSplit(watched, world);
  await page.waitForTimeout(6_000);
  await shoot(watched, 'batch');
  await page
    .getByRole('row', { name: /Bounced/ })
    .getByRole('link', { name: /^#\d+$/ })
    .click();
  await sees(page.getByRole('region', { name: 'Where it stands' }));
  await shoot(watched, 'pull-bounced');
  await waitingQueue(watched, world);
  await shoot(watched, 'queue');
  await page.getByRole('list', { name: 'Pull requests in order' }).getByRole('link').first().click();
  await sees(page.getByRole('region', { name: 'Where it stands' }));
  await shoot(watched, 'pull-staged');
  await page.goBack();
  for (const name of ['Settings', 'Setup'] as const) {
    await page
      .getByRole('navigation', { name: /Pages of/ })
      .getByRole('link', { name })
      .click();
    await shoot(watched, name.toLowerCase());
  }
  for (const [path, name] of [
    ['/', 'overview'],
    ['/statistics', 'statistics'],
    ['/connections', 'connections'],
    ['/billing', 'billing'],
    ['/account', 'account'],
    ['/admin/repos', 'forbidden'],
    ['/nowhere', 'not-found'],
  ] as const) {
    await page.goto(`${world.baseUrl}${path}`);
    await shoot(watched, name);
  }
  await drawLargeTree(world);
  await openRepo(watched, 'ledger');
  await page
    .getByRole('navigation', { name: /Pages of/ })
    .getByRole('link', { name: 'Batches' })
    .click();
  await shoot(watched, 'batches');
  await page
    .getByRole('row')
    .getByRole('link', { name: /#1, #2/ })
    .click();
  await shoot(watched, 'large-tree');
  const operator = await world.open({ viewport: DESK });
  await signIn(operator, world, 'the operator');
  await operator.page.getByRole('link', { name: 'Operator' }).click();
  await shoot(operator, 'operator');
}

/** A line of eight whose gate takes long, so that the picture shows it waiting. */
async function waitingQueue(watched: WatchedPage, world: BrowserWorld): Promise<void> {
  await openRepo(watched, 'warehouse');
  world.started.forge.knobs.gateDurationMs = 120_000;
  await openPulls(world.controlOf('acme/warehouse'), 'w');
  await watched.page.getByRole('button', { name: 'Look at the forge now' }).click();
  await sees(
    watched.page.getByRole('list', { name: 'Pull requests in order' }).getByText('In the batch').first(),
  );
}

async function shoot({ page }: WatchedPage, name: string): Promise<void> {
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined);
  await sees(page.getByRole('heading', { level: 1 }));
  for (const [look, scheme, size] of [
    ['light', 'light', DESK],
    ['dark', 'dark', DESK],
    ['phone', 'light', PHONE],
  ] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize(size);
    await page.waitForTimeout(120);
    await page.screenshot({ path: join(OUT, `${name}-${look}.png`), fullPage: true });
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(DESK);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
