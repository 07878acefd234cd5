import { randomUUID } from 'node:crypto';
import { ADMIN_SORTED_REPOS_MAX } from '#core/domain/api-limits.ts';
import { StoreError } from '#core/ports/store.ts';
import {
  ADMIN_KEY,
  ApiWorld,
  FORGE_TOKEN,
  HOOK_SECRET,
  TENANT_A,
  TENANT_B,
  TOKEN_A,
  TOKEN_ADMIN,
} from '../../support/api-world.ts';

let world: ApiWorld;
const KEY = { 'x-admin-key': ADMIN_KEY };

beforeEach(() => {
  world = new ApiWorld();
});

const search = (query: Readonly<Record<string, string>> = {}) =>
  world.call('GET', '/api/v1/admin/repos', { headers: KEY, query });

describe('administrators alone may call (A91)', () => {
  test.each([
    [{}, undefined, 401, 'missing_auth'],
    [{ authorization: 'Basic x' }, undefined, 401, 'unauthorized'],
    [{}, 'unknown', 401, 'invalid_token'],
    [{}, TOKEN_A, 403, 'forbidden'],
    [{}, TOKEN_ADMIN, 200, undefined],
    [KEY, undefined, 200, undefined],
    [{ 'x-admin-key': `${ADMIN_KEY}x` }, undefined, 401, 'invalid_key'],
    [{ 'x-admin-key': '' }, undefined, 401, 'invalid_key'],
    [{ 'x-admin-key': ADMIN_KEY.slice(1) }, TOKEN_ADMIN, 401, 'invalid_key'],
  ] as const)('%j with token %s is %i %s', async (headers, token, status, code) => {
    for (const path of ['repos', 'connections', 'stats']) {
      const answer = await world.call('GET', `/api/v1/admin/${path}`, { headers, token: token ?? null });
      expect([path, answer.status, answer.code]).toEqual([path, status, code]);
    }
    const health = await world.call('GET', '/api/v1/healthz', { headers, token: token ?? null });
    expect([health.status, health.code]).toEqual(status === 200 ? [200, undefined] : [401, 'missing_auth']);
  });

  test.each([
    ['no_factor', 'set one up on the page Account'],
    ['not_in_session', 'sign out, and sign in again with it'],
  ] as const)('an administrator without a second factor (%s) is told the next step', async (why, step) => {
    world.identity.withholdAdmin(TOKEN_ADMIN, why);
    for (const path of ['repos', 'connections', 'stats']) {
      const answer = await world.call('GET', `/api/v1/admin/${path}`, { token: TOKEN_ADMIN });
      expect([path, answer.status, answer.code]).toEqual([path, 403, 'second_factor_required']);
      expect(answer.json.error.message).toContain(step);
    }
    const health = await world.call('GET', '/api/v1/healthz', { token: TOKEN_ADMIN });
    expect([health.status, health.code]).toEqual([401, 'missing_auth']);
    expect((await world.call('GET', '/api/v1/me', { token: TOKEN_ADMIN })).status).toBe(200);
  });

  test.each([null, ''])('without a key of the deployment (%j) no key is accepted', async (key) => {
    world.adminKey = key;
    for (const given of ['', 'null', 'undefined', ADMIN_KEY]) {
      const headers = { 'x-admin-key': given };
      expect((await world.call('GET', '/api/v1/admin/stats', { headers })).code).toBe('invalid_key');
    }
  });
});

