import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import type { PullStoryView } from '#core/contracts/pulls/pull-story.ts';
import { PULL_CODE_NAMES, type PullCodeName } from '#core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { onboard, openRepo, sees, signIn } from './steps.ts';
import { type BrowserWorld, findChromium, openBrowserWorld } from './world.ts';

/**
 * `npm run pictures:codes`: what the author of a pull request sees for each code of the closed list, as pictures in
 * `docs/codes/` and the page `docs/codes.md`. The page of the pull request is the real one; the answer of the API is made for each
 * code from the table. Needs a chromium.
 */
const DOCS = resolve('docs');
const FOLDER = join(DOCS, 'codes');
const NARROW = { width: 760, height: 900 };
const NUMBER = 42;
/** The clock of the page stands still, so that a picture changes with what it shows alone. */
const SHOWN_AT = '2026-11-30T09:00:00.000Z';

const GROUPS = [
  ['author', 'The author has to act'],
  ['reviewer', 'A reviewer has to act'],
  ['operator', 'A maintainer of the repository has to act'],
  ['forge', 'The forge has to answer'],
  ['ci', 'The CI has to answer'],
  ['none', 'No party has to act'],
] as const;

async function main(): Promise<void> {
  const chromium = findChromium();
  if (chromium === null) {
    console.log('no pictures: no chromium on this machine; install one or set CHROMIUM_PATH');
    return;
  }
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const world = await openBrowserWorld(chromium);
  try {
    await take(world);
  } finally {
    await world.close();
  }
  writeFileSync(join(DOCS, 'codes.md'), writePage());
  console.log(`${PULL_CODE_NAMES.length} pictures in docs/codes`);
}

async function take(world: BrowserWorld): Promise<void> {
  const watched = await world.open({ viewport: NARROW, timezoneId: 'UTC' });
  await signIn(watched, world, 'Ada');
  await onboard(watched, world);
  const id = await openRepo(watched, 'storefront');
  let shown: PullCodeName = 'landed';
  await watched.page.route(`**/api/v1/user/repos/${id}/pulls/${NUMBER}`, (route) =>
    route.fulfill({ json: storyOf(id, shown) }),
  );
  await watched.page.clock.setFixedTime(SHOWN_AT);
  for (const code of PULL_CODE_NAMES) {
    shown = code;
    await shoot(watched.page, `${world.baseUrl}/repos/${id}/pulls/${NUMBER}`, code);
  }
}

async function shoot(page: Page, url: string, code: PullCodeName): Promise<void> {
  await page.goto(url);
  const standing = page.getByRole('region', { name: 'Where it stands' });
  await sees(standing);
  await standing.screenshot({ path: join(FOLDER, `${code}.png`) });
}

function storyOf(repoId: string, code: PullCodeName): PullStoryView {
  const { is, turn, fault, says, next } = PULL_CODES[code];
  return {
    repo_id: repoId,
    repo_slug: 'acme/storefront',
    number: NUMBER,
    in_queue: is === 'wait',
    title: 'Show the delivery date in the cart',
    now: { code, kind: is, turn, fault, words: says, next, since: SHOWN_AT, until: null },
    place: is === 'wait' ? 3 : null,
    batch: null,
    estimate: null,
    forecast: null,
    backports: [],
    history: [],
    attempts: [],
    receipts: [],
    settings_file: null,
  };
}

function writePage(): string {
  const parts = GROUPS.map(([turn, title]) => {
    const codes = PULL_CODE_NAMES.filter((code) => PULL_CODES[code].turn === turn);
    const pictures = codes.map(
      (code) => `### \`${code}\`\n\n![${PULL_CODES[code].says}](codes/${code}.png)\n`,
    );
    return [`## ${title}\n`, ...pictures].join('\n');
  });
  return [
    '# What the author sees\n',
    'The page of a pull request, for each way out of the queue and each wait. The words are those of the commit status too; [contract.md](contract.md) has the list as a table. `npm run pictures:codes` makes this page and its pictures.\n',
    ...parts,
  ].join('\n');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
