import { randomUUID } from 'node:crypto';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { givenEvent, givenNodeRow } from '../builders/store-rows.ts';
import type { ApiWorld } from './api-world.ts';

/** Rows of the past of one repository: a batch that runs, one that landed, and an event. */
export async function giveHistory(
  { store, clock }: Pick<ApiWorld, 'store' | 'clock'>,
  repo: ManagedRepo,
  makeId: () => string = randomUUID,
): Promise<void> {
  const owner = { tenantId: repo.tenantId, repoId: repo.id, repoSlug: repo.slug };
  const stored = await store.loadQueueRecord(repo.id);
  const grant = await store.acquireLease(repo.id, 'history', 'reconcile', 1_000);
  if (grant === 'held') throw new Error('held');
  await store.saveQueue(
    grantHeldLease(repo.id, grant, () => 0, 1),
    repo,
    {
      document: {},
      expectedVersion: stored?.version ?? null,
      batches: [
        givenNodeRow({ id: makeId(), ...owner, createdAt: clock.now() }),
        givenNodeRow({
          id: makeId(),
          ...owner,
          createdAt: clock.now() - 1,
          outcome: 'success',
          phase: null,
          resolvedAt: clock.now(),
          prs: [1, 2],
          actions: [1, 2].map((pr, cursor) => ({
            pr,
            action: 'landed' as const,
            stagingSha: 'a'.repeat(40),
            cursor,
            gateVerdict: 'success' as const,
          })),
        }),
      ],
      events: [givenEvent({ ...owner, at: clock.now(), event: 'pr_landed' })],
    },
  );
  await store.releaseLease(repo.id, grant);
}
