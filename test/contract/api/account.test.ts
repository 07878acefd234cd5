import { randomUUID } from 'node:crypto';
import type { SocketSender } from '#core/ports/realtime.ts';
import { StoreError } from '#core/ports/store.ts';
import { endSockets } from '#core/services/realtime/realtime.ts';
import { createLog } from '#core/telemetry.ts';
import {
  ApiWorld,
  FORGE_TOKEN,
  HOOK_SECRET,
  TENANT_A,
  TENANT_B,
  TOKEN_A,
  TOKEN_B,
} from '../../support/api-world.ts';

const DAY_MS = 86_400_000;

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;

beforeEach(() => {
  world = new ApiWorld();
  a = world.as(TOKEN_A);
});

describe('the caller’s identity', () => {
  test.each([
    [{}, 'missing_auth'],
    [{ authorization: '' }, 'missing_auth'],
    [{ authorization: 'Basic eDp5' }, 'unauthorized'],
    [{ authorization: 'Bearer' }, 'unauthorized'],
    [{ authorization: 'Bearer a b' }, 'unauthorized'],
    [{ authorization: 'Bearer no-such-user' }, 'invalid_token'],
    [{ 'x-api-key': TOKEN_A }, 'missing_auth'],
    [{ 'x-admin-key': 'canary-admin-key-5f2e8a7c' }, 'missing_auth'],
  ])('%j on a Bearer route is 401 %s', async (headers, code) => {
    const answer = await world.call('GET', '/api/v1/connections', { headers });
    expect([answer.status, answer.code]).toEqual([401, code]);
    const me = await world.call('GET', '/api/v1/me', { headers });
    expect([me.status, me.code]).toEqual([401, 'not_authenticated']);
  });

  test('a token in the query string is never read (A94)', async () => {
    const query = { access_token: TOKEN_A, token: TOKEN_A };
    expect((await world.call('GET', '/api/v1/connections', { query })).code).toBe('missing_auth');
    expect(world.identity.asked).toBe(0);
  });

  test('a provider that is silent is 503 and no handler runs (A89)', async () => {
    world.identity.available = false;
    const calls: string[] = [];
    world.store.beforeCall = (label) => {
      calls.push(label);
    };
    for (const [method, path] of [
      ['GET', '/api/v1/connections'],
      ['GET', '/api/v1/me'],
      ['POST', '/api/v1/tenant/offboard'],
      ['GET', '/api/v1/admin/stats'],
    ] as const) {
      const answer = await a(method, path, method === 'POST' ? { confirm: TENANT_A } : undefined);
      expect([answer.status, answer.code, answer.json.error.retryable]).toEqual([
        503,
        'auth_unavailable',
        true,
      ]);
    }
    expect(calls).toEqual([]);
    expect(world.lines.join()).not.toContain(TOKEN_A);
  });

  test('a revoked session stops at the next request (A92)', async () => {
    expect((await a('GET', '/api/v1/me')).json).toEqual({ id: TENANT_A });
    world.identity.revoke(TOKEN_A);
    expect((await a('GET', '/api/v1/me')).status).toBe(401);
  });

  test.each<[Parameters<ApiWorld['call']>[2], boolean]>([
    [{}, false],
    [{ token: TOKEN_A }, true],
    [{ token: 'bogus' }, false],
    [{ headers: { authorization: 'Basic x' } }, false],
    [{ cookies: [`__Host-session=${TOKEN_A}`] }, true],
    [{ cookies: ['__Host-session=bogus'] }, false],
    [{ cookies: [`session=${TOKEN_A}`] }, false],
  ])('session state of %j is %s', async (options, authenticated) => {
    expect((await world.call('GET', '/api/v1/auth/session', options)).json).toEqual({ authenticated });
  });

  test('session state with the provider down: 503 with a credential, false without (D-39)', async () => {
    world.identity.available = false;
    expect((await world.call('GET', '/api/v1/auth/session', { token: TOKEN_A })).code).toBe(
      'auth_unavailable',
    );
    expect((await world.call('GET', '/api/v1/auth/session')).json).toEqual({ authenticated: false });
  });

  test('logout needs nothing, clears the cookie, and not for a foreign page', async () => {
    const out = await world.call('POST', '/api/v1/logout', { cookies: ['__Host-session=x'] });
    expect([out.status, out.text]).toEqual([204, '']);
    expect(out.cookies).toEqual(['__Host-session=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax']);
    expect((await world.call('POST', '/api/v1/logout')).status).toBe(204);
    const foreign = await world.call('POST', '/api/v1/logout', {
      headers: { origin: 'https://evil.example' },
    });
    expect([foreign.status, foreign.cookies]).toEqual([204, []]);
  });

  test('the 121st request at once is 429; another tenant is not touched', async () => {
    const answers = await Promise.all(Array.from({ length: 130 }, () => a('GET', '/api/v1/me')));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(120);
    expect(answers.filter((answer) => answer.code === 'rate_limited')).toHaveLength(10);
    expect((await world.as(TOKEN_B)('GET', '/api/v1/me')).status).toBe(200);
    await world.clock.advance(100);
    expect((await a('GET', '/api/v1/me')).status).toBe(200);
  });

  test('a limiter that cannot count lets through', async () => {
    world.store.beforeCall = (label) => {
      if (label === 'takeToken') throw new StoreError('unavailable', label);
    };
    expect((await a('GET', '/api/v1/me')).status).toBe(200);
  });
});

