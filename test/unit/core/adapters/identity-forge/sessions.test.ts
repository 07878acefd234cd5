import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createForgeIdentity, createSessions } from '#core/adapters/identity-forge/sessions.ts';
import { Secret } from '#core/secret.ts';

const HOUR_MS = 3_600_000;
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'mergeyard-sessions-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('a session of the forge’s sign-in ends those of its person beside it, and itself goes on', async () => {
  const sessions = createSessions({ file: join(dir, 'sessions.json'), clock: { now: () => 0 } });
  const begin = async (login: string) => {
    const person = { tenantId: '3f2b8a1c-5d4e-4f60-8a7b-9c0d1e2f3a4b', login, email: null, isAdmin: true };
    return (await sessions.begin(person)).access_token;
  };
  const [mine, other, foreign] = [await begin('ada'), await begin('ada'), await begin('ben')];
  await sessions.end(mine, 'others');
  const isOpen = async (token: string) => (await sessions.readPerson(token)) !== null;
  expect([await isOpen(mine), await isOpen(other), await isOpen(foreign)]).toEqual([true, false, true]);
});

test('a session of the forge’s sign-in keeps its id and its beginning through a renewed token', async () => {
  let now = Date.UTC(2026, 0, 1);
  const begun = now;
  const sessions = createSessions({ file: join(dir, 'sessions.json'), clock: { now: () => now } });
  const identity = createForgeIdentity(sessions, async () => true);
  const person = {
    tenantId: '3f2b8a1c-5d4e-4f60-8a7b-9c0d1e2f3a4b',
    login: 'ada',
    email: null,
    isAdmin: true,
  };
  const first = await sessions.begin(person);
  const before = await identity.verify(new Secret(first.access_token));
  now += HOUR_MS;
  const renewed = await sessions.renew(first.refresh_token);
  const after = await identity.verify(new Secret(renewed?.access_token ?? ''));
  expect(before).toMatchObject({ kind: 'user', person: 'ada', session: { startedAt: begun } });
  expect(after).toEqual(before);
});
