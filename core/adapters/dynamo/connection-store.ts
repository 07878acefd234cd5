import type { ConnectionId, TenantId } from '../../domain/ids.ts';
import type { Connection } from '../../domain/repos/repo.ts';
import type { EnrollmentStore } from '../../ports/store.ts';
import { StoreError } from '../../ports/store.ts';
import { readGuard, readPrefix } from './read-repos.ts';
import { connection } from './rows/connection-item.ts';
import type { Key } from './rows/keys.ts';
import { CONNECTION_SORT_PREFIX, connectionKey, identityGuardKey, tenantKey } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import { toConnectionRow, toGuardRow } from './rows/rows.ts';
import type { BlockingRow, Step, Table } from './table/table.ts';

type ConnectionMethods = Pick<
  EnrollmentStore,
  | 'createConnection'
  | 'findConnection'
  | 'listConnections'
  | 'updateConnection'
  | 'markConnectionDeleting'
  | 'deleteConnection'
>;

/** Tries to mark a connection; a rename in between costs one. */
const MARK_TRIES_MAX = 5;

export function createConnectionMethods(table: Table): ConnectionMethods {
  return {
    createConnection: (value, connectionsMax = null) => createConnection(table, value, connectionsMax),

    async findConnection(instanceUrl, botUsername) {
      const guardKey = identityGuardKey(instanceUrl, botUsername);
      const holder = await readGuard(table, guardKey, 'findConnection');
      if (holder === null) return null;
      const row = await table.get(connectionKey(holder.tenantId, holder.id), 'findConnection');
      return row === null ? null : readRow(connection, row, 'findConnection');
    },

    async listConnections(tenantId) {
      const rows = await readPrefix(table, tenantKey(tenantId).pk, CONNECTION_SORT_PREFIX, 'listConnections');
      return rows.map((row) => readRow(connection, row, 'listConnections'));
    },

    updateConnection: (previous, next) => updateConnection(table, previous, next),

    markConnectionDeleting: (tenantId, id) => markConnectionDeleting(table, tenantId, id),
    deleteConnection: (tenantId, id) => deleteConnection(table, tenantId, id),
  };
}

function guardKeyOf(value: Connection): Key {
  const key = identityGuardKey(value.instanceUrl, value.botUsername);
  if (key === null) throw new RangeError('a connection needs an instance URL that has a normal form');
  return key;
}

/** Tenant and row that hold a guard, read from the guard row that refused. */
function readHolder(
  blocking: BlockingRow,
  operation: string,
): { readonly takenBy: TenantId; readonly id: string } {
  const takenBy = blocking.tenant_id?.S;
  const id = blocking.guards_id?.S;
  if (takenBy === undefined || id === undefined) throw new StoreError('unreadable', operation);
  return { takenBy, id };
}

/**
 * Step that adds to a counter of a tenant. It refuses for a deleted tenant, which must not come back as a bare counter
 * (A100), and for one that is being deleted (D-62). With a ceiling the condition reads the counter in the same
 * transaction (E8).
 */
export function countStep(
  tenantId: TenantId,
  counter: 'conn_count' | 'repo_count',
  by: 1 | -1,
  max: number | null = null,
): Step {
  const conditions = ['attribute_exists(pk)'];
  if (by > 0) conditions.push('attribute_not_exists(deleting)');
  if (max !== null) conditions.push('#counter < :max');
  return {
    name: 'tenant',
    update: {
      Key: tenantKey(tenantId),
      UpdateExpression: 'ADD #counter :by',
      ConditionExpression: conditions.join(' AND '),
      ExpressionAttributeNames: { '#counter': counter },
      ExpressionAttributeValues: { ':by': by, ...(max === null ? {} : { ':max': max }) },
    },
  };
}

/** Whether a count was refused by the ceiling: the tenant's row is there, and the tenant is not being deleted. */
export function isFull(tenant: BlockingRow | undefined): boolean {
  return tenant?.pk !== undefined && tenant.deleting === undefined;
}

