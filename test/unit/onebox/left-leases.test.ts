import { LEASE_SAFETY_MARGIN_MS, LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS } from '#core/domain/limits.ts';
import { endLeftLeases } from '../../../onebox/left-leases.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import { MemoryStore } from '../../fakes/memory-store.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };
const WORKERS = 1;
const HOUR_MS = 3_600_000;
const HUNDRED_YEARS_MS = 100 * 365 * 24 * HOUR_MS;

async function givenHeld(ttlMs: number) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const repo = givenRepo({ dueAt: clock.now() });
  await store.createTenant(repo.tenantId, clock.now());
  await store.createConnection(givenConnection());
  await store.createRepo(repo, null);
  await store.acquireLease(repo.id, 'the dead one', 'reconcile', ttlMs);
  const acquire = () => store.acquireLease(repo.id, 'the next one', 'reconcile', LEASE_TTL_MS);
  const start = () => endLeftLeases({ store, clock, log: SILENT, workers: WORKERS });
  return { clock, store, repo, acquire, start };
}

describe('a lease that a killed one box left', () => {
  test.each([0, 1_000, 20_000])(
    'is taken over once a call that was sent at the start must have arrived, margin and grace after it, and no sooner: killed after %i ms',
    async (heldMs) => {
      const { clock, acquire, start } = await givenHeld(LEASE_TTL_MS);
      await clock.advance(heldMs);
      await start();
      await clock.advance(LEASE_SAFETY_MARGIN_MS + LEASE_TAKEOVER_GRACE_MS - 1);
      expect(await acquire()).toBe('held');
      await clock.advance(1);
      expect(await acquire()).toMatchObject({ fence: 2 });
    },
  );

  test('that ends sooner than that ends as before', async () => {
    const { clock, store, repo, start } = await givenHeld(LEASE_TTL_MS);
    const before = await store.readLease(repo.id);
    await clock.advance(LEASE_TTL_MS - 5_000);
    await start();
    expect(await store.readLease(repo.id)).toEqual(before);
  });

  test('by a clock that has been set back since is taken over as soon, and not once that clock has come so far', async () => {
    const { clock, store, repo, acquire, start } = await givenHeld(LEASE_TTL_MS + 2 * HOUR_MS);
    await store.settleDue(repo.id, repo.wakeSeq, clock.now() + 2 * HOUR_MS);
    await start();
    await clock.advance(LEASE_SAFETY_MARGIN_MS + LEASE_TAKEOVER_GRACE_MS);
    expect(await acquire()).toMatchObject({ fence: 2 });
  });

  test('that a move holds for good stays', async () => {
    const { store, repo, start } = await givenHeld(HUNDRED_YEARS_MS);
    const before = await store.readLease(repo.id);
    await start();
    expect(await store.readLease(repo.id)).toEqual(before);
  });

  test('keeps no worker busy, and a store that fails keeps no start from going on', async () => {
    const { store, repo, start } = await givenHeld(LEASE_TTL_MS);
    const run = { ...repo, repoId: repo.id, host: 'forge.example', standing: 'slow' } as const;
    await store.beginReconcile(run, LEASE_TTL_MS, () => true);
    await start();
    const isAlone = await store.beginReconcile(run, LEASE_TTL_MS, (others) => others.length === 0);
    expect(isAlone).toBe(true);
    store.listDueRepos = () => Promise.reject(new Error('no answer'));
    await start();
  });
});
