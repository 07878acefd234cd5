import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import { type WatchDeps, watchQueues } from '#core/services/notices/watch-queues.ts';

const TENANTS = Array.from({ length: 300 }, (_, at) => `tenant-${at}`);
const SLOW_MS = 50;

test('where the time of a tick is not enough for all watched queues, each gets its turn', async () => {
  let now = 0;
  const looked = new Set<string>();
  const store = {
    listWatchedRepos: async () => TENANTS.map((tenantId) => ({ tenantId, repoId: `repo-of-${tenantId}` })),
    listRepos: async (tenantId: string) => {
      now += SLOW_MS;
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
  for (let tick = 1; tick <= 5; tick += 1) {
    now = tick * TICK_INTERVAL_MS;
    await watchQueues({ store, clock: { now: () => now }, log });
  }
  expect(looked.size).toBe(TENANTS.length);
});
