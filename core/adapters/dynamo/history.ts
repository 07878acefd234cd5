import type { ActivityEvent, BatchRow } from '../../domain/batch.ts';
import type { TenantId } from '../../domain/ids.ts';
import { activityEvent, batchRow, readRow } from './items.ts';
import { batchPartition, eventPartition } from './keys.ts';
import type { Row, Table } from './table.ts';

/** Newest first. */
export async function listBatches(
  table: Table,
  tenantId: TenantId,
  limit: number,
): Promise<readonly BatchRow[]> {
  const rows = await readNewest(table, batchPartition(tenantId), limit, 'listBatches');
  return rows.map((row) => readRow(batchRow, row, 'listBatches'));
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
