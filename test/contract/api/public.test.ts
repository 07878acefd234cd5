import { randomUUID } from 'node:crypto';
import { createContext, runInContext } from 'node:vm';
import { formatAnalyticsConfig } from '#core/contracts/queue/health.ts';
import type { RouteSpec } from '#core/contracts/routes/route-spec.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import { RATE_LIMITS } from '#core/domain/api-limits.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { StoreError } from '#core/ports/store.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import { ApiWorld, FORGE_TOKEN, TENANT_A, TENANT_B, TOKEN_A } from '../../support/api-world.ts';
import { givenMailbox } from '../../support/given-mailbox.ts';
import { BOT } from '../../support/scripted-accounts.ts';

const MINUTE_MS = 60_000;
let world: ApiWorld;

beforeEach(() => {
  world = new ApiWorld();
});

describe('health', () => {
  test('healthz measures the identity provider, container-health the engine, neither the other (A111)', async () => {
    const ask = async (path: string) => {
      const { status, json } = await world.call('GET', path);
      return [status, json];
    };
    await world.store.recordTick(world.clock.now());
    await world.clock.advance(11 * MINUTE_MS + 1);
    expect((await world.call('GET', '/api/queue-health')).json.status).toBe('degraded');
    expect(await ask('/api/healthz')).toEqual([200, { ok: true }]);
    expect(await ask('/api/container-health')).toEqual([200, { ok: true }]);
    world.store.beforeCall = (label) => {
      throw new StoreError('unavailable', label);
    };
    expect(await ask('/api/healthz')).toEqual([200, { ok: true }]);
    world.identity.available = false;
    await world.clock.advance(15_000);
    expect(await ask('/api/healthz')).toEqual([503, { ok: false, dependency: 'gotrue' }]);
    expect(await ask('/api/container-health')).toEqual([200, { ok: true }]);
    world.engineHealthy = false;
    await world.clock.advance(14_999);
    expect((await world.call('GET', '/api/container-health')).status).toBe(200);
    await world.clock.advance(1);
    expect(await ask('/api/container-health')).toEqual([503, { ok: false, dependency: 'container' }]);
  });

  test('healthz asks the identity provider once in 15 seconds, from however many addresses it is called', async () => {
    for (let nth = 0; nth < 100; nth += 1)
      expect((await world.call('GET', '/api/healthz', { ip: `203.0.113.${nth}` })).status).toBe(200);
    expect(world.identity.probed).toBe(1);
    await world.clock.advance(14_999);
    await world.call('GET', '/api/healthz');
    expect(world.identity.probed).toBe(1);
    await world.clock.advance(1);
    await world.call('GET', '/api/healthz');
    expect(world.identity.probed).toBe(2);
  });

  test('readyz is gone', async () => {
    expect(await world.call('GET', '/readyz')).toMatchObject({ status: 410, code: 'gone' });
  });
});

