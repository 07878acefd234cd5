import { createGoTrueIdentity } from '#core/adapters/identity-http/gotrue.ts';
import { Secret } from '#core/secret.ts';
import { makeToken, type ProviderScript, ScriptedProvider } from '../../../../support/scripted-provider.ts';

const NOW = Date.UTC(2026, 0, 1);
const ID = '3f2b8a1c-5d4e-4f60-8a7b-9c0d1e2f3a4b';
const provider = new ScriptedProvider();

beforeAll(() => provider.start());
afterAll(() => provider.stop());
beforeEach(() => {
  provider.requests.length = 0;
});

/** Short only where no answer comes: a busy machine must not make one of it. */
function patience(): number {
  return provider.script === 'silent' || provider.script === 'stalling' ? 100 : 20_000;
}

function open(apiKey = 'public-key', path = '') {
  return createGoTrueIdentity({
    baseUrl: `${provider.url}${path}`,
    apiKey,
    timeoutMs: patience(),
    clock: { now: () => NOW },
  });
}

const claims = (changes: Readonly<Record<string, unknown>> = {}) => ({
  sub: ID,
  exp: NOW / 1000 + 3600,
  ...changes,
});
const verify = (token = makeToken(claims())) => open().verify(new Secret(token));
const user = (more: Readonly<Record<string, unknown>> = {}): ProviderScript => ({
  status: 200,
  json: { id: ID, email: 'ada@example.org', ...more },
});

