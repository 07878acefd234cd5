import type { LeftHeads } from '../../domain/obligations.ts';
import type { ForgeAddress, WindDown } from '../../ports/store.ts';
import { record, text, whole } from './codec.ts';
import { readRow } from './items.ts';
import { LEFT_HEADS_SORT_PREFIX, WIND_DOWN_SORT_PREFIX, windDownPartition } from './keys.ts';
import { leftHeads } from './obligations.ts';
import { readPrefix } from './read-repos.ts';
import type { Table } from './table.ts';

export const windDown = record<WindDown>({
  tenantId: ['tenant_id', text],
  id: ['repo_id', text],
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

export async function listLeftHeads(table: Table, address: ForgeAddress): Promise<readonly LeftHeads[]> {
  const partition = windDownPartition(address);
  if (partition === null) return [];
  const rows = await readPrefix(table, partition, LEFT_HEADS_SORT_PREFIX, 'listLeftHeads');
  const now = table.clock.now();
  return rows
    .filter((row) => readRow(whole, row.expires_at, 'listLeftHeads') > now)
    .map((row) => readRow(leftHeads, row, 'listLeftHeads'));
}
