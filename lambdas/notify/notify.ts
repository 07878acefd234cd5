import { parseStreamEvent, type StreamAnswer, type StreamChange } from '#core/contracts/stream.ts';
import { STREAM_PREFIXES } from '#core/contracts/table.ts';
import { StoreError } from '#core/ports/store.ts';
import { announceBounce, announceNotice, type NotifyDeps } from '#core/services/notify.ts';

/** What was not claimed because the store failed is tried again; whatever was claimed is not (A84). */
export function createNotify(deps: NotifyDeps): (event: unknown) => Promise<StreamAnswer> {
  return async (event) => {
    const added = parseStreamEvent(event).filter((change) => change.kind === 'INSERT');
    const failed = await Promise.all(added.map((change) => announce(deps, change)));
    return { batchItemFailures: failed.flatMap((each) => (each === null ? [] : [each])) };
  };
}

async function announce(
  deps: NotifyDeps,
  change: StreamChange,
): Promise<StreamAnswer['batchItemFailures'][number] | null> {
  try {
    if (change.pk.startsWith(STREAM_PREFIXES.events)) await announceBounce(deps, change);
    else if (change.pk.startsWith(STREAM_PREFIXES.notices)) await announceNotice(deps, change);
    return null;
  } catch (error) {
    deps.log.error('a change could not be looked at', { error });
    // A row that cannot be read now cannot be read later.
    const passing = error instanceof StoreError && error.kind !== 'unreadable';
    return passing ? { itemIdentifier: change.sequence } : null;
  }
}
