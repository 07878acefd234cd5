import type { OwedHeads, QueueView } from '../domain/queue-view.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import type { AccountStore } from '../ports/account-store.ts';
import type { EnrollmentStore } from '../ports/store.ts';

export type LiveStore = Pick<AccountStore, 'readQueueViews'> & Pick<EnrollmentStore, 'listRunningBatches'>;

/**
 * Pull requests of a repo for whom something of ours may be posted: those of batches that are not resolved, and the one
 * that lands. That one may be on its way by a proof of an earlier batch, when no row of its own is open any more.
 */
export async function readLivePrs(
  store: LiveStore,
  repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
): Promise<readonly number[]> {
  const rows = await store.listRunningBatches(repo);
  const view = (await store.readQueueViews([repo.id])).get(repo.id);
  return [...new Set([...rows.flatMap((row) => row.prs), ...shownInFlight(view)])];
}

/** What the newest view says of them: the rows are found by an index, which may lag behind it. */
function shownInFlight(view: QueueView | undefined): readonly number[] {
  const shown = view?.line.filter(({ state }) => state === 'landing' || state === 'staged') ?? [];
  const block = view?.block;
  // It may have left the queue while its success is being taken back.
  const landing = block?.kind === 'merge' || block?.kind === 'revoke' ? block.pr : null;
  return [...shown.map(({ pr }) => pr), ...(landing === null ? [] : [landing])];
}

/** Where something of ours may be left when nobody can take it back any more. */
export async function readOwedHeads(
  store: LiveStore,
  repo: Pick<ManagedRepo, 'id' | 'tenantId' | 'statusContext'>,
): Promise<OwedHeads> {
  const owed = (await store.readQueueViews([repo.id])).get(repo.id)?.owed;
  const live = await readLivePrs(store, repo);
  return {
    context: owed?.context ?? repo.statusContext,
    prs: [...new Set([...(owed?.prs ?? []), ...live])],
    heads: owed?.heads ?? [],
  };
}
