import { LEASE_TTL_MS } from '#core/domain/limits.ts';
import type { BlockKind, PlaceState, QueueView } from '#core/domain/queue-view.ts';
import { buryRepo } from '#core/services/delete-repo.ts';
import { withLease } from '#core/services/lease.ts';
import { readLivePrs } from '#core/services/live-batches.ts';
import { givenConnection, givenRepo } from '../../../builders/managed-repo.ts';
import { createMemoryStore, type MemoryStore } from '../../../fakes/memory-store.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

async function givenView(state: PlaceState, block: BlockKind, pr: number | null, afoot = false) {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  const repo = givenRepo({ dueAt: clock.now() });
  await store.createTenant(repo.tenantId, 0);
  await store.createConnection(givenConnection());
  await store.createRepo(repo, null);
  const view: QueueView = {
    at: clock.now(),
    line: [{ pr: 7, title: 'seven', head: 'a'.repeat(40), queuedAt: 0, state, reason: null, until: null }],
    more: 0,
    block: { kind: block, since: null, until: null, pr, runUrl: null },
    afoot,
  };
  const deps = { leases: store, clock, ids: { uuid: () => 'owner' } };
  await withLease(deps, repo.id, 'test', LEASE_TTL_MS, (held) =>
    store.saveQueue(held, repo, { document: {}, expectedVersion: null, batches: [], events: [], view }),
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

describe('who may carry a success of ours (A24, D-24)', () => {
  test('the one that lands by a proof of an earlier batch, though no row is open', async () => {
    const { store, repo } = await givenView('landing', 'merge', 7);
    expect(await readLivePrs(store, repo)).toEqual([7]);
  });

  test('the one whose success is being taken back, though it left the line', async () => {
    const { store, repo } = await givenView('ready', 'revoke', 9);
    expect(await readLivePrs(store, repo)).toEqual([9]);
  });

  test('nobody who only waits', async () => {
    const { store, repo } = await givenView('ready', 'staging', 7);
    expect(await readLivePrs(store, repo)).toEqual([]);
  });

  test.each([
    ['in such a landing (interrupted 604)', () => givenView('landing', 'merge', 7)],
    ['with its last word to a head still to be written', () => givenView('ready', 'empty', null, true)],
  ])('a repo that is deleted %s stays until it is wound down', async (_name, given) => {
    const { store, repo, clock } = await given();
    expect(await buryRepo(deletionOf(store, clock), repo)).toBe('buried');
    expect((await store.getRepo(repo.id))?.tombstone).toBe(true);
  });

  test('a repo that is deleted with nothing afoot goes at once', async () => {
    const { store, repo, clock } = await givenView('ready', 'staging', 7);
    expect(await buryRepo(deletionOf(store, clock), repo)).toBe('deleted');
    expect(await store.getRepo(repo.id)).toBeNull();
  });
});
