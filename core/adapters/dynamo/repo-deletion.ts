import { DAY_MS } from '../../domain/api-limits.ts';
import { DELETED_LEASE_KEPT_MS, LEFT_HEADS_KEPT_MS } from '../../domain/limits.ts';
import { closeRow, OPEN_OUTCOMES } from '../../domain/queue/batch.ts';
import type { LeftHeads } from '../../domain/queue/obligations.ts';
import type { ManagedBranch } from '../../domain/repos/managed-branch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { StoreError } from '../../ports/store.ts';
import { countStep, transactCounted } from './connection-store.ts';
import { readRepo, readReposByKey } from './read-repos.ts';
import { type Address, addressStep, readAddress, withoutBranch } from './rows/addresses.ts';
import { UnreadableValue } from './rows/codec.ts';
import {
  batchPartition,
  hookKey,
  leaseKey,
  leftHeadsKey,
  outcomeKey,
  padTime,
  repoKey,
  repoPartition,
  wakeKey,
  windDownKey,
} from './rows/keys.ts';
import { nodeRow } from './rows/node-item.ts';
import { leftHeads } from './rows/obligations.ts';
import { readRow } from './rows/read-row.ts';
import { dueIndex, toGuardRow, toNodeRow, toRepoRow } from './rows/rows.ts';
import { wakeState } from './rows/wake-item.ts';
import { windDown } from './rows/wind-downs.ts';
import { findRunningRows } from './running-batches.ts';
import type { Row, Step, Table } from './table/table.ts';

/** Tries to delete; a PATCH between the read and the delete costs one. */
const DELETE_TRIES_MAX = 5;
/** Batches of one root are made within this time. */
const ROOT_SPAN_MS = DAY_MS;

/**
 * Steps that free the branch in the row of the address. The hook on the forge serves every managed branch of the
 * repository, so it passes to another branch; its secret is copied as it is sealed, because the code that deletes need
 * not be able to open it.
 */
async function leaveAddress(table: Table, repo: ManagedRepo, address: Address): Promise<readonly Step[]> {
  const left = withoutBranch(address, repo.id);
  return [addressStep(repo, address, left), ...(await handHookOver(table, repo, left))];
}

async function handHookOver(
  table: Table,
  repo: ManagedRepo,
  left: readonly ManagedBranch[],
): Promise<readonly Step[]> {
  const { tenantId, hookId, webhookSecret } = repo;
  if (hookId === null) return [];
  const others = await readReposByKey(
    table,
    left.map(({ id }) => ({ tenantId, id })),
    'handHookOver',
  );
  const heir = others.find((other) => other.wakeupMode === 'webhook') ?? others[0];
  if (heir === undefined || others.some((other) => other.hookId !== null)) return dropHook(repo);
  return [
    {
      name: 'heir',
      // No other column: a newer release may have written some that this one does not know.
      update: {
        Key: repoKey(tenantId, heir.id),
        UpdateExpression:
          'SET hook_id = :hook, webhook_secret = :secret, webhook_secret_of = :of, #version = :next',
        ConditionExpression: '#version = :version',
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: {
          ':hook': hookId,
          ':secret': webhookSecret?.reveal() ?? null,
          ':of': repo.webhookSecretOf ?? repo.id,
          ':version': heir.version,
          ':next': heir.version + 1,
        },
      },
    },
    { name: 'hook', put: { Item: toGuardRow(hookKey(hookId), tenantId, heir.id) } },
  ];
}

function dropHook(repo: ManagedRepo): readonly Step[] {
  return repo.hookId === null ? [] : [{ name: 'hook', delete: { Key: hookKey(repo.hookId) } }];
}

function versionCondition(repo: ManagedRepo) {
  return {
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':version': repo.version },
  };
}

/** Makes a repository a tombstone. Another branch of it that changes in between costs one more try. */
export async function buryRepo(table: Table, repo: ManagedRepo): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    const address = await readAddress(table, repo, 'buryRepo');
    if (!address?.branches.some(({ id }) => id === repo.id)) throw new StoreError('lost_race', 'buryRepo');
    const refusals = await tryBury(table, repo, address);
    if (refusals.size === 0) return;
    const isOther = [...refusals.keys()].every((name) => name === 'address' || name === 'heir');
    if (!isOther || tried === DELETE_TRIES_MAX) throw new StoreError('lost_race', 'buryRepo');
  }
}

async function tryBury(table: Table, repo: ManagedRepo, address: Address): ReturnType<Table['transact']> {
  const now = table.clock.now();
  const buried: ManagedRepo = {
    ...repo,
    tombstone: true,
    queueEnabled: false,
    hookId: null,
    webhookSecret: null,
    updatedAt: now,
    version: repo.version + 1,
  };
  return transactCounted(
    table,
    [
      { name: 'repo', put: { Item: toRepoRow(buried), ...versionCondition(repo) } },
      {
        name: 'wake',
        update: {
          Key: wakeKey(repo.id),
          ConditionExpression: 'attribute_exists(pk)',
          UpdateExpression: 'SET enabled = :true, due_at = :due, gsi1pk = :shard, gsi1sk = :sort',
          ExpressionAttributeValues: {
            ':true': true,
            ':due': now,
            ':shard': dueIndex(now, repo.id).gsi1pk,
            ':sort': dueIndex(now, repo.id).gsi1sk,
          },
        },
      },
      ...(await leaveAddress(table, repo, address)),
      {
        name: 'wind-down',
        put: {
          Item: {
            ...windDownKey(repo, repo.id),
            ...windDown.write({
              tenantId: repo.tenantId,
              id: repo.id,
              at: now,
              baseBranch: repo.baseBranch,
              statusContext: repo.statusContext,
            }),
          },
        },
      },
    ],
    countStep(repo.tenantId, 'repo_count', -1),
    'buryRepo',
  );
}

