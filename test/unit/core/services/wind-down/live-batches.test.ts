import { LEASE_TTL_MS } from '#core/domain/limits.ts';
import type { Obligations } from '#core/domain/queue/obligations.ts';
import { buryRepo } from '#core/services/repos/delete-repo.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import { readLeftHeads, readLivePrs } from '#core/services/wind-down/live-batches.ts';
import { givenConnection, givenRepo } from '../../../../builders/managed-repo.ts';
import { givenObligations, givenQueueView } from '../../../../builders/told-queue.ts';
import { createMemoryStore, type MemoryStore } from '../../../../fakes/memory-store.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

async function givenTold(changes: Partial<Obligations>) {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  const repo = givenRepo({ dueAt: clock.now() });
  await store.createTenant(repo.tenantId, 0);
  await store.createConnection(givenConnection());
  await store.createRepo(repo, null);
  const told = { view: givenQueueView(), obligations: givenObligations(changes) };
  const deps = { leases: store, clock, ids: { uuid: () => 'owner' } };
  await withLease(deps, repo.id, 'test', LEASE_TTL_MS, (held) =>
    store.saveQueue(held, repo, { document: {}, expectedVersion: null, batches: [], events: [], told }),
  );
  return { store, repo, clock };
}

function deletionOf(store: MemoryStore, clock: VirtualClock) {
  return {
    store,
    leases: store,
    clock,
    ids: { uuid: () => 'id' },
    queue: { sendWake: async () => undefined },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };
}

describe('which pull requests may carry a success of the queue (A24, D-24)', () => {
  test('those in flight by the obligations, though no row is open', async () => {
    const { store, repo } = await givenTold({ inFlight: [7, 9] });
    expect(await readLivePrs(store, repo)).toEqual([7, 9]);
  });

  test('none that only waits', async () => {
    const { store, repo } = await givenTold({});
    expect(await readLivePrs(store, repo)).toEqual([]);
  });

  test('the remains of a deleted repo name them beside the heads of the obligations', async () => {
    const left = { context: 'mq/old', prs: [3], heads: [{ pr: 4, head: 'b'.repeat(40) }] };
    const { store, repo } = await givenTold({ inFlight: [7], left });
    expect(await readLeftHeads(store, repo)).toEqual({ ...left, prs: [3, 7] });
  });

  test.each([
    ['in a landing (interrupted 604)', { inFlight: [7] }],
    ['with its last word to a head still to be written', { open: true }],
  ])('a repo that is deleted %s stays until it is wound down', async (_name, changes) => {
    const { store, repo, clock } = await givenTold(changes);
    expect(await buryRepo(deletionOf(store, clock), repo)).toBe('buried');
    expect((await store.getRepo(repo.id))?.tombstone).toBe(true);
  });

  test('a repo that is deleted without obligations goes at once', async () => {
    const { store, repo, clock } = await givenTold({});
    expect(await buryRepo(deletionOf(store, clock), repo)).toBe('deleted');
    expect(await store.getRepo(repo.id)).toBeNull();
  });
});
