import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { Locator, Page } from 'playwright-core';
import type { BrowserWorld, WatchedPage } from './world.ts';
import { LONG_NAME, openPulls, REPOS } from './world.ts';

/** For events in other processes, in real time. */
export const SLOW_MS = 90_000;
const TRIES_MAX = 4;
const AXE_PATH = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Waits until it can be seen; the sentence says what a person would look for. */
export async function sees(where: Locator, within = SLOW_MS): Promise<void> {
  await where.first().waitFor({ state: 'visible', timeout: within });
}

export const heading = (page: Page, name: string | RegExp): Locator => page.getByRole('heading', { name });
const button = (page: Page | Locator, name: string | RegExp): Locator => page.getByRole('button', { name });

/** Presses again where a loaded machine answers with its gateway's time-out, as the page itself advises. */
async function insist(pressed: Locator, wanted: Locator): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    // Gone or busy: the first press is still on its way.
    await pressed.click({ timeout: 2_000 }).catch(() => undefined);
    try {
      return await sees(wanted, SLOW_MS / TRIES_MAX);
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
    }
  }
}

export async function signIn({ page }: WatchedPage, world: BrowserWorld, who: string): Promise<void> {
  await page.goto(`${world.baseUrl}/`);
  const account = button(page, `Sign in as ${who}`);
  await sees(button(page, 'Sign in as Ada'));
  if (!(await account.isVisible())) await page.getByText('Accounts in trouble', { exact: false }).click();
  await account.click();
}

/** The session goes from tab to tab: nothing of it is stored where a new tab could find it. */
export async function openSecondTab({ page }: WatchedPage, world: BrowserWorld): Promise<void> {
  const second = await page.context().newPage();
  try {
    await second.goto(`${world.baseUrl}/account`);
    await sees(heading(second, 'Account'));
    await second.goto(`${world.baseUrl}/nowhere`);
    await sees(button(second, 'Sign out'));
  } finally {
    await second.close();
  }
}

/** A box and what it is for are in one line, however long the words are. */
async function standsBeside(box: Locator, words: Locator): Promise<void> {
  const [one, other] = [await box.boundingBox(), await words.first().boundingBox()];
  assert.ok(
    one !== null && other !== null && one.x + one.width <= other.x,
    'the words stand below their box',
  );
}

/** Connect, pick three, merge: then gate, protection and webhook stand for each. */
export async function onboard({ page }: WatchedPage, world: BrowserWorld): Promise<void> {
  await sees(heading(page, 'Let the first pull request through'));
  await page.getByRole('link', { name: 'Begin' }).click();
  await button(page, 'Fill in its address and bot').click();
  await insist(button(page, /^Connect$/), page.getByRole('checkbox', { name: /acme\/storefront/ }));
  await standsBeside(page.getByRole('checkbox', { name: new RegExp(LONG_NAME) }), page.getByText(LONG_NAME));
  for (const name of REPOS) await page.getByRole('checkbox', { name: new RegExp(`acme/${name}`) }).check();
  await button(page, 'Add 3 repositories').click();
  await sees(page.getByText('3 repositories added.'), SLOW_MS);
  for (const name of REPOS) {
    const repo = page.getByRole('region', { name: `acme/${name}` });
    await sees(repo.getByText('Setup is open'), SLOW_MS);
    await world.controlOf(`acme/${name}`).mergeByHand(1);
    await button(repo, 'I merged it: verify the gate').click();
    // A probe whose run has not ended yet is looked at again, as a person would.
    const verified = repo.getByText('Verified', { exact: true });
    const again = button(repo, 'Look again');
    const deadline = performance.now() + SLOW_MS;
    while (!(await verified.isVisible()) && performance.now() < deadline) {
      if (await again.isEnabled({ timeout: 500 }).catch(() => false))
        await again.click({ timeout: 2_000 }).catch(() => undefined);
      await page.waitForTimeout(400);
    }
    await sees(verified);
    await sees(repo.getByText('Required'), SLOW_MS);
    await sees(repo.getByText(/^(Registered, none arrived yet|Delivers)$/));
  }
}

export async function openRepo({ page }: WatchedPage, name: string): Promise<string> {
  await page.getByRole('link', { name: 'Mergeyard, overview' }).click();
  await page
    .getByRole('link', { name: `acme/${name}` })
    .first()
    .click();
  await sees(heading(page, `acme/${name}`));
  return new URL(page.url()).pathname.split('/')[2] ?? '';
}

