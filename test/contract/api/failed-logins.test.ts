import type { RouteSpec } from '#core/contracts/routes/route-spec.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import { RATE_LIMITS } from '#core/domain/api-limits.ts';
import { CONTAINER_AUTH_WINDOW_MS } from '#core/domain/limits.ts';
import { type ContainerCall, signContainerCall } from '#core/http/container-auth.ts';
import { Secret } from '#core/secret.ts';
import {
  ADMIN_KEY,
  ApiWorld,
  CONTAINER_SECRET,
  TENANT_A,
  TOKEN_A,
  TOKEN_B,
} from '../../support/api-world.ts';

const REPOS = '/api/v1/user/repos';
/** D-52: calls without a session, per address. */
const PER_MINUTE = 120;

let world: ApiWorld;

beforeEach(() => {
  world = new ApiWorld();
});

describe('refused credentials are limited by address (D-52)', () => {
  const guess = (nth: number, ip?: string) =>
    world.call('GET', REPOS, { token: `guess.${nth}.x`, ...(ip === undefined ? {} : { ip }) });

  test('the refusal stays 401 until the address had its share; then 429, and the provider is not asked any more', async () => {
    for (let nth = 0; nth < PER_MINUTE; nth += 1) expect((await guess(nth)).code).toBe('invalid_token');
    const over = await guess(PER_MINUTE);
    expect([over.status, over.code, over.json.error.retryable]).toEqual([429, 'rate_limited', true]);
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
    const { asked } = world.identity;
    for (let nth = 0; nth < 20; nth += 1) expect((await guess(nth)).code).toBe('rate_limited');
    expect(world.identity.asked).toBe(asked);
  });

  test('another address is not concerned, and time heals', async () => {
    for (let nth = 0; nth <= PER_MINUTE; nth += 1) await guess(nth);
    expect((await guess(0, '203.0.113.9')).code).toBe('invalid_token');
    expect((await world.call('GET', REPOS, { token: TOKEN_A, ip: '203.0.113.9' })).status).toBe(200);
    await world.clock.advance(60_000);
    expect((await guess(0)).code).toBe('invalid_token');
    expect((await world.call('GET', REPOS, { token: TOKEN_A })).status).toBe(200);
  });

  test.each<[string, string, string, object]>([
    ['no credential', REPOS, 'missing_auth', {}],
    ['a credential of another kind', REPOS, 'unauthorized', { headers: { authorization: 'Basic eDp5' } }],
    ['a wrong admin key', '/api/v1/admin/stats', 'invalid_key', { headers: { 'x-admin-key': 'wrong' } }],
    ['no session on /me', '/api/v1/me', 'not_authenticated', {}],
  ])('%s counts as well', async (_name, path, code, options) => {
    for (let nth = 0; nth < PER_MINUTE; nth += 1)
      expect((await world.call('GET', path, options)).code).toBe(code);
    expect((await world.call('GET', path, options)).code).toBe('rate_limited');
  });

  test('sessions do not count, nor rights that are missing, nor a silent provider', async () => {
    await world.enroll(TENANT_A);
    for (let nth = 0; nth < PER_MINUTE; nth += 1) {
      await world.clock.advance(100);
      expect((await world.call('GET', '/api/v1/admin/stats', { token: TOKEN_A })).code).toBe('forbidden');
    }
    world.identity.available = false;
    for (let nth = 0; nth <= PER_MINUTE; nth += 1) {
      expect((await world.call('GET', REPOS, { token: TOKEN_A })).code).toBe('auth_unavailable');
    }
    world.identity.available = true;
    expect((await guess(0)).code).toBe('invalid_token');
  });

  test('a limiter that cannot count lets the refusal stand', async () => {
    world.store.beforeCall = (label) => {
      if (label === 'takeToken') throw new Error('no answer');
    };
    for (let nth = 0; nth <= PER_MINUTE; nth += 1) expect((await guess(nth)).code).toBe('invalid_token');
  });
});

describe('calls that hold a function while a forge is slow', () => {
  /** They write a row, and wake the engine or seal a secret; no forge is asked. */
  const ASK_NO_FORGE: readonly string[] = [
    'pauseRepo',
    'drainRepo',
    'resumeRepo',
    'setNoticeWebhook',
    'removeNoticeWebhook',
  ];

  test.each(
    ROUTES.filter(
      ({ auth, surface, id }) =>
        auth === 'bearer' && ['forge-ops', 'connections'].includes(surface) && !ASK_NO_FORGE.includes(id),
    ).map((route: RouteSpec) => [route.id, route.rate] as const),
  )('%s has a share of its own: one tenant with a slow forge must not hold all functions', (_id, rate) => {
    expect(rate).toBeDefined();
    expect(rate === undefined ? 0 : RATE_LIMITS[rate].burst).toBeLessThanOrEqual(60);
  });

  test('past that share the forge is not asked, and the other repositories of the tenant have theirs', async () => {
    const [one, two] = [await world.enroll(TENANT_A), await world.enroll(TENANT_A, { slug: 'acme/two' })];
    const provision = async (id: string) =>
      (await world.call('POST', `${REPOS}/${id}/provision`, { token: TOKEN_A })).code;
    const codes = [];
    for (let nth = 0; nth <= RATE_LIMITS.provision.burst; nth += 1) codes.push(await provision(one.repo.id));
    expect(codes.indexOf('rate_limited')).toBe(RATE_LIMITS.provision.burst);
    expect(await provision(two.repo.id)).not.toBe('rate_limited');
  });
});

