import { QUEUE_BATCHES_MAX } from '../domain/api-limits.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import type { AccountStore } from '../ports/account-store.ts';

/** Pull requests of a repo that are in a batch which is not resolved: something of ours may be posted for them. */
export async function readLivePrs(
  store: Pick<AccountStore, 'readBatchHistory'>,
  repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
): Promise<readonly number[]> {
  const { batches } = await store.readBatchHistory(repo.tenantId, QUEUE_BATCHES_MAX);
  const live = batches.filter((row) => row.repoId === repo.id && row.outcome === 'running');
  return [...new Set(live.flatMap((row) => row.prs))];
}
