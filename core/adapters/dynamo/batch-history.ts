import type { TenantId } from '../../domain/ids.ts';
import type { NodeRow } from '../../domain/queue/batch.ts';
import type { BatchHistory, BatchSearch, RecordError } from '../../ports/account-store.ts';
import { StoreError } from '../../ports/store.ts';
import { batchCursor, batchCursorAfter, batchPartition, batchSortKeyAt } from './rows/keys.ts';
import { nodeRow } from './rows/node-item.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

/** Text that sorts after every sort key. */
const ABOVE_ALL = '~';

export async function readBatchHistory(
  table: Table,
  tenantId: TenantId,
  search: BatchSearch,
): Promise<BatchHistory> {
  const { limit } = search;
  const { rows, end } = await readSome(table, tenantId, search);
  const batches: NodeRow[] = [];
  const errors: RecordError[] = [];
  for (const row of rows.slice(0, limit)) {
    try {
      batches.push(readRow(nodeRow, row, 'readBatchHistory'));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      errors.push({ id: idOf(row), reason: hasIdentity(row) ? 'unreadable' : 'missing_identity' });
    }
  }
  const isMore = rows.length > limit || end !== undefined;
  const last = isMore ? rows.slice(0, limit).at(-1)?.sk : undefined;
  if (typeof last === 'string') return { batches, errors, next: batchCursor(last) };
  return { batches, errors, next: end === undefined ? null : batchCursorAfter(end) };
}

/**
 * Reads the newest rows. `end`: sort key of the last row that was looked at, of any repository, where there may be more
 * behind it. Where the rows of all repositories are read it is undefined, and one row beyond `limit` tells that there
 * are more.
 */
async function readSome(
  table: Table,
  tenantId: TenantId,
  { limit, before, repoIds, scannedMax }: BatchSearch,
): Promise<{ readonly rows: readonly Row[]; readonly end: string | undefined }> {
  const below = before === null ? ABOVE_ALL : batchSortKeyAt(before);
  const operation = 'readBatchHistory';
  const input = {
    KeyConditionExpression: 'pk = :pk AND sk < :below',
    ExpressionAttributeValues: { ':pk': batchPartition(tenantId), ':below': below },
    ScanIndexForward: false,
  };
  // One more than was asked for tells whether there are more.
  if (repoIds === null) return { rows: await table.query(input, limit + 1, operation), end: undefined };
  if (repoIds.length === 0) return { rows: [], end: undefined };
  // `IN` takes 100 values (DynamoDB, comparison operator and function reference), as many as a token may name (API_TOKEN_REPOS_MAX).
  const names = Object.fromEntries(repoIds.map((id, index) => [`:repo${index}`, id]));
  const rows: Row[] = [];
  const end = await table.walkFiltered(
    {
      ...input,
      FilterExpression: `repo_id IN (${Object.keys(names).join(', ')})`,
      ExpressionAttributeValues: { ...input.ExpressionAttributeValues, ...names },
    },
    scannedMax,
    (row) => rows.push(row) <= limit,
    operation,
  );
  return { rows, end };
}

/** Whether a row has its batch and node. Rows from before lineage was stored have neither. */
function hasIdentity(row: Row): boolean {
  return typeof row.run_id === 'string' && typeof row.node_id === 'string';
}

function idOf(row: Row): string {
  if (typeof row.batch_id === 'string') return row.batch_id;
  return typeof row.sk === 'string' ? (row.sk.split('#')[2] ?? '') : '';
}