describe('a session that asks without pause', () => {
  const BURST = RATE_LIMITS.user.burst;
  const flood = async (path: string, token = TOKEN_A) => {
    const codes = new Map<string | undefined, number>();
    for (let nth = 0; nth < 3 * BURST; nth += 1) {
      const { code } = await world.call('GET', path, { token });
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    return codes;
  };

  test('costs no call to the identity provider once its share is used up, until it has a share again', async () => {
    expect((await flood(REPOS)).get('rate_limited')).toBe(2 * BURST);
    expect(world.identity.asked).toBe(BURST + 1);
    expect((await world.call('GET', REPOS, { token: TOKEN_B })).status).toBe(200);
    await world.clock.advance(1_000);
    expect((await world.call('GET', REPOS, { token: TOKEN_A })).status).toBe(200);
  });

  test('uses up the share of its person alone where several share the tenant', async () => {
    const ann = world.identity.signIn('session.of-ann', TENANT_A, false, undefined, 'ann');
    const bob = world.identity.signIn('session.of-bob', TENANT_A, false, undefined, 'bob');
    expect((await flood(REPOS, ann)).get('rate_limited')).toBe(2 * BURST);
    expect((await world.call('GET', REPOS, { token: bob })).status).toBe(200);
    const again = world.identity.signIn('another-session.of-ann', TENANT_A, false, undefined, 'ann');
    expect((await world.call('GET', REPOS, { token: again })).code).toBe('rate_limited');
  });

  test('has no more refusals of an administrator’s route than other answers', async () => {
    expect(await flood('/api/v1/admin/stats')).toEqual(
      new Map([
        ['forbidden', BURST],
        ['rate_limited', 2 * BURST],
      ]),
    );
    expect(world.identity.asked).toBe(BURST + 1);
  });

  test('with a share of one expensive call used up, has its other calls', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const reconcile = () => world.call('POST', `${REPOS}/${repo.id}/reconcile`, { token: TOKEN_A });
    const codes = [];
    for (let nth = 0; nth <= RATE_LIMITS.reconcile.burst; nth += 1) codes.push((await reconcile()).code);
    expect(codes.at(-1)).toBe('rate_limited');
    expect((await world.call('GET', REPOS, { token: TOKEN_A })).status).toBe(200);
  });
});

describe('the private health check (D-74)', () => {
  const path = '/api/v1/healthz';
  const sign = (call: Partial<ContainerCall> = {}, secret = CONTAINER_SECRET, at = world.clock.now()) =>
    signContainerCall(
      new Secret(secret),
      { method: 'GET', path, body: new Uint8Array(), ...call },
      { fence: 0, command: 'reconcile' },
      at,
    );
  const check = (headers: Readonly<Record<string, string>> = {}) => world.call('GET', path, { headers });

  test('answers an administrator and the container’s side', async () => {
    for (const headers of [{ 'x-admin-key': ADMIN_KEY }, { 'x-container-auth': sign() }]) {
      expect(await check(headers)).toMatchObject({ status: 200, json: { ok: true } });
    }
  });

  test.each<[string, () => string]>([
    ['nothing', () => ''],
    ['junk', () => 'v1.x'],
    ['another secret', () => sign({}, 'guess')],
    ['a stamp of another path', () => sign({ path: '/internal/reconcile' })],
    ['a stamp of another method', () => sign({ method: 'POST' })],
    ['a stamp of another body', () => sign({ body: Buffer.from('{}') })],
    ['an old stamp', () => sign({}, CONTAINER_SECRET, world.clock.now() - CONTAINER_AUTH_WINDOW_MS - 1_000)],
    [
      'a stamp of the future',
      () => sign({}, CONTAINER_SECRET, world.clock.now() + CONTAINER_AUTH_WINDOW_MS + 1_000),
    ],
  ])('%s is 401', async (_name, header) => {
    expect(await check({ 'x-container-auth': header() })).toMatchObject({
      status: 401,
      code: 'missing_auth',
    });
  });

  test('without a secret of the deployment nothing is accepted', async () => {
    world.containerSecret = '';
    expect((await check({ 'x-container-auth': sign({}, '') })).status).toBe(401);
  });

  test('a stamp opens no other operator route', async () => {
    const headers = { 'x-container-auth': sign({ path: '/api/v1/admin/stats' }) };
    expect((await world.call('GET', '/api/v1/admin/stats', { headers })).code).toBe('missing_auth');
  });
});
