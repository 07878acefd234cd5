import { createCognitoIdentity } from '#core/adapters/identity-http/cognito.ts';
import { createGoTrueIdentity } from '#core/adapters/identity-http/gotrue.ts';
import type { IdentityPort } from '#core/ports/identity.ts';
import { Secret } from '#core/secret.ts';
import {
  makeSigningKey,
  makeToken,
  type ProviderScript,
  ScriptedProvider,
  type SigningKey,
} from '../../../../support/scripted-provider.ts';

const START = Date.UTC(2026, 0, 1);
const ID = '3f2b8a1c-5d4e-4f60-8a7b-9c0d1e2f3a4b';
const POOL = 'eu-west-1_Example';
const provider = new ScriptedProvider();
const own = makeSigningKey('one');
const next = makeSigningKey('two');
const foreign = makeSigningKey('one');
let now = START;

beforeAll(() => provider.start());
afterAll(() => provider.stop());
beforeEach(() => {
  now = START;
  provider.requests.length = 0;
  provider.keyRequests = 0;
  provider.keys = publish(own);
  provider.script = { status: 200, json: { id: ID, UserAttributes: [{ Name: 'sub', Value: ID }] } };
});

function publish(...keys: readonly SigningKey[]): ProviderScript {
  return { status: 200, json: { keys: keys.map((key) => key.published) } };
}

const clock = { now: () => now };
const KINDS: readonly (readonly [string, () => IdentityPort])[] = [
  ['GoTrue', () => createGoTrueIdentity({ baseUrl: provider.url, clock, timeoutMs: 20_000 })],
  [
    'Cognito',
    () =>
      createCognitoIdentity({
        endpoint: provider.url,
        userPoolId: POOL,
        clientId: 'client',
        clock,
        timeoutMs: 20_000,
      }),
  ],
];

const claims = (changes: Readonly<Record<string, unknown>> = {}) => ({
  sub: ID,
  exp: START / 1000 + 86_400,
  client_id: 'client',
  token_use: 'access',
  iss: `https://cognito-idp.eu-west-1.amazonaws.com/${POOL}`,
  ...changes,
});

describe.each(KINDS)('signatures of %s', (_name, open) => {
  const user = { kind: 'user', id: ID, isAdmin: false };

  test('a thousand forged tokens cost no call beside one for the keys', async () => {
    const identity = open();
    for (let nth = 0; nth < 1_000; nth += 1) {
      const forged = foreign.sign(claims({ jti: String(nth) }));
      expect(await identity.verify(new Secret(forged))).toEqual({ kind: 'invalid' });
    }
    expect([provider.requests.length, provider.keyRequests]).toEqual([0, 1]);
  });

  test('a right signature is not enough: the provider is asked each time, so that a revoked session ends', async () => {
    const identity = open();
    const token = new Secret(own.sign(claims()));
    expect([await identity.verify(token), await identity.verify(token)]).toEqual([user, user]);
    expect([provider.requests.length, provider.keyRequests]).toEqual([2, 1]);
    provider.script = { status: 400, json: { __type: 'NotAuthorizedException' } };
    expect(await identity.verify(token)).toEqual({ kind: 'invalid' });
  });

  test.each<[string, string]>([
    ['changed claims', tamper(own.sign(claims()))],
    ['an algorithm with a shared secret, where keys are published', makeToken(claims(), { alg: 'HS256' })],
    ['no signature to speak of', makeToken(claims(), { alg: 'ES256', kid: 'one' })],
    ['another algorithm than the key has', own.sign(claims(), { alg: 'RS256' })],
    ['a header that the page must understand and does not', own.sign(claims(), { crit: ['x'], x: 1 })],
  ])('%s: invalid, and the provider is not asked', async (_what, token) => {
    expect(await open().verify(new Secret(token))).toEqual({ kind: 'invalid' });
    expect(provider.requests).toHaveLength(0);
  });

  test('a key that is not known is looked for once in half a minute, so that a new one works and a made-up one is cheap', async () => {
    const identity = open();
    const token = new Secret(next.sign(claims()));
    expect(await identity.verify(token)).toEqual({ kind: 'invalid' });
    provider.keys = publish(own, next);
    expect(await identity.verify(token)).toEqual({ kind: 'invalid' });
    expect(provider.keyRequests).toBe(1);
    now += 30_001;
    expect(await identity.verify(token)).toEqual(user);
    expect(provider.keyRequests).toBe(2);
  });

  test('a key that the provider took back is not known any more after ten minutes', async () => {
    const identity = open();
    const token = new Secret(own.sign(claims()));
    expect(await identity.verify(token)).toEqual(user);
    provider.keys = publish(next);
    now += 600_001;
    expect(await identity.verify(token)).toEqual({ kind: 'invalid' });
  });

  test('a key that the provider took back is not known any more after a clock was set back', async () => {
    const identity = open();
    const token = new Secret(own.sign(claims()));
    expect(await identity.verify(token)).toEqual(user);
    provider.keys = publish(next);
    now -= 3_600_000;
    expect(await identity.verify(token)).toEqual({ kind: 'invalid' });
    expect(await identity.verify(new Secret(next.sign(claims())))).toEqual(user);
    expect(provider.keyRequests).toBe(2);
  });

  test.each<[string, ProviderScript]>([
    ['no such address', { status: 404, json: {} }],
    ['no keys', { status: 200, json: { keys: [] } }],
    ['keys that are shared secrets', { status: 200, json: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }],
    ['a fault', { status: 500, json: {} }],
    ['a page', { status: 200, text: '<html>' }],
    ['a key that is none', { status: 200, json: { keys: [{ kty: 'EC', kid: 'one', alg: 'ES256' }] } }],
  ])('%s where the keys should be: the provider judges the token, as without keys', async (_what, keys) => {
    provider.keys = keys;
    const identity = open();
    const token = new Secret(own.sign(claims()));
    expect([await identity.verify(token), await identity.verify(token)]).toEqual([user, user]);
    expect([provider.requests.length, provider.keyRequests]).toEqual([2, 1]);
  });
});

test('a deployment may say that its GoTrue still signs with a shared secret beside its published keys', async () => {
  const identity = createGoTrueIdentity({
    baseUrl: provider.url,
    clock,
    acceptsSharedSecret: true,
    timeoutMs: 20_000,
  });
  expect(await identity.verify(new Secret(makeToken(claims(), { alg: 'HS256' })))).toMatchObject({ id: ID });
  expect(await identity.verify(new Secret(foreign.sign(claims())))).toEqual({ kind: 'invalid' });
  expect(provider.requests).toHaveLength(1);
});

function tamper(token: string): string {
  const [header = '', , signature = ''] = token.split('.');
  const body = Buffer.from(JSON.stringify(claims({ 'cognito:groups': ['admin'] }))).toString('base64url');
  return `${header}.${body}.${signature}`;
}
