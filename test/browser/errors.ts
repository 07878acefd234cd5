import assert from 'node:assert/strict';
import { openRepo, sees, signIn } from './steps.ts';
import { type BrowserWorld, NASTY_TITLES, type WatchedPage } from './world.ts';

/** Words of a stranger stand there as text: nothing ran, nothing turned around, nothing burst the page (A117). */
export async function showTexts(watched: WatchedPage): Promise<void> {
  const { page } = watched;
  const repo = new URL(page.url()).pathname.split('/')[2] ?? '';
  await page.goto(new URL(`/repos/${repo}`, page.url()).href);
  const last = page.getByRole('heading', { name: 'Newest events' });
  await sees(last);
  await sees(page.getByText('<img src=x onerror=', { exact: false }));
  const text = (await page.locator('main').textContent()) ?? '';
  assert.ok(
    text.includes('<script>document.title="owned"</script>'),
    'markup is not shown as it was written',
  );
  assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b]/.test(text), 'a direction mark came through');
  assert.ok(text.includes('w'.repeat(60)) && !text.includes('w'.repeat(400)), 'the long title is not cut');
  assert.ok(NASTY_TITLES.long.length > 9_990);
  assert.match(await page.title(), /Mergeyard$/);
  assert.equal(await page.locator('main script, main img').count(), 0);
  const tooWide = await page.evaluate<number>(OVERFLOW);
  assert.ok(tooWide <= 0, `the page is ${tooWide} px too wide`);
}

/** Pixels that the page is wider than its window. */
export const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Each error is reached as a person can reach it: by an address, an account, a name (local/README.md). */
export async function meetErrors(world: BrowserWorld): Promise<void> {
  const cases: readonly (readonly [string, string, string, string | null])[] = [
    ['Ada', '/nowhere', 'No such page', null],
    ['Ada', '/repos/00000000-0000-4000-8000-000000000000', 'This repository was not found', null],
    ['Ada', '/admin/repos', 'This is for operators', 'forbidden'],
    ['a person whose session cannot be checked', '/', 'Sign-in could not be checked', 'auth_unavailable'],
    ['a person whose session ends at once', '/', 'Sign in to Mergeyard', null],
  ];
  for (const [who, path, title, code] of cases) {
    const watched = await world.open();
    const { page } = watched;
    await signIn(watched, world, who);
    await page.waitForTimeout(300);
    await page.goto(`${world.baseUrl}${path}`);
    await sees(page.getByRole('heading', { name: title }));
    if (code !== null) await sees(page.getByText(code, { exact: true }));
    assert.deepEqual(watched.complaints, []);
    await watched.context.close();
  }
  await meetLateCallback(world);
  await meetRefusedToken(world);
  await meetBrokenRepos(world);
  await meetSilentForge(world);
  await meetOperator(world);
  await meetOutage(world);
}

async function meetLateCallback(world: BrowserWorld): Promise<void> {
  const watched = await world.open();
  await watched.page.goto(`${world.baseUrl}/sign-in/callback#nothing=1`);
  await sees(watched.page.getByRole('heading', { name: 'You were not signed in' }));
  await watched.context.close();
}

async function meetRefusedToken(world: BrowserWorld): Promise<void> {
  const watched = await world.open();
  const { page } = watched;
  await signIn(watched, world, 'Ben');
  await page.getByRole('link', { name: 'Begin' }).click();
  await page.getByLabel('Forge address').fill(world.started.ready.forge_url);
  await page.getByLabel('Bot login').fill('beta-bot');
  await page.getByLabel('Access token of the bot').fill('f'.repeat(40));
  await page.getByRole('button', { name: /^Connect$/ }).click();
  await sees(page.getByText('The forge refused the bot'));
  await page.getByLabel('Forge address').fill('https://169.254.169.254');
  await page.getByRole('button', { name: /^Connect$/ }).click();
  await sees(
    page
      .getByText('This is not an address that can be used', { exact: false })
      .or(page.getByText('The forge did not answer')),
  );
  await watched.context.close();
}

/** A repository whose name makes the local forge refuse: what is missing is said with its fix. */
async function meetBrokenRepos(world: BrowserWorld): Promise<void> {
  await world.started.forge.createRepo({
    owner: 'acme',
    name: 'sentinel-no-admin',
    files: { 'README.md': '# x\n' },
    collaborators: { dev: 'write', 'mq-bot': 'admin', owner: 'admin' },
  });
  const watched = await world.open();
  const { page } = watched;
  await signIn(watched, world, 'Ada');
  await sees(page.getByRole('link', { name: 'acme/storefront' }));
  await page.goto(`${world.baseUrl}/start`);
  await page.getByRole('checkbox', { name: /sentinel-no-admin/ }).check();
  await page.getByRole('button', { name: /^Add 1 repositor/ }).click();
  await sees(page.getByText(/^1 repositor(y|ies) added/));
  await openRepo(watched, 'sentinel-no-admin');
  await page
    .getByRole('navigation', { name: /Pages of/ })
    .getByRole('link', { name: 'Setup' })
    .click();
  await sees(page.getByText('Needs an administrator').first());
  await sees(page.getByText('Make it an administrator of the repository', { exact: false }));
  await watched.context.close();
}

/** A repository that was added and whose forge is away later: the setup page says so, and that nothing is lost. */
async function meetSilentForge(world: BrowserWorld): Promise<void> {
  const { knobs } = world.started.forge;
  const { fault } = knobs;
  const watched = await world.open();
  const { page } = watched;
  await signIn(watched, world, 'Ada');
  await sees(page.getByRole('link', { name: 'acme/sentinel-no-admin' }));
  await openRepo(watched, 'sentinel-no-admin');
  await page
    .getByRole('navigation', { name: /Pages of/ })
    .getByRole('link', { name: 'Setup' })
    .click();
  knobs.fault = (call) => (call.path.includes('/sentinel-no-admin') ? { status: 503 } : fault(call));
  try {
    await page.getByRole('button', { name: 'Try again' }).last().click();
    await sees(page.getByText('The forge did not answer').first());
  } finally {
    knobs.fault = fault;
  }
  await watched.context.close();
}

async function meetOperator(world: BrowserWorld): Promise<void> {
  const watched = await world.open();
  const { page } = watched;
  await signIn(watched, world, 'the operator');
  await page.getByRole('link', { name: 'Operator' }).click();
  await page.getByRole('searchbox', { name: 'Search repositories by name' }).fill('STORE');
  await sees(page.getByText('1 repository', { exact: true }));
  await page.getByRole('link', { name: 'Credentials' }).click();
  await sees(page.getByText('v3, current'));
  assert.deepEqual(watched.complaints, []);
  await watched.context.close();
}

/** The service goes away under an open page, and comes back. */
async function meetOutage(world: BrowserWorld): Promise<void> {
  const watched = await world.open();
  const { page, context } = watched;
  await signIn(watched, world, 'Ada');
  await sees(page.getByRole('link', { name: 'acme/storefront' }));
  await context.setOffline(true);
  await page.getByRole('link', { name: 'Billing' }).click();
  await sees(
    page.getByText(/The service cannot be reached|This page failed/).or(page.getByText('Reading your plan…')),
  );
  await context.setOffline(false);
  await page.reload();
  await sees(page.getByRole('heading', { name: 'Plans' }));
  await context.close();
}
