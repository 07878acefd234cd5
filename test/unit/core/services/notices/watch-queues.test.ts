import { WATCHED_REPOS_MAX } from '#core/domain/api-limits.ts';
import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { type WatchDeps, watchQueues } from '#core/services/notices/watch-queues.ts';

/** The tenants that some ticks look at, each with one watched repository. */
async function lookAt(tenants: number, ticks: number, slowMs: number): Promise<number> {
  let now = 0;
  const looked = new Set<string>();
  const all = Array.from({ length: tenants }, (_, at) => ({ tenantId: `t${at}`, repoId: `repo-of-t${at}` }));
  const store = {
    listWatchedRepos: async (limit: number, from: number) => {
      const start = Math.floor(from * all.length);
      return [...all.slice(start), ...all.slice(0, start)].slice(0, limit);
    },
    listRepos: async (tenantId: string) => {
      now += slowMs;
      looked.add(tenantId);
      return [];
    },
    listConnections: async () => [],
    listOutcomes: async () => new Map(),
    loadPlan: async () => null,
    readQueueViews: async () => new Map(),
    listBatches: async () => [],
    listEvents: async () => [],
  } as unknown as WatchDeps['store'];
  const log = { info() {}, warn() {}, error() {} };
  for (let tick = 1; tick <= ticks; tick += 1) {
    now = tick * TICK_INTERVAL_MS;
    await watchQueues({ store, clock: { now: () => now }, log, planLimits: PLAN_LIMITS });
  }
  return looked.size;
}

test('where the time of a tick is not enough for all watched queues, each gets its turn', async () => {
  expect(await lookAt(300, 5, 50)).toBe(300);
});

test('watched queues beyond what one look takes get their turn', async () => {
  expect(await lookAt(3 * WATCHED_REPOS_MAX, 8, 0)).toBe(3 * WATCHED_REPOS_MAX);
});