describe('export (A70)', () => {
  test('everything of the tenant, the five secrets redacted, nothing of others', async () => {
    const { repo, connection } = await world.enroll(TENANT_A);
    await world.enroll(TENANT_B, { slug: 'secret/of-b' });
    await a('PATCH', `/api/v1/user/repos/${repo.id}`, { gate_timeout_minutes: 30 });
    const ranAt = world.clock.now();
    await world.store.saveReconcileOutcome(repo, { ranAt, ok: false, errorCode: 'timeout' });
    const answer = await a('GET', '/api/v1/tenant/export');
    expect(Object.keys(answer.json)).toEqual([
      'tenant',
      'forge_connections',
      'managed_repos',
      'reconcile_status',
      'reconcile_status_truncated',
      'audit_log',
      'audit_log_truncated',
      'api_tokens',
      'author_notices',
      'organization',
      'billing',
    ]);
    expect(answer.json).toMatchObject({
      tenant: { id: TENANT_A, api_key_hash: '[redacted]' },
      forge_connections: [
        {
          id: connection.id,
          encrypted_token: '[redacted]',
          token_nonce: '[redacted]',
          encrypted_dek: '[redacted]',
        },
      ],
      managed_repos: [{ id: repo.id, webhook_secret: '[redacted]', gate_timeout_minutes: 30 }],
      reconcile_status: [{ repo_id: repo.id, ok: false, error_code: 'timeout' }],
      audit_log: [{ action: 'repo.update', actor: TENANT_A, target: repo.id, result: 'ok' }],
      organization: { owner_tenant_id: TENANT_A },
      billing: { tier: 'free', status: 'active' },
    });
    for (const secret of [FORGE_TOKEN, HOOK_SECRET, connection.credential.encryptedToken, 'of-b']) {
      expect(answer.text).not.toContain(secret);
    }
  });

  test('the places of notices that hold a secret are redacted too, and an address for mails is shown', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const stored = (await world.store.getRepo(repo.id)) ?? repo;
    const secret = 'very-secret-part';
    await world.store.updateRepo({
      ...stored,
      notification: {
        email: 'team@example.org',
        slack: `https://hooks.slack.com/services/T0/B0/${secret}`,
        discord: null,
        matrix: `https://matrix.org ${secret}`,
        webhook: `https://hooks.example.org ${secret}`,
      },
    });
    const answer = await a('GET', '/api/v1/tenant/export');
    expect(answer.json.managed_repos[0].notification).toEqual({
      email: 'team@example.org',
      chat_a_webhook_url: '[redacted]',
      chat_b_webhook_url: null,
      matrix: '[redacted]',
      webhook: '[redacted]',
    });
    expect(answer.text).not.toContain(secret);
  });

  test.each([
    [1_000, false],
    [1_001, true],
  ])('1,000 outcomes at most: of %i with the flag %s', async (count, isCut) => {
    await world.store.createTenant(TENANT_A, 1);
    const outcome = { ranAt: 1, ok: true, errorCode: null };
    world.store.listOutcomes = async () =>
      new Map(Array.from({ length: count }, () => [randomUUID(), outcome]));
    const { reconcile_status, reconcile_status_truncated } = (await a('GET', '/api/v1/tenant/export')).json;
    expect([reconcile_status.length, reconcile_status_truncated]).toEqual([1_000, isCut]);
  });

  test('500 audit entries whole, 501 cut with the flag', async () => {
    await world.store.createTenant(TENANT_A, 1);
    const add = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          world.store.appendAudit({
            id: randomUUID(),
            tenantId: TENANT_A,
            at: index,
            actor: TENANT_A,
            action: 'x',
            target: 'y',
            result: 'ok',
            from: null,
          }),
        ),
      );
    await add(500);
    expect((await a('GET', '/api/v1/tenant/export')).json.audit_log_truncated).toBe(false);
    await add(1);
    const cut = (await a('GET', '/api/v1/tenant/export')).json;
    expect([cut.audit_log.length, cut.audit_log_truncated]).toEqual([500, true]);
  });
});

