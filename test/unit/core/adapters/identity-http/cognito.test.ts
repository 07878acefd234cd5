import { createCognitoIdentity } from '#core/adapters/identity-http/cognito.ts';
import { Secret } from '#core/secret.ts';
import { makeToken, type ProviderScript, ScriptedProvider } from '../../../../support/scripted-provider.ts';

const NOW = Date.UTC(2026, 0, 1);
const ID = '3f2b8a1c-5d4e-4f60-8a7b-9c0d1e2f3a4b';
const POOL = 'eu-west-1_Example';
const CLIENT = 'client-1';
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

function open(clock: { now(): number } = { now: () => NOW }) {
  return createCognitoIdentity({
    endpoint: provider.url,
    userPoolId: POOL,
    clientId: CLIENT,
    timeoutMs: patience(),
    clock,
  });
}

const claims = (changes: Readonly<Record<string, unknown>> = {}) => ({
  sub: ID,
  exp: NOW / 1000 + 3600,
  client_id: CLIENT,
  token_use: 'access',
  iss: `https://cognito-idp.eu-west-1.amazonaws.com/${POOL}`,
  ...changes,
});
const verify = (changes: Readonly<Record<string, unknown>> = {}) =>
  open().verify(new Secret(makeToken(claims(changes))));
const user = (
  sub: string = ID,
  factors?: readonly string[],
  attributes: readonly { readonly Name: string; readonly Value: string }[] = [],
): ProviderScript => ({
  status: 200,
  json: {
    Username: 'ada',
    UserAttributes: [{ Name: 'email', Value: 'a@b.c' }, { Name: 'sub', Value: sub }, ...attributes],
    ...(factors === undefined ? {} : { UserMFASettingList: factors }),
  },
});
const refusal = (type: string): ProviderScript => ({ status: 400, json: { __type: type, message: 'x' } });

