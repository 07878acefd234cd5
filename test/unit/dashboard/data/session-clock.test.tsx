/** @jest-environment jsdom */
import { TextDecoder } from 'node:util';
import { readToken, session, setSession, signInWithPassword } from '../../../../dashboard/data/session.ts';

const CONFIG = {
  kind: 'gotrue',
  url: 'https://id.example',
  api_key: '',
} as unknown as Parameters<typeof signInWithPassword>[0];
const MINUTE_MS = 60_000;
const LIFE_SECONDS = 3_600;

/** Time of the provider, and how far the clock of this browser is from it. */
let trueTime = Date.parse('2026-11-29T12:00:00Z');
let offByMs = 0;
let issued = 0;

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

beforeEach(() => {
  // A browser has it, and the page reads a token with it.
  Object.assign(globalThis, { TextDecoder });
  issued = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => trueTime + offByMs);
  globalThis.fetch = async () => {
    issued += 1;
    const iat = Math.floor(trueTime / 1000);
    const claims = { sub: 'ada', email: 'ada@example.org', iat, exp: iat + LIFE_SECONDS, nth: issued };
    const body = {
      access_token: `${encode({ alg: 'HS256' })}.${encode(claims)}.x`,
      refresh_token: `refresh-${issued}`,
      expires_in: LIFE_SECONDS,
    };
    return { ok: true, status: 200, json: async () => body } as Response;
  };
});
afterEach(() => jest.restoreAllMocks());

/**
 * `Date.now` is the clock of the computer, which may be wrong; the times in a token are of the provider's
 * (https://github.com/supabase/auth-js/issues/926).
 */
test.each([
  ['right', 0],
  ['twenty minutes behind', -20],
  ['an hour and a half ahead', 90],
])('with a clock that is %s, a token is renewed once, a minute before its end', async (_name, offBy) => {
  offByMs = offBy * MINUTE_MS;
  await signInWithPassword(CONFIG, 'ada@example.org', 'secret');
  const first = await readToken(CONFIG);
  trueTime += 58 * MINUTE_MS;
  expect([await readToken(CONFIG), issued]).toEqual([first, 1]);
  trueTime += 1.5 * MINUTE_MS;
  const second = await readToken(CONFIG);
  expect([second === first, issued]).toEqual([false, 2]);
  expect([await readToken(CONFIG), issued]).toEqual([second, 2]);
});

test('who signs out while the token is renewed stays signed out, and who signs in keeps their own session', async () => {
  const other = { token: 'bob', refreshToken: null, expiresAt: 0, email: 'bob@example.org', isAdmin: false };
  for (const next of [null, other]) {
    await signInWithPassword(CONFIG, 'ada@example.org', 'secret');
    trueTime += 59.5 * MINUTE_MS;
    const renewed = readToken(CONFIG);
    setSession(next);
    expect(await renewed).toBe(next?.token ?? null);
    expect(session.read()).toEqual(next);
  }
});
