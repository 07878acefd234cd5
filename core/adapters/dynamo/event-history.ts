import type { ActivityEvent } from '../../domain/queue/batch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { EventHistory, EventSearch } from '../../ports/account-store.ts';
import { StoreError } from '../../ports/store.ts';
import { activityEvent } from './rows/event-items.ts';
import { eventCursor, eventPartition, eventSortKeyAt } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

/** Sorts above every key of an event. */
const ABOVE_ALL = 'E#~';

/**
 * Events of one repository, newest first. The rows of all repositories of a tenant are in one partition by time, so the
 * table filters out those of others.
 */
export async function readEventHistory(
  table: Table,
  repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
  { wanted, limit, scannedMax, before }: EventSearch,
): Promise<EventHistory> {
  const found: { readonly event: ActivityEvent; readonly sortKey: string }[] = [];
  const below = before === null ? ABOVE_ALL : eventSortKeyAt(before, repo.id);
  const end = await table.walkFiltered(
    {
      KeyConditionExpression: 'pk = :pk AND sk < :below',
      FilterExpression: 'repo_id = :repo',
      ExpressionAttributeValues: { ':pk': eventPartition(repo.tenantId), ':below': below, ':repo': repo.id },
      ScanIndexForward: false,
    },
    scannedMax,
    (row) => {
      const event = readOrLeave(row);
      if (event !== null && wanted(event)) found.push({ event, sortKey: String(row.sk) });
      return found.length <= limit;
    },
    'readEventHistory',
  );
  const events = found.slice(0, limit).map(({ event }) => event);
  // One more than was asked for: the last that is given is where the next page begins.
  const last = found.length > limit ? found[limit - 1]?.sortKey : end;
  return { events, next: last === undefined ? null : eventCursor(last, repo.id) };
}

function readOrLeave(row: Row): ActivityEvent | null {
  try {
    return readRow(activityEvent, row, 'readEventHistory');
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'unreadable') return null;
    throw error;
  }
}