describe('the Cognito adapter', () => {
  test('a session is the sign-in that all its tokens come from; without it none is told', async () => {
    provider.script = user();
    const origin = 'c0ffee00-5d4e-4f60-8a7b-9c0d1e2f3a4b';
    const told = { session: { id: origin, startedAt: NOW - 60_000 } };
    expect(await verify({ origin_jti: origin, auth_time: NOW / 1000 - 60 })).toMatchObject(told);
    for (const unknown of [{}, { origin_jti: origin }, { origin_jti: 'x', auth_time: 5 }]) {
      expect(await verify(unknown)).not.toHaveProperty('session');
    }
  });

  test('asks GetUser with the caller’s own token, once per use (A92)', async () => {
    provider.script = user();
    const identity = open();
    const token = new Secret(makeToken(claims()));
    expect(await identity.verify(token)).toEqual({ kind: 'user', id: ID, isAdmin: false });
    await identity.verify(token);
    expect(provider.requests).toHaveLength(2);
    expect(provider.requests[0]).toMatchObject({
      method: 'POST',
      headers: {
        'x-amz-target': 'AWSCognitoIdentityProviderService.GetUser',
        'content-type': 'application/x-amz-json-1.1',
      },
    });
    expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual({ AccessToken: makeToken(claims()) });
    provider.script = refusal('NotAuthorizedException');
    expect(await identity.verify(token)).toEqual({ kind: 'invalid' });
  });

  /**
   * "For each user, you can make up to ten requests per second that are 'read' operations", a fixed quota, beside the
   * rate of all users of an account (https://docs.aws.amazon.com/cognito/latest/developerguide/quotas.html).
   */
  test('a session that asks without pause costs one call a second once Cognito has too many of it, and no other waits', async () => {
    let now = NOW;
    const identity = open({ now: () => now });
    const [one, other] = [0, 1].map((jti) => new Secret(makeToken(claims({ jti })))) as [
      Secret<string>,
      Secret<string>,
    ];
    provider.script = refusal('TooManyRequestsException');
    for (let nth = 0; nth < 50; nth += 1)
      expect(await identity.verify(one)).toEqual({ kind: 'unavailable', status: 400 });
    const asked = () => provider.requests.filter(({ method }) => method === 'POST').length;
    expect(asked()).toBe(1);
    provider.script = user();
    expect(await identity.verify(other)).toMatchObject({ kind: 'user' });
    now += 1_000;
    expect(await identity.verify(one)).toMatchObject({ kind: 'user' });
    expect(asked()).toBe(3);
  });

  test.each<[unknown, boolean]>([
    [['admin'], true],
    [['users', 'admin'], true],
    [['Admin'], false],
    [['administrators'], false],
    ['admin', false],
    [{ admin: true }, false],
    [undefined, false],
  ])('groups %j: admin %s (A91)', async (groups, isAdmin) => {
    provider.script = user(ID, ['SOFTWARE_TOKEN_MFA']);
    expect(await verify({ 'cognito:groups': groups })).toEqual({ kind: 'user', id: ID, isAdmin });
  });

  const APP = ['SOFTWARE_TOKEN_MFA'];
  const withheld = (why: string) => ({ kind: 'user', id: ID, isAdmin: false, adminWithheld: why });

  test.each([undefined, []])(
    'an administrator whose account has no second factor (%j) has no right of one, and is told so',
    async (factors) => {
      provider.script = user(ID, factors);
      for (const amr of [undefined, ['pwd'], ['hwk'], ['pwd', 'otp', 'mfa']])
        expect(await verify({ 'cognito:groups': ['admin'], amr })).toEqual(withheld('no_factor'));
    },
  );

  test.each<[string, unknown]>([
    ['a password alone', ['pwd']],
    ['a code by mail alone', ['email_otp']],
    ['another provider that says nothing', ['fed']],
    ['no method', []],
    ['text', 'mfa'],
    ['null', null],
    ['a list of something else', [{ method: 'mfa' }]],
  ])('an administrator’s session that began with %s has no right of one', async (_way, amr) => {
    provider.script = user(ID, APP);
    expect(await verify({ 'cognito:groups': ['admin'], amr })).toEqual(withheld('not_in_session'));
  });

  test.each<[string, unknown]>([
    ['a password and a code of the app', ['pwd', 'otp', 'mfa']],
    ['a passkey of the device', ['swk']],
    ['a passkey of a key', ['hwk']],
    ['tokens that do not tell, of a pool from before the claim', undefined],
  ])('an administrator’s session by %s has the rights of one', async (_way, amr) => {
    provider.script = user(ID, APP);
    expect(await verify({ 'cognito:groups': ['admin'], amr })).toEqual({
      kind: 'user',
      id: ID,
      isAdmin: true,
    });
  });

  test('of a plain user no second factor is asked, and nothing is said of one', async () => {
    provider.script = user(ID);
    expect(await verify({ amr: ['pwd'] })).toEqual({ kind: 'user', id: ID, isAdmin: false });
  });

  test('other claims of a role, and attributes that the user may write, do not count', async () => {
    provider.script = user(ID, APP, [
      { Name: 'custom:role', Value: 'admin' },
      { Name: 'cognito:groups', Value: '["admin"]' },
      { Name: 'profile', Value: 'admin' },
    ]);
    expect(
      await verify({ role: 'admin', 'custom:role': 'admin', app_metadata: { role: 'admin' } }),
    ).toMatchObject({
      isAdmin: false,
    });
  });

  test.each([
    'NotAuthorizedException',
    'com.amazonaws.cognito#NotAuthorizedException',
    'UserNotFoundException',
    'UserNotConfirmedException',
    'PasswordResetRequiredException',
  ])('%s, for a token that expired, was revoked or belongs to no user: invalid', async (type) => {
    provider.script = refusal(type);
    expect(await verify()).toEqual({ kind: 'invalid' });
  });

  test.each<[string, ProviderScript, number | null]>([
    ['throttling', refusal('TooManyRequestsException'), 400],
    ['a refusal of another kind', refusal('ResourceNotFoundException'), 400],
    ['500', { status: 500, json: { __type: 'InternalErrorException' } }, 500],
    ['503 page', { status: 503, text: '<html>' }, 503],
    ['malformed JSON', { status: 200, text: '{"UserAttributes":[' }, 200],
    ['no attributes', { status: 200, json: {} }, 200],
    ['no sub', { status: 200, json: { UserAttributes: [{ Name: 'email', Value: 'x' }] } }, 200],
    ['a sub that is no id', user('admin'), 200],
    ['a verdict with another status', { status: 403, json: { __type: 'NotAuthorizedException' } }, 403],
    ['another user than the token says', user('11111111-1111-4111-8111-111111111111'), 200],
    ['a redirect', { status: 302, text: '', headers: { location: 'https://evil.example' } }, null],
    ['silence', 'silent', null],
    ['a body that never ends', 'stalling', null],
    ['a closed connection', 'reset', null],
  ])('%s is no verdict: unavailable (A89)', async (_name, script, status) => {
    provider.script = script;
    expect(await verify()).toEqual({ kind: 'unavailable', status });
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['another pool', { iss: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Other' }],
    ['a pool whose name only ends alike', { iss: `https://cognito-idp.eu-west-1.amazonaws.com/x${POOL}` }],
    ['no issuer', { iss: undefined }],
    ['another client', { client_id: 'client-2' }],
    ['an identity token', { token_use: 'id' }],
    ['expired', { exp: NOW / 1000 - 60 }],
    ['no expiry', { exp: undefined }],
  ])('%s is junk, and the provider is not asked', async (_name, changes) => {
    provider.script = user();
    expect(await verify(changes)).toEqual({ kind: 'invalid' });
    expect(provider.requests).toHaveLength(0);
  });

  test.each<[ProviderScript, boolean]>([
    [refusal('NotAuthorizedException'), true],
    [{ status: 500, json: { __type: 'InternalErrorException' } }, false],
    [{ status: 200, text: '<html>another service' }, false],
    ['silent', false],
  ])('reachable: %j -> %s', async (script, reachable) => {
    provider.script = script;
    expect(await open().isReachable()).toBe(reachable);
  });
});
