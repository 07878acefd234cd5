import type { RouteSpec } from '#core/contracts/routes/route-spec.ts';
import { ROUTES, type RouteId } from '#core/contracts/routes/routes.ts';
import { EXPORT_AUDIT_MAX, SESSIONS_LISTED_MS } from '#core/domain/api-limits.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { StoreError } from '#core/ports/store.ts';
import { type Answer, ApiWorld, FORGE_TOKEN, TENANT_A, TOKEN_A } from '../../support/api-world.ts';
import { BOT } from '../../support/scripted-accounts.ts';
import { makeWorkingForge } from '../../support/working-forge.ts';

interface Place {
  readonly world: ApiWorld;
  readonly repoId: string;
  readonly connectionId: string;
}

interface Change {
  readonly action: string;
  /** The entity that is changed, where it is known before. */
  readonly target?: (place: Place) => string;
  readonly body?: (place: Place) => unknown;
  readonly prepare?: (place: Place) => void | Promise<void>;
}

const repo = ({ repoId }: Place): string => repoId;
const connection = ({ connectionId }: Place): string => connectionId;

/** Every route that changes something, with the note that it leaves. */
const CHANGES: Readonly<Partial<Record<RouteId, Change>>> = {
  createConnection: {
    action: 'connection.create',
    body: () => ({ instance_url: 'https://new.example.org', token: FORGE_TOKEN, bot_login: BOT }),
  },
  updateConnection: {
    action: 'connection.update',
    target: connection,
    body: () => ({ token: 'next-token' }),
  },
  deleteConnection: { action: 'connection.delete', target: connection },
  enrollRepo: {
    action: 'repo.enroll',
    body: ({ connectionId }) => ({ connection_id: connectionId, repo_slug: 'acme/new' }),
  },
  updateRepo: { action: 'repo.update', target: repo, body: () => ({ bisect_fanout: 5 }) },
  deleteRepo: { action: 'repo.delete', target: repo },
  pauseRepo: { action: 'repo.pause', target: repo, body: () => ({ reason: 'release' }) },
  drainRepo: { action: 'repo.drain', target: repo, body: () => ({}) },
  resumeRepo: { action: 'repo.resume', target: repo },
  setNoticeWebhook: {
    action: 'repo.notice_webhook',
    target: repo,
    body: () => ({ url: 'https://hooks.example.org/a' }),
  },
  removeNoticeWebhook: { action: 'repo.notice_webhook', target: repo },
  provisionRepo: { action: 'repo.provision', target: repo },
  protectRepo: { action: 'repo.protect', target: repo, body: () => ({ enabled: true }) },
  openSetupPull: {
    action: 'ci_gate.setup',
    target: repo,
    prepare: ({ world }) => {
      world.forge.setUp = makeWorkingForge(false);
    },
  },
  createToken: {
    action: 'token.create',
    body: () => ({ name: 'ci', expires_in_days: 1, scopes: [{ scope: 'read', repo_ids: null }] }),
  },
  setAuthorNotices: {
    action: 'author_notices.set',
    target: () => 'git.example.org',
    body: () => ({ instance_url: 'https://git.example.org', email: 'a@example.org', topics: [] }),
  },
  verifyGate: {
    action: 'ci_gate.verify',
    target: repo,
    prepare: ({ world }) => {
      world.forge.setUp = makeWorkingForge(true);
    },
  },
};

/** Routes with a method that may change something, and why they leave no note of their own. */
const NO_NOTE: Readonly<Partial<Record<RouteId, string>>> = {
  discoverRepos: 'reads',
  enqueuePull: 'noted as pull.enqueue, tested with enqueue',
  dequeuePull: 'noted as pull.dequeue, tested with enqueue',
  reconcileRepo: 'asks for what the schedule does anyway; its outcome is stored',
  deleteToken: 'noted as token.revoke, tested with tokens',
  createTicket: 'a credential of 30 seconds, as a session is',
  logOut: 'no user is known',
  startCheckout: 'a page of the provider; what is bought there is noted when the provider says so',
  changePlan: 'noted as billing.change_plan, tested with the provider’s stand-in',
  openPortal: 'a page of the provider',
  offboardTenant: 'deletes the notes; what is kept of them says that it did',
  acceptForgeEvent: 'wakes',
  acceptPaymentEvent: 'by the provider, not by the tenant',
  listForgeRepos: 'reads',
  unsubscribe: 'by the reader of a mail, who is no user of the tenant',
  subscribeAgain: 'by the reader of a mail, who is no user of the tenant',
  confirmMailbox: 'by the reader of a mail, who is no user of the tenant',
  testNotices: 'a test to places whose setting is noted',
  askConfirmation: 'one more mail to an address whose setting is noted',
};

/** Where the calls of the tests come from. */
const FROM = '198.51.100.7';
const mutating = (ROUTES as readonly RouteSpec[]).filter((route) => route.method !== 'GET');

