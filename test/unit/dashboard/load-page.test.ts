import { readFileSync } from 'node:fs';
import { loadOrReload, type Tab } from '../../../dashboard/load-page.ts';

const gone = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module'));

function givenTab() {
  const kept = new Map<string, string>();
  const tab = {
    now: 1_000_000,
    reloads: 0,
    isServed: true,
    storage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    },
  };
  const reload = () => {
    tab.reloads += 1;
  };
  const used: Tab = {
    storage: tab.storage,
    now: () => tab.now,
    reload,
    isServed: async () => tab.isServed,
  };
  return { tab, used };
}

/** What it came to, or that it is still waited for. */
const endOf = (loading: Promise<unknown>) =>
  Promise.race([
    loading.catch((error: Error) => error.name),
    new Promise((told) => setImmediate(told, 'waits')),
  ]);

test('a tab that asks for a file of an earlier deployment starts anew once, and shows no error meanwhile', async () => {
  const { tab, used } = givenTab();
  expect(await endOf(loadOrReload(gone, used))).toBe('waits');
  expect(tab.reloads).toBe(1);
});

test('when starting anew did not help, the error is shown; a later deployment is helped again', async () => {
  const { tab, used } = givenTab();
  await endOf(loadOrReload(gone, used));
  tab.now += 59_000;
  expect(await endOf(loadOrReload(gone, used))).toBe('TypeError');
  expect(tab.reloads).toBe(1);
  tab.now += 2_000;
  expect(await endOf(loadOrReload(gone, used))).toBe('waits');
  expect(tab.reloads).toBe(2);
});

test('while the service is away the error is shown, and starting anew waits for a later try', async () => {
  const { tab, used } = givenTab();
  tab.isServed = false;
  expect(await endOf(loadOrReload(gone, used))).toBe('TypeError');
  expect(tab.reloads).toBe(0);
  tab.isServed = true;
  expect(await endOf(loadOrReload(gone, used))).toBe('waits');
});

test('what can be loaded is, and nothing starts anew', async () => {
  const { tab, used } = givenTab();
  expect(await endOf(loadOrReload(async () => 'page', used))).toBe('page');
  expect(tab.reloads).toBe(0);
});

test('every page that comes in a file of its own is loaded ahead by an open tab', () => {
  const source = readFileSync('dashboard/app.tsx', 'utf8');
  const imported = source.match(/import\('/g) ?? [];
  expect(imported.length).toBeGreaterThan(8);
  expect(source.match(/laterPage\(async \(\) => \(await import\('/g)).toHaveLength(imported.length);
  expect(readFileSync('dashboard/main.tsx', 'utf8')).toContain('loadAhead()');
});
