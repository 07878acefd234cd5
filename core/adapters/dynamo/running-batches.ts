import { GSI1 } from '../../contracts/internal/table.ts';
import type { NodeRow } from '../../domain/queue/batch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { text } from './rows/codec.ts';
import { batchPartition, PHASE_PARTITION } from './rows/keys.ts';
import { nodeRow } from './rows/node-item.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

type Owner = Pick<ManagedRepo, 'id' | 'tenantId'>;

export async function listRunningBatches(table: Table, repo: Owner): Promise<readonly NodeRow[]> {
  const rows = await findRunningRows(table, repo, 'listRunningBatches');
  return rows.map((row) => readRow(nodeRow, row, 'listRunningBatches'));
}

/**
 * Rows of the running batches of a repository. The index has those of all repositories, so the rows of the tenant are
 * filtered.
 */
export async function findRunningRows(table: Table, repo: Owner, operation: string): Promise<readonly Row[]> {
  const pk = batchPartition(repo.tenantId);
  const found = await table.query(
    {
      IndexName: GSI1.name,
      KeyConditionExpression: 'gsi1pk = :phase',
      FilterExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':phase': PHASE_PARTITION, ':pk': pk },
    },
    Number.POSITIVE_INFINITY,
    operation,
  );
  const rows = await table.getMany(
    found.map((row) => ({ pk, sk: readRow(text, row.sk, operation) })),
    operation,
  );
  return rows.filter((row) => row.repo_id === repo.id && row.outcome === 'running');
}