/** A batch of eight with one culprit, seen to split without a reload, until only the culprit is left out. */
export async function watchSplit(watched: WatchedPage, world: BrowserWorld): Promise<readonly number[]> {
  const { page } = watched;
  await openRepo(watched, 'storefront');
  await sees(
    page.getByText('The queue is clear').or(page.getByText(/has not looked at this repository yet|Unknown/)),
  );
  let loads = 0;
  page.on('load', () => {
    loads += 1;
  });
  const prs = await openPulls(world.controlOf('acme/storefront'));
  await button(page, 'Look at the forge now').click();
  const running = page.getByRole('region', { name: 'Running now' });
  await sees(running.getByRole('link', { name: /#\d+/ }), SLOW_MS);
  await running
    .getByRole('link', { name: /One batch|Split into/ })
    .first()
    .click();
  const tree = page.getByRole('tree');
  await sees(tree);
  await sees(tree.getByRole('treeitem', { name: /^Whole batch,.*Split/ }), SLOW_MS);
  await sees(tree.getByRole('treeitem', { name: /Bounced/ }), SLOW_MS);
  assert.equal(loads, 0, 'the page was reloaded');
  return prs;
}

/** From the queue: what blocks it, and why this one does not merge. */
export async function readBounce(watched: WatchedPage, prs: readonly number[]): Promise<void> {
  const { page } = watched;
  const bounced = prs[5];
  await sees(
    page.getByRole('row', {
      name: new RegExp(`#${bounced}.*Bounced.*fails with this pull request and passes without it`),
    }),
    SLOW_MS,
  );
  await page
    .getByRole('treeitem', { name: /Bounced/ })
    .first()
    .click();
  await sees(
    page
      .getByRole('region', { name: /^(?:Part|Whole batch)/ })
      .getByText('Confirmed: failed twice on the same tree'),
  );
  await sees(heading(page, 'Receipts'), SLOW_MS);
  await page
    .getByRole('navigation', { name: /Pages of/ })
    .getByRole('link', { name: 'Queue' })
    .click();
  const place = page
    .getByRole('list', { name: 'Pull requests that need a person' })
    .getByRole('listitem')
    .filter({ hasText: `#${bounced}` });
  await sees(
    place.getByText('The gate fails with this pull request and passes without it. Push a fix, or press', {
      exact: false,
    }),
    SLOW_MS,
  );
}

export async function changeSettings(watched: WatchedPage): Promise<void> {
  const { page } = watched;
  await page.getByRole('link', { name: 'Settings' }).click();
  const fanout = page.getByRole('slider', { name: /Gate runs at once/ });
  await fanout.focus();
  await fanout.press('End');
  await sees(page.getByText('Gate runs at once: 16'));
  await button(page, /^Save$/).click();
  await sees(page.getByText('Saved.'));
  await page.reload();
  await sees(page.getByText('up to 16 gate runs at once'));
  await button(page, 'Switch the queue off').click();
  const dialog = page.getByRole('dialog');
  await sees(dialog);
  await button(dialog, 'Switch it off').click();
  // It may be in the middle of a step; the page waits for that, and then asks to try again.
  await sees(heading(page, 'The queue is off').or(page.getByText('The queue is busy right now')));
  if (!(await heading(page, 'The queue is off').isVisible())) {
    await button(page, 'Switch the queue off').click();
    await button(dialog, 'Switch it off').click();
  }
  await sees(heading(page, 'The queue is off'));
  await page
    .getByRole('navigation', { name: /Pages of/ })
    .getByRole('link', { name: 'Queue' })
    .click();
  await sees(page.getByText('The queue is switched off.').first());
}

/** A larger plan, paid at the stand-in of the provider. */
export async function changePlan(watched: WatchedPage): Promise<void> {
  const { page } = watched;
  await page.getByRole('link', { name: 'Billing' }).click();
  await sees(heading(page, /Your plan/));
  await button(page, 'Change to Team').click();
  await button(page.getByRole('dialog'), 'Change the plan').click();
  await sees(page.getByText('You are on team now.'));
  await sees(heading(page, /Your plan: team/i));
}

/** Everything as a file, then everything gone, by typing the id. */
export async function leave(world: BrowserWorld): Promise<void> {
  const watched = await world.open();
  const { page } = watched;
  await signIn(watched, world, 'Ben');
  await page.getByRole('link', { name: 'Account' }).click();
  await sees(heading(page, 'Tenant id'));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    button(page, 'Download everything').click(),
  ]);
  const id = world.started.ready.tenants[1]?.id ?? '';
  assert.equal(download.suggestedFilename(), `mergeyard-${id}.json`);
  assert.ok(await button(page, 'The id does not match yet').isDisabled());
  await page.getByLabel('Type your tenant id to confirm').fill(id);
  await button(page, 'Delete everything').click();
  await sees(heading(page, 'Everything is deleted'));
  assert.deepEqual(watched.complaints, []);
  await watched.context.close();
}

export interface AxeFinding {
  readonly id: string;
  readonly impact: string;
  readonly where: string;
}

/** The findings of axe on the present page that are serious or worse. Run from outside: the policy lets no foreign script in. */
export async function findBarriers({ page, context }: WatchedPage): Promise<readonly AxeFinding[]> {
  const session = await context.newCDPSession(page);
  const { readFileSync } = await import('node:fs');
  const source = readFileSync(AXE_PATH, 'utf8');
  const evaluate = async (expression: string): Promise<unknown> => {
    const answer = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (answer.exceptionDetails !== undefined)
      throw new Error(answer.exceptionDetails.exception?.description ?? 'axe failed');
    return answer.result.value;
  };
  await evaluate(`${source};undefined`);
  const found = (await evaluate(
    `axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations
      .filter((each) => each.impact === 'serious' || each.impact === 'critical')
      .flatMap((each) => each.nodes.map((node) => ({ id: each.id, impact: each.impact, where: node.target.join(' ') + ' ' + node.html.slice(0, 120) }))))`,
  )) as AxeFinding[];
  await session.detach();
  return found;
}