describe('every route without a session is limited by the address (D-52)', () => {
  const PER_MINUTE = RATE_LIMITS.ip.perMinute;
  /** A forge's one address speaks for all its repositories; its deliveries are limited by repository. */
  const signed = (route: RouteSpec) => route.auth === 'signature';
  const open = ROUTES.filter((route: RouteSpec) => !signed(route) && route.id !== 'listForgeRepos').filter(
    (route) => !['bearer', 'admin'].includes(route.auth),
  );

  test('sign-out, health and the socket are among the routes that need no session', () => {
    expect(open.map((route) => route.id)).toEqual(
      expect.arrayContaining([
        'logOut',
        'readSession',
        'checkIdentity',
        'checkContainer',
        'checkQueue',
        'checkPrivately',
        'readAnalyticsConfig',
        'refuseReadyz',
        'openSocket',
        'readMe',
      ]),
    );
  });

  test.each(open.map((route) => [route.method, route.path]))('%s %s', async (method, path) => {
    const ask = (ip: string) => world.call(method, path, { ip });
    for (let nth = 0; nth < PER_MINUTE; nth += 1) expect((await ask('192.0.2.1')).status).not.toBe(429);
    const over = await ask('192.0.2.1');
    expect([over.status, over.code, over.json.error.retryable]).toEqual([429, 'rate_limited', true]);
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask('192.0.2.2')).status).not.toBe(429);
  });

  test('addresses of one IPv6 network, and the two spellings of an IPv4 address, are one caller', async () => {
    const ask = (ip: string) => world.call('GET', '/api/queue-health', { ip });
    for (let nth = 0; nth < PER_MINUTE; nth += 1) {
      await ask(`2001:db8:0:1::${nth.toString(16)}`);
      await ask(nth % 2 === 0 ? '192.0.2.1' : '::ffff:192.0.2.1');
    }
    expect((await ask('2001:DB8:0:1:ffff::1')).status).toBe(429);
    expect((await ask('2001:db8:0:2::1')).status).toBe(200);
    expect((await ask('::ffff:c000:201')).status).toBe(429);
  });
});

describe('the links in mails', () => {
  const KEY = 'k'.repeat(32);
  const ASK = 'a'.repeat(32);
  const UNSUBSCRIBE = '/api/v1/mail/unsubscribe';
  const SUBSCRIBE = '/api/v1/mail/subscribe';
  const CONFIRM = '/api/v1/mail/confirm';
  const ADDRESS = 'dev@example.org';
  const stateOf = async () => (await world.store.readMailboxStates(TENANT_A, [ADDRESS])).get(ADDRESS);
  const given = async () => {
    await world.store.createTenant(TENANT_A, world.clock.now());
    const { link } = await givenMailbox(world.store, TENANT_A, ADDRESS, KEY);
    await world.store.beginConfirmation(link, { key: ASK, until: world.clock.now() + 1 }, false);
    const query = { tenant: TENANT_A, box: link.box, key: KEY };
    return { query, asked: { ...query, key: ASK } };
  };

  test('a look at the page of one changes nothing, its button does', async () => {
    const { query, asked } = await given();
    const page = await world.call('GET', CONFIRM, { query: asked });
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.text).toContain('<form method="post">');
    expect(await stateOf()).toBe('waiting');
    expect((await world.call('POST', CONFIRM, { query: asked })).status).toBe(200);
    expect(await stateOf()).toBe('confirmed');
    expect((await world.call('GET', UNSUBSCRIBE, { query })).text).toContain('<form method="post">');
    expect(await stateOf()).toBe('confirmed');
  });

  test('the button of a mail program ends the mails (RFC 8058), and the page of before has the way back', async () => {
    const { query, asked } = await given();
    await world.call('POST', CONFIRM, { query: asked });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const done = await world.call('POST', UNSUBSCRIBE, {
      query,
      headers,
      body: 'List-Unsubscribe=One-Click',
    });
    expect([done.status, await stateOf()]).toEqual([200, 'unsubscribed']);
    const action = /action="([^"]+)"/.exec(done.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const back = new URL(action, 'https://queue.example.org');
    expect(back.pathname).toBe(SUBSCRIBE);
    const way = Object.fromEntries(back.searchParams);
    expect((await world.call('POST', SUBSCRIBE, { query: way })).status).toBe(200);
    expect(await stateOf()).toBe('confirmed');
  });

  test.each([UNSUBSCRIBE, SUBSCRIBE, CONFIRM])(
    '%s with another key is 404, and with a text that is no key 400',
    async (path) => {
      const { query } = await given();
      expect(await world.call('POST', path, { query: { ...query, key: 'x'.repeat(32) } })).toMatchObject({
        status: 404,
      });
      expect(await world.call('POST', path, { query: { ...query, key: '<script>' } })).toMatchObject({
        status: 400,
        code: 'invalid_field',
      });
      expect(await stateOf()).toBe('waiting');
    },
  );

  test('the link that ends mails confirms nothing', async () => {
    const { query } = await given();
    expect((await world.call('POST', CONFIRM, { query })).status).toBe(404);
    expect((await world.call('POST', SUBSCRIBE, { query })).status).toBe(404);
    expect(await stateOf()).toBe('waiting');
  });
});

