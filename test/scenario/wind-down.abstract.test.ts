import type { BatchRow } from '#core/domain/batch.ts';
import { WIND_DOWN_MS } from '#core/domain/limits.ts';
import type { ManagedRepo } from '#core/domain/repo.ts';
import { Secret } from '#core/secret.ts';
import { deleteConnection } from '#core/services/delete-connection.ts';
import { type DeletionDeps, deleteRepo } from '#core/services/delete-repo.ts';
import { type DispatchDeps, dispatchReconcile } from '#core/services/dispatch-reconcile.ts';
import { saveRepo } from '#core/services/save-repo.ts';
import { forwardDelayedWake, wakeDueRepos, wakeNow } from '#core/services/wake.ts';
import { createReconciler } from '../../engine-container/src/reconcile.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { type AbstractForge, createAbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';
import { FakeWakeQueue } from '../fakes/wake-queue.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { givenProject, givenScheduled } from './stories.ts';

const REPO = '11111111-1111-4111-8111-111111111111';
const CONNECTION = '22222222-2222-4222-8222-222222222222';
const TICK_MS = 5 * 60_000;

/** Worker, engine and wake queues as they are deployed, around one repository of an abstract forge. */
class QueueWorld {
  readonly clock = new VirtualClock();
  readonly forge: AbstractForge = createAbstractForge({ clock: this.clock });
  readonly store = createMemoryStore({ clock: this.clock });
  readonly queue = new FakeWakeQueue(this.clock);
  readonly repo: ManagedRepo;
  engineRuns = 0;
  readonly #log = { info: () => {}, warn: () => {}, error: () => {} };
  #ids = 0;

  constructor(changes: Partial<ManagedRepo> = {}) {
    this.repo = givenRepo({ id: REPO, connectionId: CONNECTION, dueAt: this.clock.now(), ...changes });
  }

