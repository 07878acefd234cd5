/** @jest-environment jsdom */
import type * as SessionModule from '../../../../dashboard/data/session.ts';
import type * as TabsModule from '../../../../dashboard/data/tabs.ts';

type Session = NonNullable<ReturnType<typeof SessionModule.session.read>>;
type Tab = typeof SessionModule & typeof TabsModule;

const HOUR_MS = 3_600_000;

/** Channels of all tabs of one browser; a message reaches every other one a moment later. */
const open = new Set<FakeChannel>();
class FakeChannel {
  #hear: ((event: { data: unknown }) => void) | null = null;
  constructor() {
    open.add(this);
  }
  addEventListener(_: string, hear: (event: { data: unknown }) => void): void {
    this.#hear = hear;
  }
  postMessage(data: unknown): void {
    for (const other of open) if (other !== this) setTimeout(() => other.#hear?.({ data }));
  }
}

function given(changes: Partial<Session> = {}): Session {
  const session = { token: 'one', refreshToken: 'refresh', expiresAt: Date.now() + HOUR_MS };
  return { ...session, email: 'ada@example.org', isAdmin: false, ...changes };
}

/** A tab with storage and modules of its own, which has asked the others. */
async function openTab(kept: Session | null = null): Promise<Tab> {
  sessionStorage.clear();
  if (kept !== null) sessionStorage.setItem('mergeyard.session', JSON.stringify(kept));
  let tab: Tab | undefined;
  jest.isolateModules(() => {
    tab = {
      ...(jest.requireActual('../../../../dashboard/data/session.ts') as typeof SessionModule),
      ...(jest.requireActual('../../../../dashboard/data/tabs.ts') as typeof TabsModule),
    };
  });
  if (tab === undefined) throw new Error('no tab');
  await tab.shareSession();
  return tab;
}

const settle = () => new Promise((done) => setTimeout(done, 20));

beforeEach(() => {
  open.clear();
  Object.assign(globalThis, { BroadcastChannel: FakeChannel });
});

test('a new tab has the session of one that is open', async () => {
  const session = given();
  await openTab(session);
  const link = await openTab();
  expect(link.session.read()).toEqual(session);
});

test('a first tab, and one beside a session that is over, has none', async () => {
  expect((await openTab()).session.read()).toBeNull();
  await openTab(given({ expiresAt: Date.now() - 1 }));
  expect((await openTab()).session.read()).toBeNull();
});

test('what one tab renews, the others use', async () => {
  const first = await openTab(given());
  const second = await openTab();
  first.setSession(given({ token: 'two', expiresAt: Date.now() + 2 * HOUR_MS }));
  await settle();
  expect(second.session.read()?.token).toBe('two');
});

test('a tab of another person, or of another account of the same one, keeps its own', async () => {
  const other = await openTab(given({ token: 'bob', email: 'bob@example.org' }));
  const tenants = { chosen: 'b', all: [] };
  const elsewhere = await openTab(given({ token: 'b', tenants }));
  const first = await openTab(given());
  first.setSession(given({ token: 'two', expiresAt: Date.now() + 2 * HOUR_MS }));
  await settle();
  expect([other.session.read()?.token, elsewhere.session.read()?.token]).toEqual(['bob', 'b']);
});

test('two people of whom no address is known keep their own', async () => {
  const other = await openTab(given({ token: 'other', email: null }));
  const first = await openTab(given({ email: null }));
  first.setSession(given({ token: 'two', email: null, expiresAt: Date.now() + 2 * HOUR_MS }));
  await settle();
  expect(other.session.read()?.token).toBe('other');
});

test('who signs out in one tab is out in all that share the session, and in no other', async () => {
  const first = await openTab(given());
  const second = await openTab();
  const other = await openTab(given({ token: 'bob', email: 'bob@example.org' }));
  first.setSession(null);
  await settle();
  expect([second.session.read(), other.session.read()?.token]).toEqual([null, 'bob']);
  expect(second.endedAt.read()).toBeNull();
});

test('a session that the service ended says when, until the person signs in again', async () => {
  const tab = await openTab(given());
  tab.expireSession();
  expect(tab.session.read()).toBeNull();
  expect(tab.endedAt.read()).toBeGreaterThan(Date.now() - 1_000);
  tab.setSession(given({ token: 'two' }));
  expect(tab.endedAt.read()).toBeNull();
});

test('a sign-out that crosses the renewal of another tab ends both', async () => {
  const first = await openTab(given());
  const second = await openTab();
  first.setSession(null);
  second.setSession(given({ token: 'two', expiresAt: Date.now() + 2 * HOUR_MS }));
  await settle();
  expect([first.session.read(), second.session.read()]).toEqual([null, null]);
});

test('after a sign-out that crosses the sign-in of another person in another tab that person stays', async () => {
  const first = await openTab(given());
  const second = await openTab();
  first.setSession(null);
  second.setSession(given({ token: 'bob', email: 'bob@example.org' }));
  await settle();
  expect(second.session.read()?.token).toBe('bob');
});