async function givenPlace(): Promise<Place> {
  const world = new ApiWorld();
  await world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
  const made = await world.enroll(TENANT_A, { wakeupMode: 'poll' });
  return { world, repoId: made.repo.id, connectionId: made.connection.id };
}

async function call(route: RouteSpec, change: Change, place: Place): Promise<Answer> {
  await change.prepare?.(place);
  const id = route.path.includes('/connections/') ? place.connectionId : place.repoId;
  const body = change.body?.(place);
  return place.world.as(TOKEN_A)(route.method, route.path.replace('{id}', id), body);
}

describe('the audit log', () => {
  test('every route that may change something is either noted or says why not', () => {
    const known = [...Object.keys(CHANGES), ...Object.keys(NO_NOTE)];
    expect(new Set(known).size).toBe(known.length);
    expect(mutating.map((route) => route.id).sort()).toEqual([...known].sort());
  });

  test.each(
    mutating.flatMap((route) => {
      const change = CHANGES[route.id as RouteId];
      return change === undefined ? [] : [[route.id, route, change] as const];
    }),
  )('%s leaves one note: who, what, on what, when, from where', async (_id, route, change) => {
    const place = await givenPlace();
    await place.world.clock.advance(1_000);
    const answer = await call(route, change, place);
    expect([answer.text, answer.status < 300]).toEqual([answer.text, true]);
    const target = change.target?.(place) ?? answer.json.id;
    expect(await place.world.store.listAudit(TENANT_A, 10)).toMatchObject([
      {
        tenantId: TENANT_A,
        actor: TENANT_A,
        action: change.action,
        target,
        result: 'ok',
        at: expect.any(Number),
        from: FROM,
      },
    ]);
    const exported = await place.world.as(TOKEN_A)('GET', '/api/v1/tenant/export');
    expect(exported.json.audit_log).toMatchObject([{ from: FROM }]);
  });

  test.each(
    mutating.flatMap((route) => {
      const change = CHANGES[route.id as RouteId];
      return change === undefined ? [] : [[route.id, route, change] as const];
    }),
  )('%s: a note that cannot be stored changes nothing about the answer', async (_id, route, change) => {
    const place = await givenPlace();
    place.world.store.beforeCall = (label) => {
      if (label === 'appendAudit') throw new StoreError('unavailable', label);
    };
    expect((await call(route, change, place)).status).toBeLessThan(300);
    expect(place.world.lines.join()).toContain('an audit entry could not be stored');
  });

  test('where several people share a tenant, a note names the person', async () => {
    const { world, repoId } = await givenPlace();
    const session = { id: '0b9d3c52-5d0f-4c3a-9f0e-6d1c8f2b7a10', startedAt: world.clock.now() };
    world.identity.signIn('shared.session.token', TENANT_A, false, session, 'ada');
    await world.as('shared.session.token')('PATCH', `/api/v1/user/repos/${repoId}`, { bisect_fanout: 5 });
    const notes = await world.store.listAudit(TENANT_A, 10);
    expect(notes.map(({ action, actor }) => [action, actor]).sort()).toEqual([
      ['repo.update', 'ada'],
      ['session.start', 'ada'],
    ]);
  });

  test('the first request of a session leaves one note of the sign-in; the next ones, a renewed token and other functions leave none', async () => {
    const { world, repoId } = await givenPlace();
    const session = { id: '0b9d3c52-5d0f-4c3a-9f0e-6d1c8f2b7a10', startedAt: world.clock.now() };
    await world.clock.advance(5_000);
    for (const token of ['first.session.token', 'renewed.session.token']) {
      world.identity.signIn(token, TENANT_A, false, session);
      for (let nth = 0; nth < 2; nth += 1) {
        expect((await world.as(token)('GET', '/api/v1/me')).status).toBe(200);
        expect((await world.as(token)('PATCH', `/api/v1/user/repos/${repoId}`, {})).status).toBe(200);
      }
    }
    expect(await world.store.listAudit(TENANT_A, 10)).toEqual([
      {
        id: session.id,
        tenantId: TENANT_A,
        at: session.startedAt,
        actor: TENANT_A,
        from: FROM,
        action: 'session.start',
        target: TENANT_A,
        result: 'ok',
      },
    ]);
    const exported = await world.as(TOKEN_A)('GET', '/api/v1/tenant/export');
    expect(exported.json.audit_log).toMatchObject([{ action: 'session.start', from: FROM }]);
  });

  test('the sessions of an account are listed from these notes, the newest first, for 30 days, and the asking one is named', async () => {
    const { world } = await givenPlace();
    const begin = async (token: string, id: string) => {
      world.identity.signIn(token, TENANT_A, false, { id, startedAt: world.clock.now() });
      await world.as(token)('GET', '/api/v1/me');
    };
    const [old, first, second] = [0, 1, 2].map((nth) => `0b9d3c52-5d0f-4c3a-9f0e-6d1c8f2b7a1${nth}`);
    await begin('old.session.token', old ?? '');
    await world.clock.advance(SESSIONS_LISTED_MS + 1);
    await begin('first.session.token', first ?? '');
    await world.clock.advance(60_000);
    await begin('second.session.token', second ?? '');
    const { json } = await world.as('first.session.token')('GET', '/api/v1/sessions');
    const times = json.sessions.map((each: { started_at: string }) => Date.parse(each.started_at));
    expect(times).toEqual([world.clock.now(), world.clock.now() - 60_000]);
    expect(json.sessions).toMatchObject([
      { id: second, from: FROM, current: false },
      { id: first, from: FROM, current: true },
    ]);
    expect((await world.as(TOKEN_A)('GET', '/api/v1/sessions')).json.sessions).toMatchObject([
      { current: false },
      { current: false },
    ]);
  });

  test('a session stays in the list however many other notes follow its sign-in', async () => {
    const { world } = await givenPlace();
    const session = { id: '0b9d3c52-5d0f-4c3a-9f0e-6d1c8f2b7a10', startedAt: world.clock.now() };
    world.identity.signIn('first.session.token', TENANT_A, false, session);
    await world.as('first.session.token')('GET', '/api/v1/me');
    const note = { tenantId: TENANT_A, actor: TENANT_A, from: FROM, target: 'x', result: 'ok' as const };
    for (let nth = 1; nth <= EXPORT_AUDIT_MAX; nth += 1)
      await world.store.appendAudit({
        ...note,
        id: `${nth}`,
        at: session.startedAt + nth,
        action: 'repo.update',
      });
    const { json } = await world.as('first.session.token')('GET', '/api/v1/sessions');
    expect(json.sessions).toMatchObject([{ id: session.id, current: true }]);
  });

  test('a sign-in that cannot be noted refuses no request, and is tried again a minute later', async () => {
    const { world } = await givenPlace();
    const session = { id: '0b9d3c52-5d0f-4c3a-9f0e-6d1c8f2b7a10', startedAt: world.clock.now() };
    world.identity.signIn('first.session.token', TENANT_A, false, session);
    const look = async () => (await world.as('first.session.token')('GET', '/api/v1/me')).status;
    world.store.beforeCall = (label) => {
      if (label === 'appendSignIn') throw new StoreError('unavailable', label);
    };
    expect([await look(), await look()]).toEqual([200, 200]);
    expect(world.lines.filter((line) => line.includes('a sign-in could not be noted'))).toHaveLength(1);
    world.store.beforeCall = null;
    await world.clock.advance(60_000);
    expect(await look()).toBe(200);
    expect(await world.store.listAudit(TENANT_A, 10)).toHaveLength(1);
  });

  test('a token that is sent again is noted as a rotation', async () => {
    const { world } = await givenPlace();
    const body = { instance_url: 'https://new.example.org', token: FORGE_TOKEN, bot_login: BOT };
    await world.as(TOKEN_A)('POST', '/api/v1/connections', body);
    await world.clock.advance(1);
    expect((await world.as(TOKEN_A)('POST', '/api/v1/connections', body)).json.rotated).toBe(true);
    const notes = await world.store.listAudit(TENANT_A, 10);
    expect(notes.map((note) => note.action)).toEqual(['connection.rotate', 'connection.create']);
  });

  test.each<[string, string, unknown, string]>([
    ['protect', 'POST', { enabled: true }, 'repo.protect'],
    ['ci-gate/setup-pr', 'POST', undefined, 'ci_gate.setup'],
    ['ci-gate/verify', 'POST', undefined, 'ci_gate.verify'],
  ])(
    '%s that fails on the forge is noted as failed: it may have had effects',
    async (rest, method, body, action) => {
      const { world, repoId } = await givenPlace();
      const stored = await world.store.getRepo(repoId);
      if (stored === null) throw new Error('gone');
      await world.store.updateRepo({ ...stored, ciGate: { ...stored.ciGate, status: 'verified' } });
      world.forge.fault = new ForgeError('unreachable', 'any', null);
      const answer = await world.as(TOKEN_A)(method, `/api/v1/user/repos/${repoId}/${rest}`, body);
      expect(answer.code).toBe('forge_unreachable');
      expect(await world.store.listAudit(TENANT_A, 10)).toMatchObject([
        { action, target: repoId, result: 'failed' },
      ]);
    },
  );

  test.each<[string, unknown]>([
    ['a wrong field', { bisect_fanout: 17 }],
    ['a body that is none', '{'],
    ['nothing to change', {}],
  ])('%s leaves no note', async (_name, body) => {
    const { world, repoId } = await givenPlace();
    await world.as(TOKEN_A)('PATCH', `/api/v1/user/repos/${repoId}`, body);
    expect(await world.store.listAudit(TENANT_A, 10)).toEqual([]);
  });

  test('a note names no secret', async () => {
    const { world, connectionId } = await givenPlace();
    await world.as(TOKEN_A)('PATCH', `/api/v1/connections/${connectionId}`, { token: 'canary-in-audit-1' });
    expect(JSON.stringify(await world.store.listAudit(TENANT_A, 10))).not.toContain('canary');
  });
});