describe('offboard (A100)', () => {
  const offboard = (confirm: unknown) => a('POST', '/api/v1/tenant/offboard', { confirm });

  test.each([undefined, null, 5, '', TENANT_B, `${TENANT_A} `, TENANT_A.toUpperCase()])(
    'confirm %j is confirm_mismatch and deletes nothing',
    async (confirm) => {
      const { repo } = await world.enroll(TENANT_A);
      expect(await offboard(confirm)).toMatchObject({ status: 400, code: 'confirm_mismatch' });
      expect(await world.store.getRepo(repo.id)).not.toBeNull();
    },
  );

  test('afterwards no row of the tenant exists, and the others are whole', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const theirs = await world.enroll(TENANT_B, { slug: 'acme/theirs' });
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
    await world.store.saveReconcileOutcome(repo, { ranAt: 5, ok: true, errorCode: null });
    const wish = { instanceUrl: 'https://git.example.org', login: 'ann', email: 'ann@example.org' };
    const told = { person: null, topics: ['landed'], provenAt: 1 } as const;
    await world.store.saveAuthorNotices({ tenantId: TENANT_A, ...wish, ...told });
    await a('PATCH', `/api/v1/user/repos/${repo.id}`, { bisect_fanout: 3 });
    const answer = await offboard(TENANT_A);
    expect(answer.json).toEqual({
      offboarded: true,
      tenant_id: TENANT_A,
      deleted: {
        reconcile_status: 1,
        managed_repos: 1,
        forge_connections: 1,
        audit_log: 1,
        billing: 1,
        organization: 1,
      },
    });
    world.identity.revoke(TOKEN_A);
    expect(world.store.dump().replaceAll(`user:${TENANT_A}`, '')).not.toContain(TENANT_A);
    expect(await world.store.getRepo(theirs.repo.id)).toEqual(theirs.repo);
  });

  test('what was done in its name in the last 90 days is kept for 90 more, without a name, a network or an id; the operator can ask for it', async () => {
    const { repo } = await world.enroll(TENANT_A);
    await a('PATCH', `/api/v1/user/repos/${repo.id}`, { bisect_fanout: 3 });
    await world.clock.advance(90 * DAY_MS + 1);
    const changedAt = world.clock.now();
    await a('PATCH', `/api/v1/user/repos/${repo.id}`, { bisect_fanout: 4 });
    await world.clock.advance(1);
    expect((await offboard(TENANT_A)).status).toBe(200);
    const kept = await world.store.listKeptAudit(TENANT_A);
    expect(kept).toEqual([
      {
        at: expect.any(Number),
        actor: 'tenant',
        action: 'tenant.erased',
        target: expect.any(String),
        result: 'ok',
      },
      { at: changedAt, actor: 'tenant', action: 'repo.update', target: expect.any(String), result: 'ok' },
    ]);
    expect(JSON.stringify(kept)).not.toContain(repo.id);
    expect(await world.store.listKeptAudit(TENANT_A, repo.id)).toEqual(kept.slice(1));
    expect(await world.store.listKeptAudit(TENANT_B)).toEqual([]);
    expect(world.store.dump().replaceAll(`user:${TENANT_A}`, '')).not.toContain(TENANT_A);
    await world.clock.advance(90 * DAY_MS);
    expect(await world.store.listKeptAudit(TENANT_A)).toEqual([]);
  });

  test('its sockets are closed with their rows, and what ends later leaves no note behind', async () => {
    const { repo } = await world.enroll(TENANT_A);
    await world.store.addSocket(TENANT_A, 'socket-1', world.clock.now() + 60_000);
    let gone = false;
    world.store.beforeCall = async (label) => {
      if (label !== 'updateRepo' || gone) return;
      gone = true;
      await offboard(TENANT_A);
    };
    expect((await a('PATCH', `/api/v1/user/repos/${repo.id}`, { bisect_fanout: 3 })).code).toBe('not_found');
    world.store.beforeCall = null;
    expect(gone).toBe(true);
    const closed: string[] = [];
    const sender: SocketSender = {
      post: async () => 'sent',
      close: async (socketId) => void closed.push(socketId),
    };
    const log = createLog({ service: 'test', write: () => undefined, now: () => 0 });
    await endSockets({ store: world.store, clock: world.clock, log, sender }, TENANT_A);
    expect(closed).toEqual(['socket-1']);
    expect(world.store.dump().replaceAll(`user:${TENANT_A}`, '')).not.toContain(TENANT_A);
  });

  test('cut short at any call, doing it again finishes it', async () => {
    for (let failAt = 1; failAt < 20; failAt += 1) {
      const fresh = new ApiWorld();
      await fresh.enroll(TENANT_A);
      let calls = 0;
      fresh.store.beforeCall = (label) => {
        if (label === 'takeToken') return;
        calls += 1;
        if (calls === failAt) throw new StoreError('unavailable', label);
      };
      const first = await fresh.as(TOKEN_A)('POST', '/api/v1/tenant/offboard', { confirm: TENANT_A });
      fresh.store.beforeCall = null;
      if (first.status !== 200) expect(first).toMatchObject({ status: 500, code: 'db_error' });
      expect((await fresh.as(TOKEN_A)('POST', '/api/v1/tenant/offboard', { confirm: TENANT_A })).status).toBe(
        200,
      );
      expect(fresh.store.dump().replaceAll(`user:${TENANT_A}`, '')).not.toContain(TENANT_A);
    }
  });
});