describe('queue health', () => {
  const read = async () => {
    const answer = await world.call('GET', '/api/queue-health');
    expect(answer.status).toBe(200);
    expect(answer.text).not.toMatch(/\d/);
    return answer.json;
  };
  const OK = { tick_freshness: 'ok', overdue_repo: 'ok', supersede_rate: 'ok', phase_age: 'ok' };

  const saveBatches = async (
    batches: readonly Parameters<typeof givenNodeRow>[0][],
    tenantId: string = TENANT_A,
  ) => {
    const { repo } = await world.enroll(tenantId, {
      slug: `acme/${randomUUID()}`,
      queueEnabled: false,
      dueAt: null,
    });
    const grant = await world.store.acquireLease(repo.id, 'w', 'reconcile', 1_000);
    if (grant === 'held') throw new Error('held');
    const held = grantHeldLease(repo.id, grant, () => 0, 1);
    await world.store.saveQueue(held, repo, {
      document: {},
      expectedVersion: null,
      events: [],
      batches: batches.map((each) => givenNodeRow({ id: randomUUID(), tenantId, repoId: repo.id, ...each })),
    });
  };

  test('a service that never ticked is unknown, one that ticks is ok', async () => {
    expect(await read()).toEqual({
      status: 'unknown',
      degraded_by: 'none',
      signals: { ...OK, tick_freshness: 'unknown' },
    });
    await world.store.recordTick(world.clock.now());
    expect(await read()).toEqual({ status: 'ok', degraded_by: 'none', signals: OK });
    await world.clock.advance(11 * MINUTE_MS);
    expect((await read()).status).toBe('ok');
    await world.clock.advance(1);
    expect(await read()).toMatchObject({ status: 'degraded', degraded_by: 'tick_freshness' });
  });

  test('a repo that is long overdue', async () => {
    await world.enroll(TENANT_A);
    await world.clock.advance(15 * MINUTE_MS);
    await world.store.recordTick(world.clock.now());
    expect((await read()).status).toBe('ok');
    await world.clock.advance(1);
    expect(await read()).toMatchObject({ status: 'degraded', degraded_by: 'overdue_repo' });
  });

  test.each([
    [3, 10, 'ok'],
    [301, 1000, 'degraded'],
    [4, 10, 'degraded'],
    [0, 0, 'ok'],
  ])('%i superseded of %i is %s: above 30 percent, not at it (A113)', async (superseded, total, state) => {
    await world.store.recordTick(world.clock.now());
    const at = { createdAt: world.clock.now(), phase: null, resolvedAt: world.clock.now() } as const;
    const rows = Array.from({ length: total }, (_, index) => ({
      ...at,
      outcome: index < superseded ? ('superseded' as const) : ('success' as const),
    }));
    for (let start = 0; start < total; start += 60) await saveBatches(rows.slice(start, start + 60));
    const health = await read();
    expect(health.signals.supersede_rate).toBe(state);
    expect(health.degraded_by).toBe(state === 'ok' ? 'none' : 'supersede_rate');
  });

  test('a batch counts for the superseded ones for 24 hours, and no longer (A113)', async () => {
    const now = world.clock.now();
    await saveBatches([{ createdAt: now, phase: null, resolvedAt: now, outcome: 'superseded' }]);
    await world.clock.advance(24 * 60 * MINUTE_MS);
    await world.store.recordTick(world.clock.now());
    expect((await read()).signals.supersede_rate).toBe('degraded');
    await world.clock.advance(1);
    expect((await read()).signals.supersede_rate).toBe('ok');
  });

  test('a gate that waits for more than six hours', async () => {
    await saveBatches([{ createdAt: world.clock.now() }]);
    await world.clock.advance(6 * 60 * MINUTE_MS);
    await world.store.recordTick(world.clock.now());
    expect((await read()).status).toBe('ok');
    await world.clock.advance(1);
    expect(await read()).toMatchObject({ status: 'degraded', degraded_by: 'phase_age' });
  });

  describe('a merge', () => {
    const MERGE = { phase: 'waiting_merge' } as const;
    const wait = async (ms: number) => {
      await world.clock.advance(ms);
      await world.store.recordTick(world.clock.now());
      return read();
    };

    test('that is awaited for more than thirty minutes, however young or old its batch is (D-72)', async () => {
      await world.clock.advance(5 * 60 * MINUTE_MS);
      const now = world.clock.now();
      await saveBatches([{ ...MERGE, createdAt: now - 5 * 60 * MINUTE_MS, phaseSince: now }]);
      expect((await wait(30 * MINUTE_MS)).status).toBe('ok');
      expect(await wait(1)).toMatchObject({ status: 'degraded', degraded_by: 'phase_age' });
    });

    test('that waits for batches before it is not stuck: those are asked', async () => {
      await saveBatches([{ ...MERGE, createdAt: world.clock.now() }]);
      expect((await wait(6 * 60 * MINUTE_MS)).status).toBe('ok');
    });
  });

  describe('one tenant of several does not decide it', () => {
    const later = async (ms: number) => {
      await world.clock.advance(ms);
      await world.store.recordTick(world.clock.now());
      return read();
    };

    test('a repo that is long overdue is its own; with one of another tenant it is the service', async () => {
      await world.store.createTenant(TENANT_B, world.clock.now());
      await world.enroll(TENANT_A, { slug: 'acme/one' });
      await world.enroll(TENANT_A, { slug: 'acme/two' });
      expect(await later(15 * MINUTE_MS + 1)).toEqual({ status: 'ok', degraded_by: 'none', signals: OK });
      await world.enroll(TENANT_B);
      expect(await later(15 * MINUTE_MS + 1)).toMatchObject({ degraded_by: 'overdue_repo' });
    });

    test('a gate that hangs for ever is its own; with one of another tenant it is the service', async () => {
      await world.store.createTenant(TENANT_B, world.clock.now());
      await saveBatches([{ createdAt: world.clock.now() }]);
      expect(await later(7 * 60 * MINUTE_MS)).toEqual({ status: 'ok', degraded_by: 'none', signals: OK });
      await saveBatches([{ createdAt: 1 }], TENANT_B);
      expect(await later(0)).toMatchObject({ degraded_by: 'phase_age' });
    });
  });

  test.each([
    ['loadLastTick', 'tick_freshness'],
    ['listOverdueTenants', 'overdue_repo'],
    ['countBatchesSince', 'supersede_rate'],
    ['listWaitingBatches', 'phase_age'],
  ])('%s unreadable: %s is unknown, never ok (A112)', async (label, signal) => {
    await world.store.recordTick(world.clock.now());
    world.store.beforeCall = (called) => {
      if (called === label) throw new StoreError('unavailable', called);
    };
    expect(await read()).toEqual({
      status: 'unknown',
      degraded_by: 'none',
      signals: { ...OK, [signal]: 'unknown' },
    });
  });
});