async function createConnection(
  table: Table,
  value: Connection,
  connectionsMax: number | null,
): ReturnType<EnrollmentStore['createConnection']> {
  const refusals = await table.transact(
    [
      {
        name: 'identity',
        put: {
          Item: toGuardRow(guardKeyOf(value), value.tenantId, value.id),
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      {
        name: 'connection',
        put: { Item: toConnectionRow(value), ConditionExpression: 'attribute_not_exists(pk)' },
      },
      countStep(value.tenantId, 'conn_count', 1, connectionsMax),
    ],
    'createConnection',
  );
  const identity = refusals.get('identity');
  if (identity !== undefined) return readHolder(identity, 'createConnection');
  if (isFull(refusals.get('tenant'))) return 'limit_reached';
  if (refusals.size > 0) throw new StoreError('lost_race', 'createConnection');
  return 'created';
}

async function updateConnection(
  table: Table,
  previous: Connection,
  next: Connection,
): ReturnType<EnrollmentStore['updateConnection']> {
  const oldGuard = guardKeyOf(previous);
  const newGuard = guardKeyOf(next);
  if (
    previous.id !== next.id ||
    previous.tenantId !== next.tenantId ||
    identityGuardKey(previous.instanceUrl, '')?.pk !== identityGuardKey(next.instanceUrl, '')?.pk
  ) {
    throw new RangeError('the id, tenant and instance of a connection cannot change');
  }
  const moveGuard: Step[] =
    oldGuard.pk === newGuard.pk
      ? []
      : [
          {
            name: 'identity',
            put: {
              Item: toGuardRow(newGuard, next.tenantId, next.id),
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
          { name: 'old identity', delete: { Key: oldGuard } },
        ];
  const refusals = await table.transact(
    [
      {
        name: 'connection',
        put: {
          Item: toConnectionRow(next),
          ConditionExpression:
            'deleting = :false AND updated_at = :updated AND credential.encrypted_token = :token AND credential.encrypted_dek = :dek',
          ExpressionAttributeValues: {
            ':false': false,
            ':updated': previous.updatedAt,
            ':token': previous.credential.encryptedToken,
            // A re-wrap changes neither the times nor the token: without the data key a change would undo it.
            ':dek': previous.credential.encryptedDek,
          },
        },
      },
      ...moveGuard,
    ],
    'updateConnection',
  );
  if (refusals.has('connection')) throw new StoreError('lost_race', 'updateConnection');
  const identity = refusals.get('identity');
  return identity === undefined ? 'updated' : readHolder(identity, 'updateConnection');
}

function freeIdentity(value: Connection): Step {
  return {
    name: 'identity',
    delete: {
      Key: guardKeyOf(value),
      ConditionExpression: 'guards_id = :id',
      ExpressionAttributeValues: { ':id': value.id },
    },
  };
}

async function markConnectionDeleting(table: Table, tenantId: TenantId, id: ConnectionId): Promise<boolean> {
  for (let tried = 0; tried < MARK_TRIES_MAX; tried += 1) {
    const row = await table.get(connectionKey(tenantId, id), 'markConnectionDeleting');
    if (row === null) return false;
    const stored = readRow(connection, row, 'markConnectionDeleting');
    if (stored.deleting) return true;
    const mark: Step = {
      name: 'connection',
      update: {
        Key: connectionKey(tenantId, id),
        // Out of the lists of the operator as well.
        UpdateExpression: 'SET deleting = :true REMOVE gsi2pk, gsi2sk',
        // The identity that is freed must be the one it has.
        ConditionExpression: 'deleting = :false AND bot_username = :bot',
        ExpressionAttributeValues: { ':true': true, ':false': false, ':bot': stored.botUsername },
      },
    };
    const refusals = await transactCounted(
      table,
      [mark, freeIdentity(stored)],
      countStep(tenantId, 'conn_count', -1),
      'markConnectionDeleting',
    );
    if (refusals.size === 0) return true;
  }
  throw new StoreError('lost_race', 'markConnectionDeleting');
}

async function deleteConnection(table: Table, tenantId: TenantId, id: ConnectionId): Promise<void> {
  const row = await table.get(connectionKey(tenantId, id), 'deleteConnection');
  if (row === null) return;
  const stored = readRow(connection, row, 'deleteConnection');
  const remove: Step = {
    name: 'connection',
    delete: {
      Key: connectionKey(tenantId, id),
      ConditionExpression: 'deleting = :true',
      ExpressionAttributeValues: { ':true': true },
    },
  };
  // One that was marked by an earlier version still has its identity and its place.
  const holder = await readGuard(table, guardKeyOf(stored), 'deleteConnection');
  const refusals =
    holder?.id === id
      ? await transactCounted(
          table,
          [remove, freeIdentity(stored)],
          countStep(tenantId, 'conn_count', -1),
          'deleteConnection',
        )
      : await table.transact([remove], 'deleteConnection');
  // Refused on the row: not marked, or deleted by another call in between.
  if (refusals.size > 0 && (await table.get(connectionKey(tenantId, id), 'deleteConnection')) !== null) {
    throw new StoreError('lost_race', 'deleteConnection');
  }
}

/**
 * Runs a transaction that counts down, and runs it without the counter where the tenant's row is gone, so that a
 * deletion ends also then.
 */
export async function transactCounted(
  table: Table,
  steps: readonly Step[],
  counter: Step,
  operation: string,
): ReturnType<Table['transact']> {
  const refusals = await table.transact([...steps, counter], operation);
  const onlyCounter = refusals.size === 1 && refusals.has(counter.name);
  return onlyCounter ? table.transact(steps, operation) : refusals;
}
