import type { RepoId, TenantId } from '../../domain/ids.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { holdsOf, type StoredHolds } from '../../domain/repos/stored-holds.ts';
import type { Guard } from './rows/guard-item.ts';
import { guard } from './rows/guard-item.ts';
import type { Key } from './rows/keys.ts';
import { REPO_SORT_PREFIX, repoKey, tenantKey, wakeKey } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { RepoSettings } from './rows/repo-item.ts';
import { repoSettings } from './rows/repo-item.ts';
import type { WakeState } from './rows/wake-item.ts';
import { wakeState } from './rows/wake-item.ts';
import type { Row, Table } from './table/table.ts';

function joinRepo(settings: RepoSettings, wake: WakeState): ManagedRepo {
  const { wakeSeq, stopUntil, deliveryHeardAt, statusHeardAt, runHeardAt } = wake;
  const heard = {
    ...(deliveryHeardAt === undefined ? {} : { delivery: deliveryHeardAt }),
    ...(statusHeardAt === undefined ? {} : { status: statusHeardAt }),
    ...(runHeardAt === undefined ? {} : { run: runHeardAt }),
  };
  return {
    ...settings,
    wakeSeq,
    dueAt: wake.enabled ? wake.dueAt : null,
    ...(stopUntil === undefined ? {} : { stopUntil }),
    ...(Object.keys(heard).length === 0 ? {} : { heard }),
  };
}

/** Reads a repository, which is two rows; null when either is missing, because they are created and deleted together. */
export async function readRepo(
  table: Table,
  tenantId: TenantId,
  id: RepoId,
  operation: string,
): Promise<ManagedRepo | null> {
  return (await readRepoWithRow(table, tenantId, id, operation))?.repo ?? null;
}

/** As `readRepo`, with the row of its settings as it is stored. */
export async function readRepoWithRow(
  table: Table,
  tenantId: TenantId,
  id: RepoId,
  operation: string,
): Promise<{ readonly repo: ManagedRepo; readonly row: Row } | null> {
  const rows = await table.getMany([repoKey(tenantId, id), wakeKey(id)], operation);
  const settings = rows.find((row) => row.pk === repoKey(tenantId, id).pk);
  const wake = rows.find((row) => row.pk === wakeKey(id).pk);
  if (settings === undefined || wake === undefined) return null;
  const repo = joinRepo(readRow(repoSettings, settings, operation), readRow(wakeState, wake, operation));
  return { repo, row: settings };
}

export async function readHolds(table: Table, tenantId: TenantId, id: RepoId): Promise<StoredHolds | null> {
  const repo = await readRepo(table, tenantId, id, 'readHolds');
  return repo === null ? null : holdsOf(repo, table.clock.now());
}

/** Reads a repository by its id alone; its wake row names the tenant. */
export async function readRepoById(table: Table, id: RepoId, operation: string): Promise<ManagedRepo | null> {
  const row = await table.get(wakeKey(id), operation);
  if (row === null) return null;
  const wake = readRow(wakeState, row, operation);
  const settings = await table.get(repoKey(wake.tenantId, id), operation);
  return settings === null ? null : joinRepo(readRow(repoSettings, settings, operation), wake);
}

export async function readGuard(table: Table, key: Key | null, operation: string): Promise<Guard | null> {
  const row = key === null ? null : await table.get(key, operation);
  return row === null ? null : readRow(guard, row, operation);
}

/** All repos of one tenant, in order of their ids. */
export async function readReposOf(
  table: Table,
  tenantId: TenantId,
  operation: string,
): Promise<readonly ManagedRepo[]> {
  const rows = await readPrefix(table, tenantKey(tenantId).pk, REPO_SORT_PREFIX, operation);
  const settings = rows.map((row) => readRow(repoSettings, row, operation));
  const wakeRows = await table.getMany(
    settings.map((each) => wakeKey(each.id)),
    operation,
  );
  const wakes = new Map(
    wakeRows.map((row) => readRow(wakeState, row, operation)).map((wake) => [wake.repoId, wake]),
  );
  return settings.flatMap((each) => {
    const wake = wakes.get(each.id);
    return wake === undefined ? [] : [joinRepo(each, wake)];
  });
}

/** Repos by tenant and id, in that order; one that is gone is left out. */
export async function readReposByKey(
  table: Table,
  wanted: readonly { readonly tenantId: TenantId; readonly id: RepoId }[],
  operation: string,
): Promise<readonly ManagedRepo[]> {
  const rows = await table.getMany(
    wanted.flatMap(({ tenantId, id }) => [repoKey(tenantId, id), wakeKey(id)]),
    operation,
  );
  const byKey = new Map(rows.map((row) => [`${String(row.pk)} ${String(row.sk)}`, row]));
  return wanted.flatMap(({ tenantId, id }) => {
    const settings = byKey.get(`${repoKey(tenantId, id).pk} ${repoKey(tenantId, id).sk}`);
    const wake = byKey.get(`${wakeKey(id).pk} ${wakeKey(id).sk}`);
    if (settings === undefined || wake === undefined) return [];
    return [joinRepo(readRow(repoSettings, settings, operation), readRow(wakeState, wake, operation))];
  });
}

export async function readPrefix(
  table: Table,
  partition: string,
  prefix: string,
  operation: string,
): Promise<readonly Row[]> {
  return table.query(
    {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': partition, ':prefix': prefix },
    },
    Number.POSITIVE_INFINITY,
    operation,
  );
}