describe('analytics config (A114)', () => {
  test('empty without a key', async () => {
    const answer = await world.call('GET', '/api/v1/analytics-config');
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers['content-type']).toBe('application/javascript; charset=utf-8');
  });

  test.each(['plain', '</script><script>alert(1)//', '\u2028"\\\'`', '<!--', ']]>', '\u0000\n'])(
    'any key is one string and no markup: %j',
    (key) => {
      const text = formatAnalyticsConfig(key);
      expect(text).not.toMatch(/[<>&\u2028\u2029]/);
      const window: Record<string, unknown> = {};
      runInContext(text, createContext({ window }));
      expect(window).toEqual({ __ANALYTICS_API_KEY__: key });
    },
  );
});

describe('unknown paths and methods', () => {
  test.each([
    ['GET', '/api/v1/forge/repos'],
    ['POST', '/api/v1/forge/repos'],
    ['GET', '/api/v1/tenants/x'],
    ['POST', '/api/v1/tenants/x/keys'],
    ['POST', '/internal/reconcile'],
    ['GET', '/healthz'],
    ['GET', '/'],
  ])('%s %s is 404 in the envelope', async (method, path) => {
    const answer = await world.call(method, path, { token: TOKEN_A, headers: { 'x-api-key': 'k' } });
    expect([answer.status, Object.keys(answer.json), answer.code]).toEqual([404, ['error'], 'not_found']);
  });

  test('a payment event cannot be verified without a secret (D-60)', async () => {
    const answer = await world.call('POST', '/api/v1/payments/webhook', { body: '{}' });
    expect([answer.status, answer.code]).toEqual([401, 'invalid_signature']);
  });
});

