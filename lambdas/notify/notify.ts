import { readChanges, type StoredChange } from '#core/adapters/dynamo/rows/changes.ts';
import type { StreamAnswer } from '#core/contracts/internal/stream.ts';
import { StoreError } from '#core/ports/store.ts';
import { announceEvent, announceNotice, type NotifyDeps } from '#core/services/notices/notify.ts';

/** A change that was not claimed because the store failed is tried again; one that was claimed is not (A84). */
export function createNotify(deps: NotifyDeps): (event: unknown) => Promise<StreamAnswer> {
  return async (event) => {
    const added = readChanges(event).filter((change) => change.kind === 'INSERT');
    const failed = await Promise.all(added.map((change) => announce(deps, change)));
    return { batchItemFailures: failed.flatMap((each) => (each === null ? [] : [each])) };
  };
}

async function announce(
  deps: NotifyDeps,
  change: StoredChange,
): Promise<StreamAnswer['batchItemFailures'][number] | null> {
  try {
    const { what, tenantId, row } = change;
    if (what === 'event') await announceEvent(deps, row);
    else if (what === 'notice' && tenantId !== null) await announceNotice(deps, tenantId, row);
    return null;
  } catch (error) {
    deps.log.error('a change could not be looked at', { error });
    // A row that cannot be read now cannot be read later.
    const passing = error instanceof StoreError && error.kind !== 'unreadable';
    return passing ? { itemIdentifier: change.sequence } : null;
  }
}