  get ids() {
    return {
      uuid: () => {
        this.#ids += 1;
        return `${this.#ids.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
      },
    };
  }

  async open(): Promise<void> {
    const { tenantId } = this.repo;
    await this.store.createTenant(tenantId, this.clock.now());
    await this.store.savePlan(tenantId, { tier: 'team', status: 'active' });
    await this.store.createConnection(givenConnection({ id: CONNECTION }));
    await this.store.createRepo(this.repo, null);
    await givenProject(this.forge);
  }

  get deletion(): DeletionDeps {
    return { store: this.store, queue: this.queue, clock: this.clock, ids: this.ids, log: this.#log };
  }

  get dispatch(): DispatchDeps {
    const { store, clock, queue, ids } = this;
    const reconcile = createReconciler({
      ...{ store, clock, ids, log: this.#log },
      forgeFor: () => this.forge.forge,
    });
    return {
      ...{ store, leases: store, queue, clock, ids, log: this.#log, queueName: 'mq' },
      vault: {
        seal: () => Promise.reject(new Error('never sealed here')),
        open: async () => new Secret('token'),
      },
      engine: {
        isHealthy: async () => true,
        reconcile: (request, fence) => {
          this.engineRuns += 1;
          return reconcile(request, fence);
        },
      },
    };
  }

  /** Everything that wakes do by themselves for a while: messages, delayed ones, and the tick. */
  async pass(ms: number, options: { readonly until?: () => Promise<boolean> } = {}): Promise<void> {
    const end = this.clock.now() + ms;
    let tickAt = this.clock.now() + TICK_MS;
    while (this.clock.now() < end) {
      for (const wake of this.queue.wakes.splice(0)) await dispatchReconcile(this.dispatch, wake.repoId);
      if (await options.until?.()) return;
      const ripe = this.queue.delayed.filter((wake) => wake.visibleAt <= this.clock.now());
      for (const wake of ripe) {
        this.queue.delayed.splice(this.queue.delayed.indexOf(wake), 1);
        await forwardDelayedWake({ store: this.store, queue: this.queue, clock: this.clock }, wake);
      }
      if (this.clock.now() >= tickAt) {
        tickAt += TICK_MS;
        await wakeDueRepos({ store: this.store, queue: this.queue, clock: this.clock, log: this.#log });
      }
      await this.clock.advance(1_000);
    }
    if (options.until !== undefined) throw new Error('the awaited state never came');
  }

  async start(): Promise<void> {
    await wakeNow({ store: this.store, queue: this.queue, clock: this.clock }, REPO);
  }

  async switchOff(): Promise<void> {
    const current = await this.store.getRepo(REPO);
    if (current === null) throw new Error('the repo is gone');
    await saveRepo(this.store, current, () => ({ queueEnabled: false, updatedAt: this.clock.now() }));
  }

  async stateOf(pr: number): Promise<string | undefined> {
    return (await this.forge.status((await this.forge.pull(pr)).headSha, 'mq'))?.state;
  }

  rows(): Promise<readonly BatchRow[]> {
    return this.store.listBatches(this.repo.tenantId, 100);
  }

  async stagingBranches(): Promise<readonly string[]> {
    return (await this.forge.branches()).filter((name) => name.startsWith('mq'));
  }
}

/** One batch of two whose first `success` is posted, and whose merge is lost by the forge. */
async function givenPostedSuccess(): Promise<{ readonly world: QueueWorld; readonly pr: number }> {
  const world = new QueueWorld();
  await world.open();
  const pr = await givenScheduled(world.forge, 'a');
  await givenScheduled(world.forge, 'b');
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  await world.clock.advance(30_000);
  await world.start();
  await world.pass(10 * 60_000, { until: async () => (await world.stateOf(pr)) === 'success' });
  return { world, pr };
}

async function expectNothingLeft(world: QueueWorld, pr: number): Promise<void> {
  expect(await world.stateOf(pr)).toBe('pending');
  expect(await world.stagingBranches()).toEqual([]);
  expect((await world.forge.pull(pr)).merged).toBe(false);
}

describe('a queue that goes off with a success posted (D-24, A24)', () => {
  test('takes it back, deletes its staging branches, resolves its batch, and is then left alone', async () => {
    const { world, pr } = await givenPostedSuccess();
    await world.switchOff();
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
    expect((await world.rows()).filter((row) => row.outcome === 'running')).toEqual([]);
    expect((await world.store.getRepo(REPO))?.dueAt).toBeNull();
    const { engineRuns } = world;
    await world.pass(30 * 60_000);
    expect(world.engineRuns).toBe(engineRuns);
  });

  test('without any message: the tick alone brings the engine back', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.queue.wakes.splice(0);
    world.queue.delayed.splice(0);
    await world.switchOff();
    await world.pass(2 * TICK_MS + 60_000);
    await expectNothingLeft(world, pr);
  });

  test('while the forge is away it is tried until it answers', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.forge.fault = () => ({ status: 503 });
    await world.switchOff();
    await world.pass(TICK_MS);
    world.forge.fault = () => null;
    await world.pass(3 * TICK_MS);
    await expectNothingLeft(world, pr);
  });

  test('switched on again it goes on: what is proven lands', async () => {
    const { world, pr } = await givenPostedSuccess();
    await world.switchOff();
    const off = await world.store.getRepo(REPO);
    if (off === null) throw new Error('the repo is gone');
    await saveRepo(world.store, off, () => ({ queueEnabled: true, enabledAt: world.clock.now() }));
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.pass(30 * 60_000, { until: async () => (await world.forge.pull(pr)).merged });
  });
});

const OLDEST = '33333333-3333-4333-8333-333333333333';

/** The subscription lapses, and an older repo of the tenant has the one free place. */
async function stopPaying(world: QueueWorld): Promise<void> {
  const { tenantId, createdAt, dueAt } = world.repo;
  const older = givenRepo({ id: OLDEST, connectionId: CONNECTION, slug: 'acme/oldest', dueAt });
  await world.store.createRepo(
    { ...older, createdAt: createdAt - 1, queueEnabled: false, dueAt: null },
    null,
  );
  await world.store.savePlan(tenantId, { tier: 'pro', status: 'past_due' });
}

describe('a repo that is held for payment with a success posted (A24, A107)', () => {
  test('takes it back, deletes its staging branches, resolves its batch, and then costs nothing', async () => {
    const { world, pr } = await givenPostedSuccess();
    await stopPaying(world);
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
    expect((await world.rows()).filter((row) => row.outcome === 'running')).toEqual([]);
    const { engineRuns } = world;
    await givenScheduled(world.forge, 'late');
    await world.start();
    await world.pass(30 * 60_000);
    expect(world.engineRuns).toBe(engineRuns);
    expect(await world.stagingBranches()).toEqual([]);
  });

  test('without any message: the tick alone brings the engine back', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.queue.wakes.splice(0);
    world.queue.delayed.splice(0);
    await stopPaying(world);
    await world.pass(2 * TICK_MS + 60_000);
    await expectNothingLeft(world, pr);
  });

  test('while the forge is away it is tried until it answers, but not for ever', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.forge.fault = () => ({ status: 503 });
    await stopPaying(world);
    await world.pass(TICK_MS);
    world.forge.fault = () => null;
    await world.pass(3 * TICK_MS);
    await expectNothingLeft(world, pr);
    const gone = await givenPostedSuccess();
    gone.world.forge.fault = () => ({ status: 503 });
    await stopPaying(gone.world);
    await gone.world.pass(WIND_DOWN_MS + 3 * TICK_MS);
    const { engineRuns } = gone.world;
    await gone.world.pass(WIND_DOWN_MS);
    expect(gone.world.engineRuns).toBe(engineRuns);
  });

  test('paid again it goes on: both land', async () => {
    const { world, pr } = await givenPostedSuccess();
    await stopPaying(world);
    await world.pass(10 * 60_000);
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.store.savePlan(world.repo.tenantId, { tier: 'pro', status: 'active' });
    await world.pass(30 * 60_000, { until: async () => world.forge.merges().length === 2 });
    expect((await world.forge.pull(pr)).merged).toBe(true);
  });
});

describe('a repo that is deleted with a success posted (D-24)', () => {
  test('is gone for everybody at once, and its rows go when nothing of ours is left on the forge', async () => {
    const { world, pr } = await givenPostedSuccess();
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    await expect(deleteRepo(world.deletion, world.repo.tenantId, REPO)).rejects.toThrow('not_found');
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
    expect(await world.store.getRepo(REPO)).toBeNull();
    expect(await world.store.listRepos(world.repo.tenantId)).toEqual([]);
  });

  test('with its connection: the credential lasts as long as it is needed, and no longer', async () => {
    const { world, pr } = await givenPostedSuccess();
    const { tenantId } = world.repo;
    await deleteConnection(world.deletion, tenantId, CONNECTION);
    expect((await world.store.listConnections(tenantId)).every((each) => each.deleting)).toBe(true);
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
    expect(await world.store.listRepos(tenantId)).toEqual([]);
    expect(await world.store.listConnections(tenantId)).toEqual([]);
  });

  test('a connection that is deleted twice is not waited for', async () => {
    const { world } = await givenPostedSuccess();
    const { tenantId } = world.repo;
    await deleteConnection(world.deletion, tenantId, CONNECTION);
    await deleteConnection(world.deletion, tenantId, CONNECTION);
    expect(await world.store.listRepos(tenantId)).toEqual([]);
    expect(await world.store.listConnections(tenantId)).toEqual([]);
  });

  test('a forge that never answers again does not keep the rows for ever', async () => {
    const { world } = await givenPostedSuccess();
    world.forge.fault = () => ({ status: 503 });
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    await world.pass(WIND_DOWN_MS + 3 * TICK_MS);
    expect(await world.store.getRepo(REPO)).toBeNull();
  });

  test('with only a last word to a head still to be written: it is written first (A24)', async () => {
    const world = new QueueWorld({ batchLingerSeconds: 3_600 });
    await world.open();
    const pr = await givenScheduled(world.forge, 'a');
    await world.start();
    await world.pass(60_000);
    world.forge.fault = ({ method, path }) =>
      method === 'POST' && path.includes('/statuses/') ? { status: 503 } : null;
    await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'another\n' });
    await world.start();
    await world.pass(30_000);
    expect(await world.stateOf(pr)).toBeUndefined();
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    expect((await world.store.getRepo(REPO))?.tombstone).toBe(true);
    world.forge.fault = () => null;
    await world.pass(2 * TICK_MS);
    expect(await world.stateOf(pr)).toBe('error');
    expect(await world.store.getRepo(REPO)).toBeNull();
  });

  test('with nothing in flight the rows go at once, without a look at the forge', async () => {
    const world = new QueueWorld();
    await world.open();
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    expect(await world.store.getRepo(REPO)).toBeNull();
    expect(world.queue.wakes).toEqual([]);
  });
});