describe('the operators’ views', () => {
  test('a page of repositories reads no plan and no list of a tenant, because it shows no hold', async () => {
    await world.enroll(TENANT_A, { slug: 'acme/web' });
    const read = new Set<string>();
    world.store.beforeCall = (label) => void read.add(label);
    expect((await search()).json.total).toBe(1);
    expect([...read]).toContain('getConnection');
    expect([...read].filter((label) => ['loadPlan', 'listRepos'].includes(label))).toEqual([]);
  });

  test('repos of all tenants, by any part of the name', async () => {
    const { repo } = await world.enroll(TENANT_A, { slug: 'Acme/Web' });
    await world.enroll(TENANT_B, { slug: 'beta/web-shop' });
    const both = (await search({ q: 'WEB' })).json;
    expect(both).toMatchObject({ total: 2, limit: 50, offset: 0 });
    expect(both.repos[0]).toMatchObject({
      repo: 'Acme/Web',
      tenant_id: TENANT_A,
      owner: TENANT_A,
      lease_state: 'idle',
      wakeup_mode: 'poll',
      reconcile: { ok: null },
      connection: { bot_username: 'queue-bot' },
    });
    expect(Object.keys(both.repos[0])).not.toContain('webhook_secret');
    expect((await search({ q: 'acme' })).json.repos[0].id).toBe(repo.id);
    expect((await search({ q: 'web', offset: '1', limit: '1' })).json).toMatchObject({
      total: 2,
      limit: 1,
      offset: 1,
      repos: [{ repo: 'beta/web-shop' }],
    });
  });

  test('those in trouble come first over all pages, and by name where they are too many', async () => {
    const given = async (tenant: string, slug: string, ok: boolean | null) => {
      const { repo } = await world.enroll(tenant, { slug }, { id: randomUUID() });
      if (ok === null) return;
      await world.store.saveReconcileOutcome(repo, { ranAt: 1, ok, errorCode: ok ? null : 'timeout' });
    };
    await given(TENANT_A, 'a/good', true);
    await given(TENANT_A, 'b/good', true);
    await given(TENANT_B, 'c/new', null);
    await given(TENANT_B, 'd/failing', false);
    const page = async (offset: string) => {
      const { json } = await search({ offset, limit: '2' });
      return [json.order, ...json.repos.map(({ repo }: { repo: string }) => repo)];
    };
    expect(await page('0')).toEqual(['trouble', 'd/failing', 'c/new']);
    expect(await page('2')).toEqual(['trouble', 'a/good', 'b/good']);
    const { searchRepos } = world.store;
    world.store.searchRepos = async (...asked) => ({
      ...(await searchRepos.apply(world.store, asked)),
      total: ADMIN_SORTED_REPOS_MAX + 1,
    });
    expect(await page('0')).toEqual(['name', 'a/good', 'b/good']);
  });

  test.each([
    ['limit', '100', 100],
    ['limit', '101', 100],
    ['limit', '9999', 100],
    ['limit', '1', 1],
    ['offset', '0', 0],
    ['q', 'x'.repeat(200), undefined],
  ])('%s = %s is taken', async (field, value, shown) => {
    const answer = await search({ [field]: value });
    expect(answer.status).toBe(200);
    if (shown !== undefined) expect(answer.json[field]).toBe(shown);
  });

  test.each([
    ['limit', '0'],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['limit', 'ten'],
    ['limit', ''],
    ['limit', '1e2'],
    ['offset', '-1'],
    ['offset', 'x'],
    ['offset', '99999999999999999999'],
    ['q', 'x'.repeat(201)],
  ])('%s = %j is invalid_field (D-85)', async (field, value) => {
    const answer = await search({ [field]: value });
    expect([answer.status, answer.code, answer.json.error.field]).toEqual([400, 'invalid_field', field]);
  });

  test('at most 200 connections, with the flag, without any credential (A71, A72)', async () => {
    for (let index = 0; index < 200; index += 1) {
      await world.enroll(TENANT_A, { slug: `acme/r${index}` }, { id: randomUUID() });
    }
    const list = () => world.call('GET', '/api/v1/admin/connections', { headers: KEY });
    expect((await list()).json).toMatchObject({ connections_total: 200, connections_truncated: false });
    await world.enroll(TENANT_B, { slug: 'b/b' });
    const cut = await list();
    expect(cut.json).toMatchObject({ connections_total: 200, connections_truncated: true });
    expect(cut.json.connections).toHaveLength(200);
    for (const secret of [FORGE_TOKEN, HOOK_SECRET, 'encrypted', 'nonce', 'dek']) {
      expect(cut.text).not.toContain(secret);
    }
  });

  test('no answer holds a token, its sealed form or the secret of a webhook (A72)', async () => {
    const { connection } = await world.enroll(TENANT_A);
    const { encryptedToken, tokenNonce, encryptedDek } = connection.credential;
    const secrets = [FORGE_TOKEN, HOOK_SECRET, encryptedToken, tokenNonce, String(encryptedDek)];
    for (const path of ['repos', 'connections', 'stats']) {
      const { status, text } = await world.call('GET', `/api/v1/admin/${path}`, { headers: KEY });
      expect([path, status]).toEqual([path, 200]);
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
  });

  test('stats count formats and keys; what was removed stays removed (A75, A97)', async () => {
    const { connection } = await world.enroll(TENANT_A);
    const odd = (format: string, keyVersion: number) =>
      world.enroll(
        TENANT_B,
        { slug: `b/${format}` },
        {
          id: randomUUID(),
          botUsername: format,
          credential: { ...connection.credential, format, keyVersion },
        },
      );
    await odd('v1', 1);
    await odd('v9', 2);
    const stats = await world.call('GET', '/api/v1/admin/stats', { token: TOKEN_ADMIN });
    expect(stats.json).toEqual({
      repos_total: 3,
      repos_truncated: false,
      tenants_total: 2,
      connections_total: 3,
      connections_truncated: false,
      credential_formats: { v3: 1, v2: 0, v1: 1, unrecognised: 1 },
      credential_keks: { 1: 2, 2: 1 },
    });
  });

  test.each(['searchRepos', 'countTenants', 'countCredentials'])(
    '%s unreadable is db_error',
    async (label) => {
      world.store.beforeCall = (called) => {
        if (called === label) throw new StoreError('unavailable', called);
      };
      const answer = await world.call('GET', '/api/v1/admin/stats', { headers: KEY });
      expect([answer.status, answer.code]).toEqual([500, 'db_error']);
    },
  );
});
