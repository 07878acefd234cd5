import type { Offboarded } from '#core/contracts/tenants/account.ts';
import { WORKERS_MAX } from '#core/domain/limits.ts';
import type { NodeRow } from '#core/domain/queue/batch.ts';
import type { QueueFigures, RepoSize } from '#core/domain/queue/queue-metrics.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import type { RepoIdReader } from '#core/ports/repo-id.ts';
import { Secret } from '#core/secret.ts';
import { createForgeOpener, type OpenForge } from '#core/services/connections/open-forge.ts';
import type { DeletionDeps } from '#core/services/repos/delete-repo.ts';
import { saveRepo } from '#core/services/repos/save-repo.ts';
import { offboardTenant } from '#core/services/tenants/offboard.ts';
import { type DispatchDeps, dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { forwardDelayedWake, wakeDueRepos, wakeNow } from '#core/services/wakes/send-wakes.ts';
import { createReconciler } from '../../engine-container/src/reconcile/reconciler.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { type AbstractForge, createAbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';
import { FakeWakeQueue } from '../fakes/wake-queue.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { givenProject, givenScheduled } from './stories.ts';

export const REPO = '11111111-1111-4111-8111-111111111111';
export const CONNECTION = '22222222-2222-4222-8222-222222222222';
export const TICK_MS = 5 * 60_000;

const VAULT = {
  seal: () => Promise.reject(new Error('never sealed here')),
  open: async () => new Secret('token'),
};

/** Worker, engine and wake queues as they are deployed, around one repository of an abstract forge. */
export class QueueWorld {
  readonly clock = new VirtualClock();
  readonly forge: AbstractForge = createAbstractForge({ clock: this.clock });
  /** The repository that has the name. */
  named: Pick<AbstractForge, 'forge' | 'admin' | 'backports'> = this.forge;
  readonly store = createMemoryStore({ clock: this.clock });
  readonly queue = new FakeWakeQueue(this.clock);
  readonly repo: ManagedRepo;
  engineRuns = 0;
  /** Between two looks at the messages. */
  stepMs = 1_000;
  readonly measured: (QueueFigures & { readonly size: RepoSize })[] = [];
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

  /** As the functions beside the engine open the repository that has the name. */
  opener<Forge extends RepoIdReader>(connect: () => Forge): OpenForge<Forge> {
    return createForgeOpener({ store: this.store, vault: VAULT, connect });
  }

  /** As the worker does once a look is over. */
  async afterLook(_repo: ManagedRepo): Promise<void> {}

  get deletion(): DeletionDeps {
    return {
      store: this.store,
      leases: this.store,
      queue: this.queue,
      clock: this.clock,
      ids: this.ids,
      log: this.#log,
    };
  }

  get dispatch(): DispatchDeps {
    const { store, clock, queue, ids } = this;
    const reconcile = createReconciler({
      store,
      clock,
      ids,
      log: this.#log,
      meter: { measure: (size, figures) => this.measured.push({ size, ...figures }) },
      forgeFor: (_request, _held, _mayRead, onCall) => {
        onCall(0);
        return this.named.forge;
      },
    });
    return {
      store,
      leases: store,
      queue,
      clock,
      ids,
      log: this.#log,
      queueName: DEFAULT_SERVICE_NAME,
      planLimits: PLAN_LIMITS,
      workersMax: WORKERS_MAX,
      vault: VAULT,
      engine: {
        isHealthy: async () => true,
        reconcile: (request, order) => {
          this.engineRuns += 1;
          return reconcile(request, order);
        },
      },
    };
  }

  /** Everything that wakes do by themselves for a while: messages, delayed ones, and the tick. */
  async pass(ms: number, options: { readonly until?: () => Promise<boolean> } = {}): Promise<void> {
    const end = this.clock.now() + ms;
    let tickAt = this.clock.now() + TICK_MS;
    while (this.clock.now() < end) {
      for (const wake of this.queue.wakes.splice(0)) {
        const result = await dispatchReconcile(this.dispatch, wake.repoId);
        if (result.kind === 'reconciled') await this.afterLook(result.repo);
      }
      if (await options.until?.()) return;
      const ripe = this.queue.delayed.filter((wake) => wake.visibleAt <= this.clock.now());
      for (const wake of ripe) {
        this.queue.delayed.splice(this.queue.delayed.indexOf(wake), 1);
        await forwardDelayedWake({ store: this.store, queue: this.queue, clock: this.clock }, wake);
      }
      if (this.clock.now() >= tickAt) {
        tickAt += TICK_MS;
        await wakeDueRepos({
          store: this.store,
          queue: this.queue,
          clock: this.clock,
          log: this.#log,
          planLimits: PLAN_LIMITS,
        });
      }
      await this.clock.advance(this.stepMs);
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
    return (await this.forge.status((await this.forge.pull(pr)).headSha, DEFAULT_SERVICE_NAME))?.state;
  }

  rows(): Promise<readonly NodeRow[]> {
    return this.store.listBatches(this.repo.tenantId, 100);
  }

  async stagingBranches(): Promise<readonly string[]> {
    return (await this.forge.branches()).filter((name) => name.startsWith(DEFAULT_SERVICE_NAME));
  }
}

/** One batch of two whose first `success` is posted, and whose merge is lost by the forge. */
export async function givenPostedSuccess(): Promise<{ readonly world: QueueWorld; readonly pr: number }> {
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

/** The tenant is offboarded. While the request waits, in the world's own time, the service goes on. */
export function leaveTenant(world: QueueWorld): Promise<Offboarded> {
  const deps = {
    ...world.deletion,
    store: world.store,
    clock: {
      now: () => world.clock.now(),
      monotonic: () => world.clock.monotonic(),
      sleep: (ms: number) => world.pass(Math.max(1_000, ms)),
    },
    openPayments: async () => null,
  };
  return offboardTenant(deps, world.repo.tenantId, world.repo.tenantId);
}

export const OLDEST = '33333333-3333-4333-8333-333333333333';

/** The subscription lapses, and an older repo of the tenant has the one free place. */
export async function stopPaying(world: QueueWorld): Promise<void> {
  const { tenantId, createdAt, dueAt } = world.repo;
  const older = givenRepo({ id: OLDEST, connectionId: CONNECTION, slug: 'acme/oldest', dueAt });
  await world.store.createRepo(
    { ...older, createdAt: createdAt - 1, queueEnabled: false, dueAt: null },
    null,
  );
  await world.store.savePlan(tenantId, { tier: 'pro', status: 'past_due' });
}

/** The success on its head was taken back before it landed, and no staging branch is left. */
export async function expectNothingLeft(world: QueueWorld, pr: number): Promise<void> {
  expect(await world.stateOf(pr)).toBe('pending');
  expect(await world.stagingBranches()).toEqual([]);
  expect((await world.forge.pull(pr)).merged).toBe(false);
}
