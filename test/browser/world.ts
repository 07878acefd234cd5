import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { ForgeControl } from '../../local/forge/control.ts';
import { type Started, startEverything } from '../../local/start.ts';

const CHROMIUMS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
];

/** Path of a browser of this machine; null where there is none. */
export function findChromium(): string | null {
  return (
    [process.env.CHROMIUM_PATH ?? '', ...CHROMIUMS].find((path) => path !== '' && existsSync(path)) ?? null
  );
}

export interface BrowserWorld {
  readonly started: Started;
  readonly browser: Browser;
  readonly baseUrl: string;
  controlOf(slug: string): ForgeControl;
  /** A page of a fresh profile that notes what it must not say. */
  open(options?: Parameters<Browser['newContext']>[0]): Promise<WatchedPage>;
  close(): Promise<void>;
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the console and violations of the policy; answers of the service that were asked for are not among them. */
  readonly complaints: string[];
}

/** Repositories without a gate, as people have them before they come here. */
export const REPOS = ['storefront', 'warehouse', 'ledger'] as const;

/** As long a name as the forges take, without a place to break it. */
export const LONG_NAME = 'n'.repeat(100);

export async function openBrowserWorld(executablePath: string, gateDurationMs = 900): Promise<BrowserWorld> {
  const root = mkdtempSync(join(tmpdir(), 'mergeyard-browser-'));
  const started = await startEverything({
    port: 0,
    fresh: true,
    dataDir: join(root, 'data'),
    gateDurationMs,
    context: { rateFactor: '20' },
  });
  for (const name of REPOS) {
    await started.forge.createRepo({
      owner: 'acme',
      name,
      files: { 'README.md': `# ${name}\n` },
      collaborators: { dev: 'write', 'mq-bot': 'admin', owner: 'admin' },
    });
  }
  await started.forge.createRepo({
    owner: 'acme',
    name: LONG_NAME,
    files: { 'README.md': '# a long name\n' },
    collaborators: { 'mq-bot': 'admin' },
  });
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-prefers-reduced-motion'],
  });
  const close = async (): Promise<void> => {
    await browser.close();
    await started.stop();
    rmSync(root, { recursive: true, force: true });
  };
  // Ended from outside, it leaves no process behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().finally(() => process.exit(1)));
  return {
    close,
    started,
    browser,
    baseUrl: started.ready.dashboard_url,
    controlOf: (slug) => started.forge.controlFor(slug),
    open: async (options = {}) => {
      const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
      const page = await context.newPage();
      return { page, context, complaints: watch(page) };
    },
  };
}

function watch(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && !/content security policy|trusted/i.test(message.text())) return;
    // The browser itself notes each refused request; which of them were meant to be refused, the steps check by their words.
    if (/^Failed to load resource: the server responded with a status of \d{3}/.test(message.text())) return;
    complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  return complaints;
}

/** Titles that try to be more than text. */
export const NASTY_TITLES = {
  markup: '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script> price',
  bidi: 'Safe \u202egnp.exe\u202c \u2067right to left\u2069 \u200bcart',
  long: `Long ${'w'.repeat(9_990)}`,
} as const;

/** Eight pull requests, the sixth of which breaks the gate, three with nasty titles. */
export async function openPulls(control: ForgeControl, prefix = 'p'): Promise<readonly number[]> {
  const titles = [
    'Show the delivery date in the cart',
    NASTY_TITLES.markup,
    'Round prices to the cent',
    NASTY_TITLES.bidi,
    'Warn before the basket is emptied',
    'Rewrite the price parser',
    NASTY_TITLES.long,
    'Fewer queries on the front page',
  ];
  const numbers: number[] = [];
  for (const [index, title] of titles.entries()) {
    const branch = `${prefix}-${index + 1}`;
    const files = index === 5 ? { broken: 'yes\n' } : { [`src/${branch}.txt`]: `${branch}\n` };
    numbers.push(await control.openPullRequest({ branch, title, files }));
  }
  for (const pr of numbers) await control.schedule(pr, 'squash');
  return numbers;
}