describe('a known path with another method', () => {
  test.each([
    ['PUT', '/api/v1/connections', 'GET, POST'],
    ['GET', '/api/v1/logout', 'POST'],
    ['OPTIONS', '/api/v1/me', 'GET'],
    ['POST', '/readyz', 'GET'],
    ['GET', `/api/v1/user/repos/${randomUUID()}`, 'PATCH, DELETE'],
    ['GET', `/api/v1/user/repos/${randomUUID()}/protect`, 'POST'],
    ['GET', '/api/v1/webhooks/forge', 'POST'],
  ])('%s %s is 405 and says which are taken', async (method, path, allow) => {
    const answer = await world.call(method, path, { token: TOKEN_A });
    expect([answer.status, answer.code, answer.headers.allow]).toEqual([405, 'method_not_allowed', allow]);
  });

  test.each(['GET', 'PUT', 'DELETE'])(
    '%s on the listing stays 404, as the contract has it',
    async (method) => {
      for (const legacyListing of [false, true]) {
        world.legacyListing = legacyListing;
        expect((await world.call(method, '/api/v1/forge/repos')).status).toBe(404);
      }
    },
  );
});

describe('the listing without authentication, switched off (D-21)', () => {
  test('is not there, whatever is sent and however often', async () => {
    const bodies = [
      { instance_url: 'https://git.example.org', username: BOT, token: FORGE_TOKEN },
      '{',
      {},
      undefined,
    ];
    for (let nth = 0; nth < 40; nth += 1) {
      const body = bodies[nth % bodies.length];
      const answer = await world.call('POST', '/api/v1/forge/repos', body === undefined ? {} : { body });
      expect([nth, answer.status, answer.code]).toEqual([nth, 404, 'not_found']);
    }
    expect(world.forge.asked).toEqual([]);
  });
});

describe('the listing without authentication, switched on (D-21)', () => {
  const BODY = { instance_url: 'https://git.example.org', username: BOT, token: FORGE_TOKEN };
  const list = (body: unknown) => {
    world.legacyListing = true;
    return world.call('POST', '/api/v1/forge/repos', { body });
  };

  test('lists, names what is missing, and says little of the forge', async () => {
    expect(await list(BODY)).toMatchObject({ status: 200, json: { repos: [] } });
    expect(await list({ ...BODY, token: undefined })).toMatchObject({ code: 'missing_fields' });
    expect(await list('{')).toMatchObject({ code: 'missing_fields' });
    expect(await list({ ...BODY, instance_url: 'https://127.0.0.1' })).toMatchObject({
      code: 'invalid_field',
    });
    world.forge.repos = new ForgeError('denied', 'x', 401);
    expect(await list(BODY)).toMatchObject({ status: 400, code: 'forge_error' });
    expect(await list(BODY)).toMatchObject({ status: 429, code: 'rate_limited' });
  });
});
