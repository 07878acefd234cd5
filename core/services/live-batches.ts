import { QUEUE_BATCHES_MAX } from '../domain/api-limits.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import type { AccountStore } from '../ports/account-store.ts';

export type LiveStore = Pick<AccountStore, 'readBatchHistory' | 'readQueueViews'>;

/**
 * Pull requests of a repo for whom something of ours may be posted: those of batches that are not resolved, and the one
 * that lands. That one may be on its way by a proof of an earlier batch, when no row of its own is open any more.
 */
export async function readLivePrs(
  store: LiveStore,
  repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
): Promise<readonly number[]> {
  const { batches } = await store.readBatchHistory(repo.tenantId, QUEUE_BATCHES_MAX);
  const live = batches.filter((row) => row.repoId === repo.id && row.outcome === 'running');
  const view = (await store.readQueueViews([repo.id])).get(repo.id);
  const landing = view?.line.filter(({ state }) => state === 'landing').map(({ pr }) => pr) ?? [];
  const block = view?.block;
  // It may have left the line while its success is being taken back.
  if (block?.pr != null && (block.kind === 'merge' || block.kind === 'revoke')) landing.push(block.pr);
  return [...new Set([...live.flatMap((row) => row.prs), ...landing])];
}
