import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { meetErrors, showTexts } from './errors.ts';
import { drawLargeTree } from './large-tree.ts';
import {
  changePlan,
  changeSettings,
  findBarriers,
  leave,
  onboard,
  openSecondTab,
  readBounce,
  sees,
  signIn,
  watchSplit,
} from './steps.ts';
import { type BrowserWorld, findChromium, openBrowserWorld, type WatchedPage } from './world.ts';

/** Walks the dashboard as people do, by role and visible text, against the whole service on loopback. */
async function main(): Promise<number> {
  const chromium = findChromium();
  if (chromium === null) {
    console.log('browser tests skipped: no chromium on this machine; install one or set CHROMIUM_PATH');
    return 0;
  }
  const began = performance.now();
  const world = await openBrowserWorld(chromium);
  console.log(`world up after ${Math.round((performance.now() - began) / 1000)} s`);
  const tally = { passed: 0, failed: 0 };
  try {
    const watched = await world.open();
    const step = makeStep(tally, watched);
    let prs: readonly number[] = [];
    await step('sign in', async () => {
      await signIn(watched, world, 'Ada');
      await sees(watched.page.getByText(/^(Live|Every 30 s)\./));
    });
    await step('a link in a new tab needs no sign-in', () => openSecondTab(watched, world));
    await step('onboard three repositories', () => onboard(watched, world));
    await step('watch a batch split, live', async () => {
      prs = await watchSplit(watched, world);
    });
    await step('read why one was bounced', () => readBounce(watched, prs));
    await step('titles with markup, direction marks and 10,000 letters are text', () => showTexts(watched));
    await step('change fan-out, switch the queue off', () => changeSettings(watched));
    await step('every page is free of barriers', () => checkPages(watched, world));
    await step('a larger plan', () => changePlan(watched));
    await step('every error page says what to do', () => meetErrors(world));
    await step('a tree of 200 nodes', async () => {
      console.log(`     drawn in ${await drawLargeTree(world)} ms (goal 200 ms)`);
    });
    await step('export, and delete the account', () => leave(world));
    await step('no complaint of console or policy', async () => assert.deepEqual(watched.complaints, []));
  } finally {
    await world.close();
  }
  console.log(
    `browser: ${tally.passed} passed, ${tally.failed} failed in ${Math.round((performance.now() - began) / 1000)} s`,
  );
  return tally.failed === 0 ? 0 : 1;
}

function makeStep(tally: { passed: number; failed: number }, { page }: WatchedPage) {
  return async (name: string, run: () => Promise<void>): Promise<void> => {
    const began = performance.now();
    try {
      await run();
      tally.passed += 1;
      console.log(`ok   ${name} (${Math.round(performance.now() - began)} ms)`);
    } catch (error) {
      tally.failed += 1;
      const file = `/tmp/mergeyard-browser-${randomUUID().slice(0, 8)}.png`;
      await page.screenshot({ path: file, fullPage: true }).catch(() => undefined);
      console.log(
        `FAIL ${name}: ${error instanceof Error ? error.message : String(error)}\n     at ${page.url()}, picture ${file}`,
      );
    }
  };
}

async function checkPages(watched: WatchedPage, world: BrowserWorld): Promise<void> {
  const { page } = watched;
  const repo = new URL(page.url()).pathname.split('/')[2] ?? '';
  const found: unknown[] = [];
  const pages = [
    '/',
    '/start',
    `/repos/${repo}`,
    `/repos/${repo}/batches`,
    `/repos/${repo}/setup`,
    `/repos/${repo}/settings`,
    `/repos/${repo}/statistics`,
  ];
  for (const path of [...pages, '/statistics', '/connections', '/billing', '/account', '/nowhere']) {
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.goto(`${world.baseUrl}${path}`);
      await sees(page.getByRole('heading', { level: 1 }));
      await page.waitForLoadState('networkidle').catch(() => undefined);
      found.push(...(await findBarriers(watched)).map((each) => ({ path, scheme, ...each })));
    }
  }
  assert.deepEqual(found, []);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