export async function deleteRepo(table: Table, repo: ManagedRepo, left?: LeftHeads): Promise<void> {
  const wake = await table.get(wakeKey(repo.id), 'deleteRepo');
  if (wake !== null && readRow(wakeState, wake, 'deleteRepo').tenantId !== repo.tenantId) return;
  for (let tried = 0; tried < DELETE_TRIES_MAX; tried += 1) {
    const stored = await readRepo(table, repo.tenantId, repo.id, 'deleteRepo');
    // Before the rows by which it is due: one that stayed open would look stuck for ever.
    await resolveBatches(table, repo);
    const refusals = stored === null ? new Map() : await deleteStored(table, stored, left);
    if (refusals.size === 0) {
      await sweepRepoPartition(table, repo);
      return;
    }
  }
  throw new StoreError('lost_race', 'deleteRepo');
}

async function deleteStored(
  table: Table,
  stored: ManagedRepo,
  left: LeftHeads | undefined,
): ReturnType<Table['transact']> {
  const now = table.clock.now();
  const ttl = Math.ceil((now + DELETED_LEASE_KEPT_MS) / 1000);
  // A buried repo has given its branch and its place back already, and another repo may have them by now.
  const address = await readAddress(table, stored, 'deleteRepo');
  const held = address?.branches.some(({ id }) => id === stored.id) === true ? address : null;
  const steps: readonly Step[] = [
    { name: 'repo', delete: { Key: repoKey(stored.tenantId, stored.id), ...versionCondition(stored) } },
    { name: 'wake', delete: { Key: wakeKey(stored.id) } },
    { name: 'outcome', delete: { Key: outcomeKey(stored.tenantId, stored.id) } },
    { name: 'wind-down', delete: { Key: windDownKey(stored, stored.id) } },
    ...(held === null ? dropHook(stored) : await leaveAddress(table, stored, held)),
    // Not deleted: a fence that starts again at 1 would let an old holder pass. It is raised, and swept a day later.
    {
      name: 'lease',
      update: {
        Key: leaseKey(stored.id),
        UpdateExpression: 'SET expires_at = :zero, #ttl = :ttl ADD #fence :one REMOVE #owner',
        ExpressionAttributeNames: { '#fence': 'fence', '#owner': 'owner', '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':zero': 0, ':ttl': ttl, ':one': 1 },
      },
    },
    ...(left === undefined ? [] : [leaveHeads(stored, left, now)]),
  ];
  if (held === null) return table.transact(steps, 'deleteRepo');
  return transactCounted(table, steps, countStep(stored.tenantId, 'repo_count', -1), 'deleteRepo');
}

/**
 * Step that keeps what the repository leaves on the forge. The row names no tenant, because it outlives the one that
 * left it.
 */
function leaveHeads(repo: ManagedRepo, left: LeftHeads, now: number): Step {
  const expiresAt = now + LEFT_HEADS_KEPT_MS;
  return {
    name: 'left heads',
    put: {
      Item: {
        ...leftHeadsKey(repo, now),
        ...leftHeads.write(left),
        base_branch: repo.baseBranch,
        expires_at: expiresAt,
        ttl: Math.ceil(expiresAt / 1000),
      },
    },
  };
}

/** Ends the running batches: the engine looks at them no more, and they would look stuck for ever (A43). */
async function resolveBatches(table: Table, repo: ManagedRepo): Promise<void> {
  const running = await findRunningRows(table, repo, 'deleteRepo');
  if (running.length === 0) return;
  const since = Math.min(...running.map((row) => Number(row.created_at))) - ROOT_SPAN_MS;
  const rows = await table.query(
    {
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      FilterExpression: 'repo_id = :repo',
      ExpressionAttributeValues: {
        ':pk': batchPartition(repo.tenantId),
        ':repo': repo.id,
        ':from': `B#${padTime(since)}`,
        ':to': 'B#~',
      },
    },
    Number.POSITIVE_INFINITY,
    'deleteRepo',
  );
  for (const row of rows) {
    if (OPEN_OUTCOMES.some((outcome) => outcome === row.outcome)) await resolveBatch(table, row);
  }
}

async function resolveBatch(table: Table, row: Row): Promise<void> {
  const now = table.clock.now();
  let closed: Row;
  try {
    closed = toNodeRow(closeRow(nodeRow.read(row), now, 'repo_deleted'));
  } catch (error) {
    if (!(error instanceof UnreadableValue)) throw error;
    // It cannot be shown, but the index must not count it as running.
    const { gsi1pk: _pk, gsi1sk: _sk, ...rest } = row;
    closed = { ...rest, outcome: 'operational_error', phase: null, resolved_at: now };
  }
  // Gone meanwhile with its tenant: then it must not come back.
  await table.put({ Item: closed, ConditionExpression: 'attribute_exists(pk)' }, 'deleteRepo');
}

/**
 * Deletes record, report and markers. It is safe only once the wake row is gone: from then on every write of them is
 * refused.
 */
async function sweepRepoPartition(table: Table, repo: ManagedRepo): Promise<void> {
  const rows = await table.query(
    {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': repoPartition(repo.id) },
      ProjectionExpression: 'pk, sk',
    },
    Number.POSITIVE_INFINITY,
    'deleteRepo',
  );
  await table.deleteMany(
    rows.map((row) => ({ pk: repoPartition(repo.id), sk: String(row.sk) })),
    'deleteRepo',
  );
}
