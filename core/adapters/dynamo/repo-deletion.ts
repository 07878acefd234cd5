import { DAY_MS } from '../../domain/api-limits.ts';
import { closeRow, OPEN_OUTCOMES } from '../../domain/batch.ts';
import { DELETED_LEASE_KEPT_MS, LEFT_HEADS_KEPT_MS } from '../../domain/limits.ts';
import type { LeftHeads } from '../../domain/obligations.ts';
import type { ManagedRepo } from '../../domain/repo.ts';
import { StoreError } from '../../ports/store.ts';
import { UnreadableValue } from './codec.ts';
import { countStep, transactCounted } from './connection-rows.ts';
import { nodeRow, readRow, wakeState } from './items.ts';
import {
  batchPartition,
  hookKey,
  leaseKey,
  leftHeadsKey,
  outcomeKey,
  padTime,
  repoGuardKey,
  repoKey,
  repoPartition,
  wakeKey,
  windDownKey,
} from './keys.ts';
import { leftHeads } from './obligations.ts';
import { readGuard, readRepo } from './read-repos.ts';
import { dueIndex, toNodeRow, toRepoRow } from './rows.ts';
import { findRunningRows } from './running-batches.ts';
import type { Row, Step, Table } from './table.ts';
import { windDown } from './wind-downs.ts';

/** A PATCH that lands between the read and the delete costs one more try. */
const DELETE_TRIES_MAX = 5;
/** Batches of one root are made within this time. */
const ROOT_SPAN_MS = DAY_MS;

function addressGuardOf(repo: ManagedRepo) {
  const key = repoGuardKey(repo.instanceUrl, repo.slug);
  if (key === null) throw new RangeError('a repo needs an address that has a normal form');
  return key;
}

function freeAddress(repo: ManagedRepo): Step {
  return {
    name: 'address',
    delete: {
      Key: addressGuardOf(repo),
      ConditionExpression: 'guards_id = :id',
      ExpressionAttributeValues: { ':id': repo.id },
    },
  };
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

export async function buryRepo(table: Table, repo: ManagedRepo): Promise<void> {
  const now = table.clock.now();
  const buried: ManagedRepo = {
    ...repo,
    ...{ tombstone: true, queueEnabled: false, hookId: null, webhookSecret: null },
    ...{ updatedAt: now, version: repo.version + 1 },
  };
  const refusals = await transactCounted(
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
            ...{ ':true': true, ':due': now },
            ':shard': dueIndex(now, repo.id).gsi1pk,
            ':sort': dueIndex(now, repo.id).gsi1sk,
          },
        },
      },
      freeAddress(repo),
      ...dropHook(repo),
      {
        name: 'wind-down',
        put: {
          Item: {
            ...windDownKey(repo, repo.id),
            ...windDown.write({ tenantId: repo.tenantId, id: repo.id, at: now }),
          },
        },
      },
    ],
    countStep(repo.tenantId, 'repo_count', -1),
    'buryRepo',
  );
  if (refusals.size > 0) throw new StoreError('lost_race', 'buryRepo');
}

export async function deleteRepo(table: Table, repo: ManagedRepo, left?: LeftHeads): Promise<void> {
  const wake = await table.get(wakeKey(repo.id), 'deleteRepo');
  if (wake !== null && readRow(wakeState, wake, 'deleteRepo').tenantId !== repo.tenantId) return;
  for (let tried = 0; tried < DELETE_TRIES_MAX; tried += 1) {
    const stored = await readRepo(table, repo.tenantId, repo.id, 'deleteRepo');
    const refusals = stored === null ? new Map() : await deleteStored(table, stored, left);
    if (refusals.size === 0) {
      await resolveBatches(table, repo);
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
  // A buried repo has given its address and its place back already, and another repo may have them by now.
  const holder = stored.tombstone ? await readGuard(table, addressGuardOf(stored), 'deleteRepo') : null;
  const isCounted = !stored.tombstone || holder?.id === stored.id;
  const steps: readonly Step[] = [
    { name: 'repo', delete: { Key: repoKey(stored.tenantId, stored.id), ...versionCondition(stored) } },
    { name: 'wake', delete: { Key: wakeKey(stored.id) } },
    { name: 'outcome', delete: { Key: outcomeKey(stored.tenantId, stored.id) } },
    { name: 'wind-down', delete: { Key: windDownKey(stored, stored.id) } },
    ...dropHook(stored),
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
  if (!isCounted) return table.transact(steps, 'deleteRepo');
  const counted = [...steps, freeAddress(stored)];
  return transactCounted(table, counted, countStep(stored.tenantId, 'repo_count', -1), 'deleteRepo');
}

/** Names no tenant: the row outlives the one that left it. */
function leaveHeads(repo: ManagedRepo, left: LeftHeads, now: number): Step {
  const expiresAt = now + LEFT_HEADS_KEPT_MS;
  return {
    name: 'left heads',
    put: {
      Item: {
        ...leftHeadsKey(repo, now),
        ...leftHeads.write(left),
        expires_at: expiresAt,
        ttl: Math.ceil(expiresAt / 1000),
      },
    },
  };
}

/** A batch that had not ended is closed: the engine looks at it no more, and it would look stuck for ever (A43). */
async function resolveBatches(table: Table, repo: ManagedRepo): Promise<void> {
  const running = await findRunningRows(table, repo, 'deleteRepo');
  if (running.length === 0) return;
  const since = Math.min(...running.map((row) => Number(row.created_at))) - ROOT_SPAN_MS;
  const rows = await table.query(
    {
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
      FilterExpression: 'repo_id = :repo',
      ExpressionAttributeValues: {
        ...{ ':pk': batchPartition(repo.tenantId), ':repo': repo.id },
        ...{ ':from': `B#${padTime(since)}`, ':to': 'B#~' },
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

/** Record, report, markers. Safe only after the wake row is gone: from then on every write of them is refused. */
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
