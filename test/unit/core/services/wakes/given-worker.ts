import { WORKERS_MAX } from '#core/domain/limits.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import type { EngineReport } from '#core/ports/store.ts';
import type { EngineAnswer, EnginePort, ReconcileOrder, ReconcileRequest } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import type { DispatchDeps } from '#core/services/wakes/dispatch-reconcile.ts';
import { adoptLease } from '#core/services/wakes/lease.ts';
import { givenConnection, givenRepo } from '../../../../builders/managed-repo.ts';
import { createMemoryStore } from '../../../../fakes/memory-store.ts';
import { FakeWakeQueue } from '../../../../fakes/wake-queue.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

export const TOKEN = 'canary-token-5521';

/** Worker around a memory store; the engine is a function of the test that may leave a report as the real one does. */
export async function givenWorker(changes: Partial<ManagedRepo> = {}) {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  const queue = new FakeWakeQueue(clock);
  const requests: { request: ReconcileRequest; order: ReconcileOrder }[] = [];
  const logged: string[] = [];
  const write = (message: string, fields?: unknown): void => {
    logged.push(message + JSON.stringify(fields));
  };
  const engine = {
    act: async (_fence: number): Promise<EngineAnswer> => 'ok',
    async report(fence: number, changes: Partial<EngineReport> = {}): Promise<void> {
      const held = await adoptLease({ leases: store, clock }, 'repo-1', fence);
      if (held === null) throw new Error('the lease is not ours');
      await store.saveReport(held, {
        fence,
        at: clock.now(),
        errorCode: null,
        wakeAt: null,
        logTail: [],
        ...changes,
      });
    },
  };
  const port: EnginePort = {
    reconcile: async (request, order) => {
      requests.push({ request, order });
      return engine.act(order.fence);
    },
    isHealthy: async () => true,
  };
  let opened: () => Secret<string> = () => new Secret(TOKEN);
  let nextId = 0;
  const deps: DispatchDeps = {
    store,
    leases: store,
    vault: {
      seal: async () => Promise.reject(new Error('never sealed here')),
      open: async () => opened(),
    },
    engine: port,
    queue,
    clock,
    ids: { uuid: () => `id-${nextId++}` },
    log: { info: write, warn: write, error: write },
    planLimits: PLAN_LIMITS,
    workersMax: WORKERS_MAX,
    queueName: 'mq',
  };
  await store.createTenant('tenant-1', clock.now());
  await store.createConnection(givenConnection());
  const repo = givenRepo(changes);
  await store.createRepo(repo, null);
  const outcome = () => store.loadReconcileOutcome(repo);
  const row = async (): Promise<ManagedRepo> => {
    const found = await store.getRepo('repo-1');
    if (found === null) throw new Error('gone');
    return found;
  };
  return {
    clock,
    store,
    queue,
    requests,
    logged,
    engine,
    deps,
    outcome,
    row,
    refuseToken: (error: Error) => {
      opened = () => {
        throw error;
      };
    },
  };
}
