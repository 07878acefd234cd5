import { randomUUID } from 'node:crypto';
import { REFUSAL_CAUSES } from '#core/domain/forge/refusal-cause.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { StoreError } from '#core/ports/store.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import { ApiWorld, FORGE_TOKEN, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';
import { BOT } from '../../support/scripted-accounts.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';

const REPOS = '/api/v1/user/repos';
const CONNECTIONS = '/api/v1/connections';

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;

beforeEach(async () => {
  world = new ApiWorld();
  // The worker is away: what waits for it stays as it is.
  world.engine = null;
  a = world.as(TOKEN_A);
});

/** A repo with a batch in flight: something of ours may be posted on its forge. */
async function givenLiveRepo(changes: Partial<ManagedRepo> = {}) {
  const made = await world.enroll(TENANT_A, { instanceUrl: 'https://git.example.org', ...changes });
  const { repo } = made;
  const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 1_000);
  if (grant === 'held') throw new Error('held');
  await world.store.saveQueue(
    grantHeldLease(repo.id, grant, () => 0, 1),
    repo,
    {
      document: {},
      expectedVersion: null,
      events: [],
      batches: [givenNodeRow({ id: randomUUID(), tenantId: TENANT_A, repoId: repo.id, prs: [4, 7] })],
    },
  );
  await world.store.releaseLease(repo.id, grant);
  return made;
}

describe('a repo that is deleted with a batch in flight (D-24)', () => {
  test('204, and it is nowhere any more: not in lists, not by its id, not for its forge', async () => {
    const { repo } = await givenLiveRepo({ wakeupMode: 'webhook' });
    expect((await a('DELETE', `${REPOS}/${repo.id}`)).status).toBe(204);
    expect(world.sent.wakes.map((wake) => wake.repoId)).toEqual([repo.id]);
    expect((await world.store.getRepo(repo.id))?.tombstone).toBe(true);
    expect((await a('GET', REPOS)).json).toEqual([]);
    expect((await a('GET', '/api/v1/user/queue/status')).json.repos).toEqual([]);
    expect((await a('GET', '/api/v1/user/queue/activity')).json.repos).toEqual([]);
    expect((await a('GET', '/api/v1/tenant/export')).json.managed_repos).toEqual([]);
    for (const [method, rest, body] of [
      ['PATCH', '', { queue_enabled: true }],
      ['DELETE', '', undefined],
      ['POST', '/provision', undefined],
      ['POST', '/protect', { enabled: true }],
      ['POST', '/reconcile', undefined],
      ['GET', '/ci-gate/template', undefined],
    ] as const) {
      expect([rest, (await a(method, `${REPOS}/${repo.id}${rest}`, body)).code]).toEqual([rest, 'not_found']);
    }
    const event = JSON.stringify({
      repository: { full_name: repo.slug, html_url: `${repo.instanceUrl}/${repo.slug}` },
    });
    const hook = await world.call('POST', '/api/v1/webhooks/forge', {
      headers: { 'x-hub-signature-256': world.signHook(event), 'x-forgejo-event': 'push' },
      body: event,
    });
    expect(hook.code).toBe('not_found');
  });

  const enrollOther = async (repo: ManagedRepo) => {
    const other = await world.enroll(
      TENANT_B,
      { instanceUrl: 'https://git.example.org', slug: 'acme/b' },
      { botUsername: 'other', verifiedAt: 1 },
    );
    await world.store.savePlan(TENANT_B, { tier: 'team', status: 'active' });
    const body = { connection_id: other.connection.id, repo_slug: repo.slug };
    return world.as(TOKEN_B)('POST', REPOS, body);
  };

  test.each([
    [
      'its owner',
      async (repo: ManagedRepo) =>
        a('POST', REPOS, { connection_id: repo.connectionId, repo_slug: repo.slug }),
    ],
    ['another tenant', enrollOther],
  ])('%s enrolls it again at once, and it goes on being wound down', async (_name, enroll) => {
    const { repo } = await givenLiveRepo();
    await a('DELETE', `${REPOS}/${repo.id}`);
    // The free plan has one place, and the deleted repo does not take it.
    const again = await enroll(repo);
    expect(again.status).toBe(201);
    expect(again.json.id).not.toBe(repo.id);
    expect((await world.store.getRepo(repo.id))?.tombstone).toBe(true);
    expect(await world.store.listDueRepos(world.clock.now(), 10)).toContain(repo.id);
  });

  test('a connection that is stored anew, or a repo that is enrolled anew, ends no wind-down of its tenant', async () => {
    const { repo, connection } = await givenLiveRepo();
    await a('DELETE', `${CONNECTIONS}/${connection.id}`);
    const body = { instance_url: 'https://git.example.org', token: FORGE_TOKEN, bot_login: BOT };
    const stored = await a('POST', CONNECTIONS, body);
    expect(stored.status).toBe(201);
    const next = await a('POST', REPOS, { connection_id: stored.json.id, repo_slug: 'acme/next' });
    expect(next.status).toBe(201);
    expect((await world.store.getRepo(repo.id))?.tombstone).toBe(true);
    expect((await world.store.getConnection(TENANT_A, connection.id))?.deleting).toBe(true);
    expect(await world.store.loadTenant(TENANT_A)).toMatchObject({ connections: 1, repos: 1 });
  });

  test('a repo that is deleted while its worker is at it stays until the engine has looked again', async () => {
    const { repo } = await world.enroll(TENANT_A);
    await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
    await a('DELETE', `${REPOS}/${repo.id}`);
    expect((await world.store.getRepo(repo.id))?.tombstone).toBe(true);
  });

  test('a deleted repo takes no place of the free allowance', async () => {
    const { repo, connection } = await givenLiveRepo();
    await a('DELETE', `${REPOS}/${repo.id}`);
    const next = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/next' });
    expect(next.status).toBe(201);
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'past_due' });
    expect((await a('GET', REPOS)).json).toMatchObject([{ id: next.json.id, hold_reason: null }]);
  });

  test('with an unreadable history it waits for the engine, too; with a silent queue the tick finds it', async () => {
    const { repo } = await world.enroll(TENANT_A);
    world.sent.failing = true;
    world.store.beforeCall = (label) => {
      if (label === 'listRunningBatches') throw new StoreError('unavailable', label);
    };
    expect((await a('DELETE', `${REPOS}/${repo.id}`)).status).toBe(204);
    world.store.beforeCall = null;
    expect(await world.store.listDueRepos(world.clock.now(), 10)).toEqual([repo.id]);
  });
});