describe('billing without a provider', () => {
  test.each([
    [null, { tier: 'free', entitled_tier: 'free', status: 'active', payment_action_required: false }],
    [
      { tier: 'pro', status: 'past_due' },
      { tier: 'pro', entitled_tier: 'free', status: 'past_due', payment_action_required: true },
    ],
    [
      { tier: 'team', status: 'trialing' },
      { entitled_tier: 'team', limits: { ceiling: { repos: null } } },
    ],
  ] as const)('summary of %j', async (plan, expected) => {
    if (plan !== null) await world.store.savePlan(TENANT_A, plan);
    await world.enroll(TENANT_A);
    expect((await a('GET', '/api/v1/billing/me')).json).toMatchObject({
      connections: 1,
      repos: 1,
      ...expected,
    });
  });

  test.each(['loadPlan', 'loadTenant'])(
    '%s unreadable is billing_unavailable, never free (A108)',
    async (label) => {
      world.store.beforeCall = (called) => {
        if (called === label) throw new StoreError('unavailable', called);
      };
      const answer = await a('GET', '/api/v1/billing/me');
      expect([answer.status, answer.code, answer.json.error.retryable]).toEqual([
        503,
        'billing_unavailable',
        true,
      ]);
    },
  );

  test('tiers are checked first; then there is no provider, or nothing to change', async () => {
    for (const tier of ['free', 'gold', 5, null, undefined]) {
      expect((await a('POST', '/api/v1/billing/change-plan', { tier })).code).toBe('invalid_tier');
    }
    expect((await a('POST', '/api/v1/billing/checkout', { tier: 'free' })).code).toBe('invalid_tier');
    expect((await a('POST', '/api/v1/billing/checkout', { tier: 'pro' })).code).toBe(
      'payments_not_configured',
    );
    expect((await a('POST', '/api/v1/billing/portal')).code).toBe('payments_not_configured');
    const none = await a('POST', '/api/v1/billing/change-plan', { tier: 'pro' });
    expect([none.code, none.json.error.checkout]).toEqual([
      'no_active_subscription',
      '/api/v1/billing/checkout',
    ]);
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
    expect((await a('POST', '/api/v1/billing/change-plan', { tier: 'pro' })).code).toBe('already_on_tier');
  });
});
