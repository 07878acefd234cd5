import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import type { QueueRecord } from '../../engine-container/src/queue/record/record.ts';
import { toDocument } from '../../engine-container/src/stored-record/record-codec.ts';
import { givenRecord } from '../builders/queue-record.ts';
import type { MemoryStore } from '../fakes/memory-store.ts';

const MINUTE_MS = 60_000;
/** More than a history of gate runs needs before one failing run is enough (D-08). */
const RATE = { landed: 190, bounced: 10, steady: 200, flaked: 0, paces: [] };

export type Learned = Partial<Pick<QueueRecord, 'rate' | 'forecast'>>;

/** The record of a repository that has been in use for a while, idle at the moment. */
export async function giveHistory(
  store: MemoryStore,
  repo: ManagedRepo,
  learned: Learned = {},
): Promise<void> {
  const grant = await store.acquireLease(repo.id, 'before', 'reconcile', MINUTE_MS);
  if (grant === 'held') throw new Error('a new repository is leased');
  const held = grantHeldLease(repo.id, grant, () => 0, MINUTE_MS);
  const document = toDocument(givenRecord({ context: repo.statusContext, rate: RATE, ...learned }));
  await store.saveQueue(held, repo, { document, expectedVersion: null, batches: [], events: [] });
  await store.releaseLease(repo.id, grant);
}