describe('a connection that is deleted with a batch in flight', () => {
  test('204, nowhere any more, and the same identity can be stored again at once', async () => {
    const { repo, connection } = await givenLiveRepo();
    expect((await a('DELETE', `${CONNECTIONS}/${connection.id}`)).status).toBe(204);
    expect((await a('GET', CONNECTIONS)).json).toEqual([]);
    expect((await a('GET', '/api/v1/tenant/export')).json.forge_connections).toEqual([]);
    expect((await a('POST', `${CONNECTIONS}/${connection.id}/discover`)).code).toBe('not_found');
    const body = { instance_url: 'https://git.example.org', token: FORGE_TOKEN, bot_login: BOT };
    const again = await a('POST', CONNECTIONS, body);
    expect(again.status).toBe(201);
    expect(again.json.id).not.toBe(connection.id);
    expect((await world.store.getRepo(repo.id))?.tombstone).toBe(true);
  });

  test('a second DELETE finds nothing, and ends no wind-down', async () => {
    const { repo, connection } = await givenLiveRepo();
    await a('DELETE', `${CONNECTIONS}/${connection.id}`);
    const again = await a('DELETE', `${CONNECTIONS}/${connection.id}`);
    expect([again.status, again.code]).toEqual([404, 'not_found']);
    expect((await world.store.getRepo(repo.id))?.tombstone).toBe(true);
    expect((await world.store.getConnection(TENANT_A, connection.id))?.deleting).toBe(true);
  });

  test('another tenant can store its identity', async () => {
    const { connection } = await givenLiveRepo();
    await a('DELETE', `${CONNECTIONS}/${connection.id}`);
    const body = { instance_url: 'https://git.example.org', token: FORGE_TOKEN, bot_login: BOT };
    expect((await world.as(TOKEN_B)('POST', CONNECTIONS, body)).status).toBe(201);
  });

  test('offboarding ends no wind-down; once that has ended, it leaves no row of it (A100)', async () => {
    const { repo, connection } = await givenLiveRepo();
    await a('DELETE', `${CONNECTIONS}/${connection.id}`);
    const offboard = () => a('POST', '/api/v1/tenant/offboard', { confirm: TENANT_A });
    expect((await offboard()).code).toBe('queue_locked');
    expect((await world.store.getRepo(repo.id))?.tombstone).toBe(true);
    expect((await world.store.getConnection(TENANT_A, connection.id))?.deleting).toBe(true);
    world.engine = { answer: 'ok', logTail: [] };
    expect((await offboard()).status).toBe(200);
    expect(world.store.dump()).not.toContain(connection.id);
    expect(await world.store.loadTenant(TENANT_A)).toBeNull();
  });
});