describe('the GoTrue adapter', () => {
  test('a session begins with its first way of authentication; without both facts none is told', async () => {
    provider.script = user();
    const session_id = 'c0ffee00-5d4e-4f60-8a7b-9c0d1e2f3a4b';
    const amr = [
      { method: 'totp', timestamp: NOW / 1000 - 30 },
      { method: 'password', timestamp: NOW / 1000 - 60 },
    ];
    const told = { session: { id: session_id, startedAt: NOW - 60_000 } };
    expect(await verify(makeToken(claims({ session_id, amr })))).toMatchObject(told);
    for (const unknown of [{}, { session_id }, { session_id, amr: ['password'] }, { session_id: 'x', amr }]) {
      expect(await verify(makeToken(claims(unknown)))).not.toHaveProperty('session');
    }
  });

  test('asks the contract’s address with the caller’s own token, once per use (A92)', async () => {
    provider.script = user();
    const identity = open('public-key', '/base/');
    const token = makeToken(claims());
    expect(await identity.verify(new Secret(token))).toEqual({ kind: 'user', id: ID, isAdmin: false });
    await identity.verify(new Secret(token));
    expect(provider.requests).toHaveLength(2);
    expect(provider.requests[0]).toMatchObject({
      method: 'GET',
      path: '/base/auth/v1/user',
      headers: { authorization: `Bearer ${token}`, apikey: 'public-key' },
    });
  });

  test('a session that is revoked stops working on the next use', async () => {
    provider.script = user();
    expect((await verify()).kind).toBe('user');
    provider.script = { status: 401, json: { code: 401, msg: 'session_not_found' } };
    expect(await verify()).toEqual({ kind: 'invalid' });
  });

  test.each<[string, Readonly<Record<string, unknown>>, boolean]>([
    ['app_metadata.role admin', { app_metadata: { role: 'admin' } }, true],
    ['another role', { app_metadata: { role: 'user' } }, false],
    ['a list with admin', { app_metadata: { role: ['admin'] } }, false],
    ['admin in other letters', { app_metadata: { role: 'Admin' } }, false],
    ['the metadata that users write', { user_metadata: { role: 'admin' } }, false],
    ['the top-level role', { role: 'admin' }, false],
    ['no metadata', { app_metadata: null }, false],
    ['roles in plural', { app_metadata: { roles: ['admin'] } }, false],
  ])('admin by %s: %j -> %s (A91)', async (_name, more, isAdmin) => {
    provider.script = user(more);
    expect(await verify()).toEqual({ kind: 'user', id: ID, isAdmin });
  });

  test.each<[string, unknown, readonly unknown[] | undefined, string | null]>([
    ['the second level', 'aal2', [{ status: 'verified' }], null],
    ['the third level', 'aal3', undefined, null],
    ['no level, of a provider that has none', undefined, undefined, null],
    ['the first level, with a factor', 'aal1', [{ status: 'verified' }], 'not_in_session'],
    [
      'the first level, with a factor that was never shown to work',
      'aal1',
      [{ status: 'unverified' }],
      'no_factor',
    ],
    ['the first level, without a factor', 'aal1', undefined, 'no_factor'],
    ['a level that is none', ['aal2'], [{ status: 'verified' }], 'not_in_session'],
    ['an empty level', '', [], 'no_factor'],
  ])('an administrator’s session of %s', async (_name, aal, factors, why) => {
    provider.script = user({
      app_metadata: { role: 'admin' },
      ...(factors === undefined ? {} : { factors }),
    });
    expect(await verify(makeToken(claims({ aal })))).toEqual({
      kind: 'user',
      id: ID,
      isAdmin: why === null,
      ...(why === null ? {} : { adminWithheld: why }),
    });
  });

  test('of a plain user no level is asked', async () => {
    provider.script = user();
    expect(await verify(makeToken(claims({ aal: 'aal1' })))).toEqual({
      kind: 'user',
      id: ID,
      isAdmin: false,
    });
  });

  test.each([400, 401, 403, 404])('a JSON %i is a verdict: invalid', async (status) => {
    provider.script = { status, json: { msg: 'invalid JWT' } };
    expect(await verify()).toEqual({ kind: 'invalid' });
  });

  test.each<[string, ProviderScript, number | null]>([
    ['500', { status: 500, json: { msg: 'x' } }, 500],
    ['502 page', { status: 502, text: '<html>bad gateway' }, 502],
    ['503', { status: 503, json: {} }, 503],
    ['429', { status: 429, json: { msg: 'slow down' } }, 429],
    ['a 401 page of a gateway', { status: 401, text: '<html>log in' }, 401],
    ['malformed JSON', { status: 200, text: '{"id":"' }, 200],
    ['an empty body', { status: 200, text: '' }, 200],
    ['no id', { status: 200, json: { email: 'x' } }, 200],
    ['an id that is none', { status: 200, json: { id: 'admin' } }, 200],
    ['a list', { status: 200, json: [{ id: ID }] }, 200],
    ['201', { status: 201, json: { id: ID } }, 201],
    ['a huge body', { status: 200, text: JSON.stringify({ id: ID, pad: 'x'.repeat(300_000) }) }, 200],
    ['a redirect', { status: 302, text: '', headers: { location: 'https://evil.example' } }, null],
    ['silence', 'silent', null],
    ['a body that never ends', 'stalling', null],
    ['a closed connection', 'reset', null],
  ])('%s is no verdict: unavailable (A89)', async (_name, script, status) => {
    provider.script = script;
    expect(await verify()).toEqual({ kind: 'unavailable', status });
  });

  test('no process listens: unavailable', async () => {
    const identity = createGoTrueIdentity({
      baseUrl: 'http://127.0.0.1:9',
      timeoutMs: 200,
      clock: { now: () => NOW },
    });
    expect(await identity.verify(new Secret(makeToken(claims())))).toEqual({
      kind: 'unavailable',
      status: null,
    });
    expect(await identity.isReachable()).toBe(false);
  });

  test.each<[string, string]>([
    ['empty', ''],
    ['no token of the form', 'junk'],
    ['two parts', 'a.b'],
    ['four parts', `${makeToken(claims())}.x`],
    ['alg none', makeToken(claims(), { alg: 'none' })],
    ['alg NONE', makeToken(claims(), { alg: 'NONE' })],
    ['no alg', makeToken(claims(), { typ: 'JWT' })],
    ['no expiry', makeToken({ sub: ID })],
    ['expired', makeToken(claims({ exp: NOW / 1000 - 10 }))],
    ['an expiry in words', makeToken(claims({ exp: 'tomorrow' }))],
    ['claims that are a list', `${makeToken({}).split('.')[0]}.${Buffer.from('[]').toString('base64url')}.x`],
    ['a megabyte', makeToken(claims({ pad: 'x'.repeat(1_000_000) }))],
    ['a line break', `${makeToken(claims())}\r\nX-Admin: 1`],
  ])('%s is junk, and the provider is not asked (D-40)', async (_name, token) => {
    provider.script = user();
    expect(await verify(token)).toEqual({ kind: 'invalid' });
    expect(provider.requests).toHaveLength(0);
  });

  test('expired a moment ago is for the provider to say: clocks differ', async () => {
    provider.script = { status: 401, json: {} };
    expect(await verify(makeToken(claims({ exp: NOW / 1000 - 1 })))).toEqual({ kind: 'invalid' });
    expect(provider.requests).toHaveLength(1);
  });

  test('without a key of the project none is sent', async () => {
    provider.script = user();
    await open('').verify(new Secret(makeToken(claims())));
    expect(provider.requests[0]?.headers.apikey).toBeUndefined();
  });

  test.each<[ProviderScript, boolean]>([
    [{ status: 200, json: { name: 'GoTrue' } }, true],
    [{ status: 500, json: {} }, false],
    ['silent', false],
  ])('reachable: %j -> %s', async (script, reachable) => {
    provider.script = script;
    expect(await open().isReachable()).toBe(reachable);
    expect(provider.requests[0]?.path).toBe('/auth/v1/health');
  });
});
