import {
  IDLE_DUE_DELAY_MS,
  LEASE_TTL_MS,
  TICK_INTERVAL_MS,
  WIND_DOWN_MS,
  WORKERS_MAX,
} from '#core/domain/limits.ts';
import type { ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { StoreError } from '#core/ports/store.ts';
import type { ReconcileCommand, ReconcileOrder } from '#core/ports/system.ts';
import { findReposOnHold } from '#core/services/billing/plans.ts';
import { dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import { wakeDueRepos } from '#core/services/wakes/send-wakes.ts';
import { acceptForgeWebhook } from '#core/services/webhooks/accept-forge-webhook.ts';
import { givenObligations, givenQueueView } from '../../../../builders/told-queue.ts';
import { ApiWorld, HOOK_SECRET, TENANT_A, TENANT_B } from '../../../../support/api-world.ts';

const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** Three repos of tenant A, oldest first, and one of tenant B; every dispatch is noted. */
async function givenTenants() {
  const world = new ApiWorld();
  const { store, clock } = world;
  const { connection, repo: first } = await world.enroll(TENANT_A, {
    slug: 'acme/r0',
    wakeupMode: 'webhook',
  });
  const ids = [first.id];
  for (const slug of ['acme/r1', 'acme/r2']) {
    await clock.advance(1_000);
    const { instanceUrl } = connection;
    const changes = { slug, instanceUrl, wakeupMode: 'webhook' as const };
    ids.push((await world.enroll(TENANT_A, changes, { id: connection.id })).repo.id);
  }
  const other = (await world.enroll(TENANT_B, { slug: 'beta/app' })).repo.id;
  const ran: string[] = [];
  const commands: ReconcileCommand[] = [];
  const engineRan = {
    isHealthy: async () => true,
    reconcile: async ({ repoSlug }: { readonly repoSlug: string }, { command }: ReconcileOrder) => {
      ran.push(repoSlug);
      commands.push(command);
      return 'ok' as const;
    },
  };
  const deps = {
    store,
    leases: store,
    vault: world.vault,
    queue: world.sent,
    clock,
    log: silent,
    queueName: 'mq',
    planLimits: PLAN_LIMITS,
    workersMax: WORKERS_MAX,
    ids: { uuid: () => 'owner' },
    engine: engineRan,
  };
  const work = async (): Promise<readonly string[]> => {
    ran.length = 0;
    const kinds: string[] = [];
    for (const id of [...ids, other]) kinds.push((await dispatchReconcile(deps, id)).kind);
    return kinds;
  };
  const tick = () => wakeDueRepos({ store, queue: world.sent, clock, log: silent, planLimits: PLAN_LIMITS });
  return { world, store, clock, ids, other, ran, commands, work, tick };
}

/** As the engine leaves it while something of its own is on the forge. */
async function leaveOpen({ store, clock }: Awaited<ReturnType<typeof givenTenants>>, id: string) {
  const repo = await store.getRepo(id);
  if (repo === null) throw new Error('gone');
  const deps = { leases: store, clock, ids: { uuid: () => 'earlier' } };
  const told = { view: givenQueueView(), obligations: givenObligations({ at: clock.now(), open: true }) };
  await withLease(deps, id, 'test', LEASE_TTL_MS, (held) =>
    store.saveQueue(held, repo, { document: {}, expectedVersion: null, batches: [], events: [], told }),
  );
  return repo;
}

const unpaid = { tier: 'pro', status: 'past_due' } as const;

describe('held repos in the worker (A107)', () => {
  test('are skipped while unpaid, the oldest and other tenants are not, and all run again once it is paid', async () => {
    const story = await givenTenants();
    await story.store.savePlan(TENANT_A, unpaid);
    expect(await story.work()).toEqual(['reconciled', 'payment_required', 'payment_required', 'reconciled']);
    expect(story.ran).toEqual(['acme/r0', 'beta/app']);
    await story.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
    await story.clock.advance(IDLE_DUE_DELAY_MS);
    expect(await story.work()).toEqual(['reconciled', 'reconciled', 'reconciled', 'reconciled']);
  });

  test('leave no outcome, take no lease and are due again for the next tick', async () => {
    const story = await givenTenants();
    await story.store.savePlan(TENANT_A, unpaid);
    await story.work();
    const held = await story.store.getRepo(story.ids[1] ?? '');
    if (held === null) throw new Error('gone');
    expect(await story.store.loadReconcileOutcome(held)).toBeNull();
    expect(await story.store.readLeaseState(held.id)).toBe('idle');
    expect(held.dueAt).toBe(story.clock.now() + IDLE_DUE_DELAY_MS);
  });

  test('one with a status or a batch of ours on the forge is wound down first, by a request that says so (A24)', async () => {
    const story = await givenTenants();
    await leaveOpen(story, story.ids[1] ?? '');
    await story.store.savePlan(TENANT_A, unpaid);
    expect(await story.work()).toEqual(['reconciled', 'reconciled', 'payment_required', 'reconciled']);
    expect(story.commands).toEqual(['reconcile', 'wind_down', 'reconcile']);
  });

  test.each<[ReconcileErrorCode, number, string]>([
    ['forge_unreachable', WIND_DOWN_MS, 'reconciled'],
    ['forge_unreachable', WIND_DOWN_MS + 1, 'payment_required'],
    ['decryption_error', 0, 'payment_required'],
    ['connection_not_found', 0, 'payment_required'],
  ])('with %s after %i ms of no change it is: %s', async (errorCode, afterMs, kind) => {
    const story = await givenTenants();
    const repo = await leaveOpen(story, story.ids[1] ?? '');
    await story.store.savePlan(TENANT_A, unpaid);
    await story.clock.advance(afterMs);
    await story.store.saveReconcileOutcome(repo, { ranAt: story.clock.now(), ok: false, errorCode });
    expect((await story.work())[1]).toBe(kind);
  });

  test.each(['loadPlan', 'listRepos'])('%s unreadable holds no repo (A108)', async (label) => {
    const story = await givenTenants();
    await story.store.savePlan(TENANT_A, unpaid);
    story.store.beforeCall = (called) => {
      if (called === label) throw new StoreError('unavailable', called);
    };
    expect(await story.work()).toEqual(['reconciled', 'reconciled', 'reconciled', 'reconciled']);
  });

  test('a plan that entitles costs one read, and the repos are not listed for it', async () => {
    const story = await givenTenants();
    await story.store.savePlan(TENANT_A, { tier: 'team', status: 'trialing' });
    const calls: string[] = [];
    story.store.beforeCall = (called) => {
      calls.push(called);
    };
    expect(await findReposOnHold({ store: story.store, planLimits: PLAN_LIMITS }, TENANT_A)).toEqual(
      new Set(),
    );
    expect(calls).toEqual(['loadPlan']);
  });
});

describe('held repos in the tick', () => {
  test('are not woken, are counted, and delay no other repo', async () => {
    const story = await givenTenants();
    await story.store.savePlan(TENANT_A, unpaid);
    expect(await story.tick()).toEqual({ due: 4, woken: 2, held: 2, failed: 0, left: 0 });
    expect(story.world.sent.wakes.map(({ repoId }) => repoId).sort()).toEqual(
      [story.ids[0] ?? '', story.other].sort(),
    );
    const due = await story.store.listDueRepos(story.clock.now(), 10);
    expect([...due].sort()).toEqual([story.ids[0] ?? '', story.other].sort());
    await story.clock.advance(TICK_INTERVAL_MS);
    expect(await story.tick()).toMatchObject({ held: 2 });
    await story.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
    await story.clock.advance(TICK_INTERVAL_MS);
    expect(await story.tick()).toMatchObject({ woken: 4, held: 0 });
  });

  test('one that is still to be wound down is woken', async () => {
    const story = await givenTenants();
    await leaveOpen(story, story.ids[2] ?? '');
    await story.store.savePlan(TENANT_A, unpaid);
    expect(await story.tick()).toEqual({ due: 4, woken: 3, held: 1, failed: 0, left: 0 });
  });

  test('one tenant is looked at once, however many of its repos are due', async () => {
    const story = await givenTenants();
    await story.store.savePlan(TENANT_A, unpaid);
    const plans: string[] = [];
    story.store.beforeCall = (called) => {
      if (called === 'loadPlan') plans.push(called);
    };
    await story.tick();
    expect(plans).toHaveLength(2);
  });

  test('a plan that cannot be read holds no repo', async () => {
    const story = await givenTenants();
    await story.store.savePlan(TENANT_A, unpaid);
    story.store.beforeCall = (called) => {
      if (called === 'loadPlan') throw new StoreError('unavailable', called);
    };
    expect(await story.tick()).toEqual({ due: 4, woken: 4, held: 0, failed: 0, left: 0 });
  });
});

describe('held repos and the forge’s webhook (D-34)', () => {
  test('an event is ignored with 200, and the repo is not woken; the oldest is', async () => {
    const story = await givenTenants();
    await story.store.savePlan(TENANT_A, unpaid);
    const send = async (id: string): Promise<string> => {
      const repo = await story.store.getRepo(id);
      if (repo === null) throw new Error('gone');
      const body = JSON.stringify({
        action: 'synchronized',
        pull_request: { base: { ref: 'main' } },
        sender: { login: 'dev' },
        repository: { full_name: repo.slug, html_url: `${repo.instanceUrl}/${repo.slug}` },
      });
      return acceptForgeWebhook(
        {
          store: story.store,
          leases: story.store,
          queue: story.world.sent,
          clock: story.clock,
          secrets: story.world.secrets,
          queueName: 'mq',
          planLimits: PLAN_LIMITS,
          rates: story.store,
        },
        {
          body: Buffer.from(body),
          signature: story.world.signHook(body, HOOK_SECRET),
          eventType: 'pull_request',
          deliveryId: undefined,
          hookId: undefined,
        },
      );
    };
    expect(await send(story.ids[2] ?? '')).toBe('ignored');
    expect(story.world.sent.wakes).toEqual([]);
    expect(await send(story.ids[0] ?? '')).toBe('processed');
    expect(story.world.sent.wakes).toHaveLength(1);
  });
});