describe('a tenant that leaves with a batch in flight (A24, A100)', () => {
  const offboard = () => a('POST', '/api/v1/tenant/offboard', { confirm: TENANT_A });

  test('nothing of it is shown any more, its rows stay until the engine has looked, and the last look deletes them', async () => {
    const { repo } = await givenLiveRepo();
    const answer = await offboard();
    expect(answer).toMatchObject({ status: 409, code: 'queue_locked' });
    expect(answer.json.error).toMatchObject({
      retryable: true,
      message: expect.stringContaining('everything is deleted'),
    });
    expect((await a('GET', REPOS)).json).toEqual([]);
    expect(world.sent.wakes.map((wake) => wake.repoId)).toContain(repo.id);
    world.engine = { answer: 'ok', logTail: [] };
    await world.answerWake(repo.id);
    world.identity.revoke(TOKEN_A);
    expect(world.store.dump().replaceAll(`user:${TENANT_A}`, '')).not.toContain(TENANT_A);
  });

  test.each([
    ['forge_unreachable', 502],
    ['forge_access_denied', 422],
  ] as const)('%s is told as %i while the engine goes on', async (code, status) => {
    const { repo } = await givenLiveRepo();
    world.engine = { answer: 'failed', logTail: [], act: async () => code };
    const answer = await offboard();
    expect(answer).toMatchObject({ status, code });
    expect(answer.json.error).toMatchObject({ message: expect.stringContaining('for an hour') });
    expect(answer.text).not.toContain(FORGE_TOKEN);
    expect((await world.store.getRepo(repo.id))?.tombstone).toBe(true);
  });

  test('a repository whose name another one has by now is told as that, and no token is blamed', async () => {
    await givenLiveRepo();
    world.engine = { answer: 'failed', logTail: [], act: async () => 'forge_access_denied' };
    const load = world.store.loadReconcileOutcome.bind(world.store);
    world.store.loadReconcileOutcome = async (place) => {
      const outcome = await load(place);
      return outcome === null ? null : { ...outcome, refusal: 'replaced' };
    };
    const { json } = await offboard();
    expect(json.error.message).toContain(`${REFUSAL_CAUSES.replaced.says}. `);
    expect(json.error.message).toContain('for an hour');
    expect(json.error.message).not.toContain('token');
  });

  test.each(Array.from({ length: 30 }, (_, at) => at))(
    'with one that is not in flight beside it, and cut short at call %i, doing it again finishes it',
    async (failAt) => {
      await givenLiveRepo();
      await world.enroll(TENANT_A, { slug: 'acme/idle' });
      world.engine = { answer: 'ok', logTail: [] };
      let calls = -1;
      world.store.beforeCall = (label) => {
        if (label === 'takeToken') return;
        calls += 1;
        if (calls === failAt) throw new StoreError('unavailable', label);
      };
      const first = await offboard();
      world.store.beforeCall = null;
      if (first.status !== 200) expect(['db_error', 'queue_locked']).toContain(first.code);
      expect((await offboard()).status).toBe(200);
      world.identity.revoke(TOKEN_A);
      expect(world.store.dump().replaceAll(`user:${TENANT_A}`, '')).not.toContain(TENANT_A);
    },
  );
});

describe('deleting a connection while repos are enrolled under it (A57)', () => {
  test.each(Array.from({ length: 40 }, (_, seed) => seed))(
    'order of steps %i leaves no row behind',
    async (seed) => {
      const random = createSeededRandom(seed);
      await world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
      const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
      // Every call of the store lets others go first, sometimes.
      world.store.beforeCall = async () => {
        for (let turns = random.int(6); turns > 0; turns -= 1) await Promise.resolve();
      };
      const enroll = (slug: string) => a('POST', REPOS, { connection_id: connection.id, repo_slug: slug });
      const calls = ['acme/a', 'acme/b', 'acme/c', 'acme/d'].map((slug) => () => enroll(slug));
      calls.splice(random.int(5), 0, () => a('DELETE', `${CONNECTIONS}/${connection.id}`));
      const answers = await Promise.all(calls.map((call) => call()));
      world.store.beforeCall = null;
      expect(
        answers.filter(({ status }) => ![201, 204, 404].includes(status)).map((answer) => answer.text),
      ).toEqual([]);
      expect(await world.store.listRepos(TENANT_A)).toEqual([]);
      expect(await world.store.listConnections(TENANT_A)).toEqual([]);
    },
  );

  test('an enrollment that ends between any two calls of the deletion leaves no row behind', async () => {
    const statuses = new Set<number>();
    for (let before = 1, enrolled = true; enrolled; before += 1) {
      const fresh = new ApiWorld();
      const a = fresh.as(TOKEN_A);
      await fresh.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
      const { connection } = await fresh.enroll(TENANT_A, { slug: 'acme/first' });
      let calls = 0;
      enrolled = false;
      fresh.store.beforeCall = async () => {
        calls += 1;
        if (calls !== before) return;
        enrolled = true;
        fresh.store.beforeCall = null;
        const body = { connection_id: connection.id, repo_slug: 'acme/late' };
        statuses.add((await a('POST', REPOS, body)).status);
      };
      expect((await a('DELETE', `${CONNECTIONS}/${connection.id}`)).status).toBe(204);
      expect(await fresh.store.listRepos(TENANT_A)).toEqual([]);
      expect(await fresh.store.listConnections(TENANT_A)).toEqual([]);
    }
    expect([...statuses].sort()).toEqual([201, 404]);
  });
});
