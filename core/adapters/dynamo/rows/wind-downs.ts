import type { LeftHeads } from '../../../domain/queue/obligations.ts';
import type { BranchAddress, ForgeAddress, WindDown } from '../../../ports/store.ts';
import { readPrefix } from '../read-repos.ts';
import type { Table } from '../table/table.ts';
import { defaulted, nullable, record, text, whole } from './codec.ts';
import { LEFT_HEADS_SORT_PREFIX, WIND_DOWN_SORT_PREFIX, windDownPartition } from './keys.ts';
import { leftHeads } from './obligations.ts';
import { readRow } from './read-row.ts';

export const windDown = record<WindDown>({
  tenantId: ['tenant_id', text],
  id: ['repo_id', text],
  // Rows of before several branches name neither.
  baseBranch: ['base_branch', defaulted(nullable(text), null)],
  statusContext: ['status_context', defaulted(nullable(text), null)],
  at: ['at', whole],
});

export async function listWindDowns(table: Table, address: ForgeAddress): Promise<readonly WindDown[]> {
  const partition = windDownPartition(address);
  if (partition === null) return [];
  const rows = await readPrefix(table, partition, WIND_DOWN_SORT_PREFIX, 'listWindDowns');
  return rows
    .map((row) => readRow(windDown, row, 'listWindDowns'))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

export async function listLeftHeads(table: Table, address: BranchAddress): Promise<readonly LeftHeads[]> {
  const partition = windDownPartition(address);
  if (partition === null) return [];
  const rows = await readPrefix(table, partition, LEFT_HEADS_SORT_PREFIX, 'listLeftHeads');
  const now = table.clock.now();
  return rows
    .filter((row) => readRow(whole, row.expires_at, 'listLeftHeads') > now)
    .filter((row) => row.base_branch === undefined || row.base_branch === address.baseBranch)
    .map((row) => readRow(leftHeads, row, 'listLeftHeads'));
}
