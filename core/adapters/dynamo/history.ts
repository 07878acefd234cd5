import type { TenantId } from '../../domain/ids.ts';
import type { ActivityEvent, NodeRow, OwnEvent } from '../../domain/queue/batch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { StoreError } from '../../ports/store.ts';
import { activityEvent } from './rows/event-items.ts';
import { batchPartition, eventPartition, storedPlace } from './rows/keys.ts';
import { nodeRow } from './rows/node-item.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

/** Rows of the tenant that are looked through for those of one repository. */
const SCANNED_ROWS_MAX = 10_000;

/** Newest first. */
export async function listBatches(
  table: Table,
  tenantId: TenantId,
  limit: number,
): Promise<readonly NodeRow[]> {
  const rows = await readNewest(table, batchPartition(tenantId), limit, 'listBatches');
  return rows.map((row) => readRow(nodeRow, row, 'listBatches'));
}

/** Newest first. */
export async function listEvents(
  table: Table,
  tenantId: TenantId,
  limit: number,
): Promise<readonly ActivityEvent[]> {
  const rows = await readNewest(table, eventPartition(tenantId), limit, 'listEvents');
  return rows.map((row) => readRow(activityEvent, row, 'listEvents'));
}

type Owner = Pick<ManagedRepo, 'id' | 'tenantId'>;

export function listOwnBatches(
  table: Table,
  repo: Owner,
  limit: number,
  scannedMax = SCANNED_ROWS_MAX,
): Promise<readonly NodeRow[]> {
  const ends = { rowsMax: limit, scannedMax };
  const read = (row: Row): NodeRow => readRow(nodeRow, row, 'listOwnBatches');
  return readOwn(table, batchPartition(repo.tenantId), repo, ends, read, 'listOwnBatches');
}

export function listOwnEvents(
  table: Table,
  repo: Owner,
  limit: number,
  scannedMax = SCANNED_ROWS_MAX,
): Promise<readonly OwnEvent[]> {
  const ends = { rowsMax: limit, scannedMax };
  const read = (row: Row): OwnEvent => ({
    ...readRow(activityEvent, row, 'listOwnEvents'),
    stored: storedPlace(String(row.sk)),
  });
  return readOwn(table, eventPartition(repo.tenantId), repo, ends, read, 'listOwnEvents');
}

/** Reads the rows of one repository. A damaged row is left out, because it must not keep a queue from being rebuilt. */
async function readOwn<T>(
  table: Table,
  partition: string,
  repo: Owner,
  ends: { readonly rowsMax: number; readonly scannedMax: number },
  read: (row: Row) => T,
  operation: string,
): Promise<readonly T[]> {
  const rows = await table.queryFiltered(
    {
      KeyConditionExpression: 'pk = :pk',
      FilterExpression: 'repo_id = :repo',
      ExpressionAttributeValues: { ':pk': partition, ':repo': repo.id },
      ScanIndexForward: false,
    },
    ends,
    operation,
  );
  return rows.flatMap((row) => {
    try {
      return [read(row)];
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'unreadable') return [];
      throw error;
    }
  });
}

async function readNewest(
  table: Table,
  partition: string,
  limit: number,
  operation: string,
): Promise<readonly Row[]> {
  if (limit <= 0) return [];
  return table.query(
    {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': partition },
      ScanIndexForward: false,
    },
    limit,
    operation,
  );
}
