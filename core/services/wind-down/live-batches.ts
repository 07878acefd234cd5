import type { LeftHeads, Obligations } from '../../domain/queue/obligations.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { DispatchStore, EnrollmentStore } from '../../ports/store.ts';

export type LiveStore = Pick<DispatchStore, 'readObligations'> & Pick<EnrollmentStore, 'listRunningBatches'>;

/**
 * Pull requests of a repo that may carry a success of the queue: those of batches that are not resolved, and the one that
 * lands. A pull request may land by a proof of an earlier batch, when no row of its own is open any more.
 */
export async function readLivePrs(
  store: LiveStore,
  repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
): Promise<readonly number[]> {
  return findLivePrs(store, repo, await store.readObligations(repo.id));
}

/** The rows are found by an index, which may lag behind the obligations. */
async function findLivePrs(
  store: LiveStore,
  repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
  obligations: Obligations | null,
): Promise<readonly number[]> {
  const rows = await store.listRunningBatches(repo);
  return [...new Set([...rows.flatMap((row) => row.prs), ...(obligations?.inFlight ?? [])])];
}

/** Heads that may keep a status of the queue when it can no longer be taken back. */
export async function readLeftHeads(
  store: LiveStore,
  repo: Pick<ManagedRepo, 'id' | 'tenantId' | 'statusContext'>,
): Promise<LeftHeads> {
  const obligations = await store.readObligations(repo.id);
  const left = obligations?.left ?? null;
  const live = await findLivePrs(store, repo, obligations);
  return {
    context: left?.context ?? repo.statusContext,
    prs: [...new Set([...(left?.prs ?? []), ...live])],
    heads: left?.heads ?? [],
  };
}
