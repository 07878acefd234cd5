import type { RouteSpec } from '#core/contracts/routes/route-spec.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import { API_TOKENS_MAX } from '#core/domain/api-limits.ts';
import { API_TOKEN_SCOPES } from '#core/domain/tenants/api-token.ts';
import { ApiWorld, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';
import { giveHistory } from '../../support/given-history.ts';

const TOKENS = '/api/v1/tokens';
const ALL = API_TOKEN_SCOPES.map((scope) => ({ scope, repo_ids: null }));
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let world: ApiWorld;
beforeEach(() => {
  world = new ApiWorld();
});

const ask = (body: object, session = TOKEN_A) => world.as(session)('POST', TOKENS, body);
const make = async (
  scopes: readonly object[] = ALL,
  session = TOKEN_A,
): Promise<{ token: string; id: string }> => {
  const made = await ask({ name: 'ci', expires_in_days: 30, scopes }, session);
  expect(made.status).toBe(201);
  return made.json;
};

/** The scope that each endpoint of a session needs from a token, in the words of the contract; the others take a session. */
const SCOPES: Readonly<Record<string, string>> = {
  listRepos: 'read',
  readQueueStatus: 'read',
  readActivity: 'read',
  readFigures: 'read',
  readFanoutAdvice: 'read',
  listDeliveries: 'read',
  setNoticeWebhook: 'settings:write',
  removeNoticeWebhook: 'settings:write',
  testNotices: 'settings:write',
  readGateLog: 'read',
  readEvents: 'read',
  readPull: 'read',
  readGateTemplate: 'read',
  readPullEvidence: 'read',
  readCommitEvidence: 'read',
  reconcileRepo: 'queue:write',
  pauseRepo: 'queue:write',
  drainRepo: 'queue:write',
  resumeRepo: 'queue:write',
  enqueuePull: 'queue:write',
  dequeuePull: 'queue:write',
  updateRepo: 'settings:write',
  askConfirmation: 'settings:write',
  provisionRepo: 'settings:write',
  protectRepo: 'settings:write',
  openSetupPull: 'settings:write',
  verifyGate: 'settings:write',
};
const BODIES: Readonly<Record<string, unknown>> = {
  updateRepo: { bisect_fanout: 3 },
  protectRepo: { enabled: false },
  pauseRepo: {},
  drainRepo: {},
  enqueuePull: { head: 'a'.repeat(40) },
};
const CREDENTIAL_ROUTES = (ROUTES as readonly RouteSpec[]).filter(({ auth }) =>
  ['bearer', 'me', 'admin', 'operator'].includes(auth),
);
const call = (route: RouteSpec, id: string, token: string) =>
  world.as(token)(
    route.method,
    route.path.replace('{id}', id).replace('{number}', '1'),
    BODIES[route.id] ?? (route.body === undefined ? undefined : {}),
    route.id === 'readCommitEvidence' ? { query: { commit: 'a'.repeat(40) } } : {},
  );

describe('an API token', () => {
  test('is shown once and stored as a hash: no list, export, log or row has it', async () => {
    const { token, id } = await make();
    expect(token).toMatch(/^mgy_[\w-]{64}$/);
    const listed = await world.as(TOKEN_A)('GET', TOKENS);
    expect(listed.json).toEqual([
      {
        id,
        name: 'ci',
        scopes: ALL,
        last_used_at: null,
        created_at: new Date(world.clock.now()).toISOString(),
        expires_at: new Date(world.clock.now() + 30 * DAY_MS).toISOString(),
      },
    ]);
    const exported = await world.as(TOKEN_A)('GET', '/api/v1/tenant/export');
    expect(exported.json.api_tokens).toEqual(listed.json);
    const kept = [listed.text, exported.text, world.store.dump(), world.lines.join('\n')].join('\n');
    expect(kept).toContain(id);
    expect(kept).not.toContain(token);
    expect(kept).not.toContain(token.slice(-43));
  });

  test('opens what its scopes say, and no identity provider gets to see it', async () => {
    await world.enroll(TENANT_A, { slug: 'acme/app' });
    const { token } = await make();
    const { asked } = world.identity;
    const { status, json } = await world.as(token)('GET', '/api/v1/user/repos');
    expect([status, json[0].name]).toEqual([200, 'acme/app']);
    const session = await world.as(token)('GET', '/api/v1/auth/session');
    expect(session.json).toEqual({ authenticated: false });
    expect(world.identity.asked).toBe(asked);
  });

  test('of another text is invalid, and counts for the address', async () => {
    const { token } = await make();
    const other = `${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`;
    for (const forged of [other, 'mgy_', 'mgy_x', `mgy_${'A'.repeat(64)}`]) {
      const answer = await world.as(forged)('GET', '/api/v1/user/repos');
      expect([forged, answer.status, answer.code]).toEqual([forged, 401, 'invalid_token']);
    }
    for (let nth = 0; nth < 120; nth += 1) await world.as(other)('GET', '/api/v1/user/repos');
    expect((await world.as(other)('GET', '/api/v1/user/repos')).code).toBe('rate_limited');
  });

  test('ends when it expires, and a token that was revoked at once', async () => {
    const [first, second] = [await make(), await make()];
    const read = (token: string) => world.as(token)('GET', '/api/v1/user/repos');
    expect((await world.as(TOKEN_A)('DELETE', `${TOKENS}/${second.id}`)).status).toBe(204);
    expect((await read(second.token)).code).toBe('invalid_token');
    expect((await world.as(TOKEN_A)('DELETE', `${TOKENS}/${second.id}`)).code).toBe('not_found');
    await world.clock.advance(30 * DAY_MS - 1);
    expect((await read(first.token)).status).toBe(200);
    await world.clock.advance(1);
    expect((await read(first.token)).code).toBe('invalid_token');
  });

  test('of another account cannot be revoked', async () => {
    const { id, token } = await make();
    expect((await world.as(TOKEN_B)('DELETE', `${TOKENS}/${id}`)).code).toBe('not_found');
    expect((await world.as(token)('GET', '/api/v1/user/repos')).status).toBe(200);
  });

  test.each<[string, object, string]>([
    ['no end', { expires_in_days: undefined }, 'missing_fields'],
    ['an end now', { expires_in_days: 0 }, 'invalid_field'],
    ['an end beyond a year', { expires_in_days: 366 }, 'invalid_field'],
    ['no scope', { scopes: [] }, 'invalid_field'],
    ['a scope twice', { scopes: [ALL[0], ALL[0]] }, 'invalid_field'],
    ['the scope admin', { scopes: [{ scope: 'admin', repo_ids: null }] }, 'invalid_field'],
    ['a scope for no repository', { scopes: [{ scope: 'read', repo_ids: [] }] }, 'invalid_field'],
    ['a name that no page can show', { name: 'a\u202eb' }, 'invalid_field'],
  ])('with %s is refused', async (_name, changes, code) => {
    const answer = await ask({ name: 'ci', expires_in_days: 1, scopes: ALL, ...changes });
    expect([answer.status, answer.code]).toEqual([400, code]);
    expect((await world.as(TOKEN_A)('GET', TOKENS)).json).toEqual([]);
  });

  test('for a repository of another account is refused as for one that is not there', async () => {
    const { repo } = await world.enroll(TENANT_B);
    const answer = await ask({
      name: 'ci',
      expires_in_days: 1,
      scopes: [{ scope: 'read', repo_ids: [repo.id] }],
    });
    expect([answer.status, answer.code]).toEqual([404, 'not_found']);
  });

  test('is one of at most so many; those that ended do not count', async () => {
    for (let nth = 0; nth < API_TOKENS_MAX; nth += 1) await make();
    const body = { name: 'ci', expires_in_days: 1, scopes: ALL };
    expect(await ask(body)).toMatchObject({ status: 409, code: 'token_limit_exceeded' });
    await world.clock.advance(30 * DAY_MS);
    expect((await ask(body)).status).toBe(201);
  });

  test('has its last use written once an hour, not with each call', async () => {
    const { token } = await make();
    const start = world.clock.now();
    const lastUse = async () => (await world.as(TOKEN_A)('GET', TOKENS)).json[0].last_used_at;
    for (let nth = 0; nth < 3; nth += 1) {
      await world.as(token)('GET', '/api/v1/user/repos');
      await world.clock.advance(HOUR_MS / 3);
      expect(await lastUse()).toBe(new Date(start).toISOString());
    }
    await world.as(token)('GET', '/api/v1/user/repos');
    expect(await lastUse()).toBe(new Date(start + HOUR_MS).toISOString());
  });

  test('works while its last use cannot be written, and is no invalid token while it cannot be read', async () => {
    const { token } = await make();
    let broken = 'noteApiTokenUse';
    world.store.beforeCall = (label) => {
      if (label === broken) throw new Error('no answer');
    };
    expect((await world.as(token)('GET', '/api/v1/user/repos')).status).toBe(200);
    broken = 'findApiToken';
    expect((await world.as(token)('GET', '/api/v1/user/repos')).code).toBe('auth_unavailable');
  });

  test('ends with the account, also while its queues still take back what they posted', async () => {
    await giveHistory(world, (await world.enroll(TENANT_A)).repo);
    const { token } = await make();
    world.engine = null;
    const left = await world.as(TOKEN_A)('POST', '/api/v1/tenant/offboard', { confirm: TENANT_A });
    expect(left.code).toBe('queue_locked');
    expect((await world.as(token)('GET', '/api/v1/user/repos')).code).toBe('invalid_token');
    expect((await ask({ name: 'ci', expires_in_days: 1, scopes: ALL })).code).toBe('not_found');
  });
});

describe('what a token may do', () => {
  test('every endpoint with a credential states its scope, or takes no token', () => {
    const stated = CREDENTIAL_ROUTES.flatMap(({ id, scope }) => (scope === undefined ? [] : [[id, scope]]));
    expect(Object.fromEntries(stated)).toEqual(SCOPES);
    const others = (ROUTES as readonly RouteSpec[]).filter((route) => !CREDENTIAL_ROUTES.includes(route));
    expect(others.filter(({ scope }) => scope !== undefined)).toEqual([]);
  });

  test.each(CREDENTIAL_ROUTES.map((route) => [route.id, route] as const))(
    '%s takes the scope that it states, and no other',
    async (id, route) => {
      const { repo } = await world.enroll(TENANT_A);
      for (const scope of API_TOKEN_SCOPES) {
        const { token } = await make([{ scope, repo_ids: null }]);
        const { status, code, json } = await call(route, repo.id, token);
        if (route.scope === undefined) {
          const expected = { me: 'not_authenticated', operator: 'missing_auth' }[route.auth as string];
          expect([id, scope, status, code]).toEqual([id, scope, 401, expected ?? 'session_required']);
        } else if (route.scope === scope) {
          expect([401, 403]).not.toContain(status);
        } else {
          expect([id, scope, status, code]).toEqual([id, scope, 403, 'insufficient_scope']);
          expect(json.error.message).toBe(`This API token lacks the scope ${route.scope}, which this takes.`);
        }
      }
    },
  );

  const SCOPED = CREDENTIAL_ROUTES.filter(({ scope }) => scope !== undefined);

  test.each(SCOPED.filter(({ path }) => path.includes('{id}')).map((route) => [route.id, route] as const))(
    '%s refuses a token of another repository of the account, whether or not there is one',
    async (_id, route) => {
      const one = (await world.enroll(TENANT_A, { slug: 'acme/one' })).repo;
      const two = (await world.enroll(TENANT_A, { slug: 'acme/two' })).repo;
      const { token } = await make(ALL.map((each) => ({ ...each, repo_ids: [one.id.toUpperCase()] })));
      for (const id of [two.id, 'x', '00000000-0000-4000-8000-000000000000']) {
        const { status, code, json } = await call(route, id, token);
        expect([status, code]).toEqual([403, 'insufficient_scope']);
        expect(json.error.message).toMatch(/^The scope .+ of this API token is for other repositories\.$/);
      }
      expect([401, 403]).not.toContain((await call(route, one.id, token)).status);
      expect([401, 403]).not.toContain((await call(route, one.id.toUpperCase(), token)).status);
    },
  );

  test.each(SCOPED.filter(({ path }) => !path.includes('{id}')).map((route) => [route.id, route] as const))(
    '%s tells a token of one repository no word of another',
    async (_id, route) => {
      const one = (await world.enroll(TENANT_A, { slug: 'acme/one' })).repo;
      const two = (await world.enroll(TENANT_A, { slug: 'acme/two' })).repo;
      await giveHistory(world, one);
      await giveHistory(world, two);
      const { token } = await make([{ scope: 'read', repo_ids: [one.id] }]);
      const whole = await call(route, '', TOKEN_A);
      expect([whole.text.includes(one.id), whole.text.includes(two.id)]).toEqual([true, true]);
      const part = await call(route, '', token);
      expect(part.status).toBe(200);
      expect(part.text).toContain(one.id);
      expect(part.text).not.toContain(two.id);
      expect(part.text).not.toContain('acme/two');
    },
  );

  test('older batches of its repository are reached by a token, and no cursor names a batch of another one', async () => {
    const one = (await world.enroll(TENANT_A, { slug: 'acme/one' })).repo;
    const two = (await world.enroll(TENANT_A, { slug: 'acme/two' })).repo;
    let made = 0;
    const nameAs = (name: string) => () => {
      made += 1;
      return `${name}-${made}`;
    };
    await giveHistory(world, one, nameAs('mine'));
    for (let busy = 0; busy < 110; busy += 1) {
      await world.clock.advance(60_000);
      await giveHistory(world, two, nameAs('hidden'));
    }
    const { token } = await make([{ scope: 'read', repo_ids: [one.id] }]);
    const read = world.as(token);
    const first = await read('GET', '/api/v1/user/queue/activity');
    expect(first.text).not.toContain('hidden');
    expect(first.json.queue_batches).toHaveLength(2);
    expect(first.json.queue_batches_next).toBeNull();
    const all = await world.as(TOKEN_A)('GET', '/api/v1/user/queue/activity');
    const query = { before: all.json.queue_batches_next };
    const older = await read('GET', '/api/v1/user/queue/activity', undefined, { query });
    expect(older.json.queue_batches).toHaveLength(2);
  });

  test('statistics that a token of one repository gets count that repository, or are unknown', async () => {
    const one = (await world.enroll(TENANT_A, { slug: 'acme/one' })).repo;
    const two = (await world.enroll(TENANT_A, { slug: 'acme/two' })).repo;
    await giveHistory(world, two);
    const { token } = await make([{ scope: 'read', repo_ids: [one.id] }]);
    const { json } = await world.as(token)('GET', '/api/v1/user/queue/activity');
    expect([json.stats.week_merges, json.stats.week_batches]).toEqual([0, null]);
    expect((await world.as(TOKEN_A)('GET', '/api/v1/user/queue/activity')).json.stats.week_merges).toBe(1);
  });

  test('a person who may only look makes and revokes no token', async () => {
    const { id } = await make();
    world.identity.signInReader('canary.session.reader', TENANT_A);
    const reader = world.as('canary.session.reader');
    expect((await ask({ name: 'x', expires_in_days: 1, scopes: ALL }, 'canary.session.reader')).code).toBe(
      'forbidden',
    );
    expect((await reader('DELETE', `${TOKENS}/${id}`)).code).toBe('forbidden');
    expect((await reader('GET', TOKENS)).status).toBe(200);
  });
});

describe('what tokens do is told', () => {
  test('the audit log notes who made and revoked a token, and which token changed what', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const { token, id } = await make();
    await world.clock.advance(1);
    await world.as(token)('POST', `/api/v1/user/repos/${repo.id}/pause`, {});
    await world.clock.advance(1);
    await world.as(TOKEN_A)('DELETE', `${TOKENS}/${id}`);
    const notes = (await world.store.listAudit(TENANT_A, 10)).map(({ actor, action, target, result }) => [
      actor,
      action,
      target,
      result,
    ]);
    expect(notes).toEqual([
      [TENANT_A, 'token.revoke', id, 'ok'],
      [`token:${id}`, 'repo.pause', repo.id, 'ok'],
      [TENANT_A, 'token.create', id, 'ok'],
    ]);
  });

  test('tokens have the rate of sessions in a bucket of their own, and share what costs a forge', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const [first, second] = [await make(), await make()];
    const read = async (token: string) =>
      (await world.as(token)('GET', TOKENS.replace('tokens', 'user/repos'))).code;
    for (let nth = 0; nth < 120; nth += 1) expect(await read(first.token)).toBeUndefined();
    expect(await read(first.token)).toBe('rate_limited');
    expect(await read(second.token)).toBe('rate_limited');
    expect(await read(TOKEN_A)).toBeUndefined();
    await world.clock.advance(60_000);
    const reconcile = async (token: string) =>
      (await world.as(token)('POST', `/api/v1/user/repos/${repo.id}/reconcile`)).code;
    for (let nth = 0; nth < 6; nth += 1) expect(await reconcile(first.token)).toBeUndefined();
    expect(await reconcile(TOKEN_A)).toBe('rate_limited');
  });
});
