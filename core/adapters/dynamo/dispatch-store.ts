import { GSI1 } from '../../contracts/internal/table.ts';
import type { EpochMs, RepoId } from '../../domain/ids.ts';
import { DELIVERY_ID_KEPT_MS } from '../../domain/limits.ts';
import type { ReconcileOutcome } from '../../domain/repos/repo.ts';
import { withLastGood } from '../../domain/repos/repo.ts';
import { CLOCKS_DIFFER_MS_MAX } from '../../domain/wakes/clocks.ts';
import { HEARD_NOTED_EVERY_MS, type HeardKind } from '../../domain/wakes/heard-events.ts';
import type { DispatchStore } from '../../ports/store.ts';
import { StoreError } from '../../ports/store.ts';
import { aliveCheck } from './checks.ts';
import { readGuard, readRepo, readRepoById } from './read-repos.ts';
import { readReposAt } from './rows/addresses.ts';
import { text, whole } from './rows/codec.ts';
import { connection } from './rows/connection-item.ts';
import {
  connectionKey,
  deliveryKey,
  dueShards,
  dueUntil,
  hookKey,
  outcomeKey,
  repoIdOfPartition,
  repoKey,
  reportKey,
  tickKey,
  wakeKey,
} from './rows/keys.ts';
import { readObligations } from './rows/obligations.ts';
import { engineReport, reconcileOutcome } from './rows/outcomes.ts';
import { readRow } from './rows/read-row.ts';
import { dueIndex } from './rows/rows.ts';
import { wakeState } from './rows/wake-item.ts';
import { listWindDowns } from './rows/wind-downs.ts';
import type { BlockingRow, Table } from './table/table.ts';

/**
 * Tries to mark a repository due. One try asks whether it is due earlier already, and then only counts the wake; a
 * worker may settle in between, but not this often in a row.
 */
const MARK_DUE_TRIES_MAX = 8;

const HEARD_FIELDS = {
  delivery: 'delivery_heard_at',
  status: 'status_heard_at',
  run: 'run_heard_at',
} as const satisfies Readonly<Record<HeardKind, string>>;

export function createDispatchStore(table: Table): DispatchStore {
  return {
    getRepo: (repoId) => readRepoById(table, repoId, 'getRepo'),

    async getConnection(tenantId, id) {
      const row = await table.get(connectionKey(tenantId, id), 'getConnection');
      return row === null ? null : readRow(connection, row, 'getConnection');
    },

    listDueRepos: (now, limit) => listDueRepos(table, now, limit),
    markDue: (repoId, dueAt) => markDue(table, repoId, dueAt),

    async askStop(repoId, until) {
      const now = table.clock.now();
      const asked = await table.update(
        {
          Key: wakeKey(repoId),
          UpdateExpression:
            'SET stop_until = :until, due_at = :due, gsi1pk = :shard, gsi1sk = :sort ADD wake_seq :one',
          ConditionExpression: 'enabled = :true',
          ExpressionAttributeValues: { ...dueValues(now, repoId), ':until': until, ':true': true, ':one': 1 },
        },
        'askStop',
      );
      return asked.ok ? readRow(wakeState, asked.row, 'askStop').wakeSeq : null;
    },

    async noteHeard(repoId, kind, at) {
      await table.update(
        {
          Key: wakeKey(repoId),
          UpdateExpression: 'SET #heard = :at',
          ConditionExpression:
            'attribute_exists(pk) AND (attribute_not_exists(#heard) OR #heard <= :due OR #heard > :ahead)',
          ExpressionAttributeNames: { '#heard': HEARD_FIELDS[kind] },
          ExpressionAttributeValues: {
            ':at': at,
            ':due': at - HEARD_NOTED_EVERY_MS,
            ':ahead': at + CLOCKS_DIFFER_MS_MAX,
          },
        },
        'noteHeard',
      );
    },

    async settleDue(repoId, wakeSeqSeen, nextDueAt) {
      const result = await table.update(
        {
          Key: wakeKey(repoId),
          UpdateExpression: 'SET due_at = :due, gsi1pk = :shard, gsi1sk = :sort',
          ConditionExpression: 'enabled = :true AND wake_seq = :seen',
          ExpressionAttributeValues: { ...dueValues(nextDueAt, repoId), ':true': true, ':seen': wakeSeqSeen },
        },
        'settleDue',
      );
      return result.ok || !isEnabled(result.blocking, 'settleDue');
    },

    async settleOff(repo, wakeSeqSeen) {
      const refusals = await table.transact(
        [
          {
            name: 'repo',
            check: {
              Key: repoKey(repo.tenantId, repo.id),
              ConditionExpression: 'queue_enabled = :false OR tombstone = :true',
              ExpressionAttributeValues: { ':false': false, ':true': true },
            },
          },
          {
            name: 'wake',
            update: {
              Key: wakeKey(repo.id),
              UpdateExpression: 'SET enabled = :false, due_at = :null REMOVE gsi1pk, gsi1sk',
              ConditionExpression: 'enabled = :true AND wake_seq = :seen',
              ExpressionAttributeValues: {
                ':true': true,
                ':false': false,
                ':null': null,
                ':seen': wakeSeqSeen,
              },
            },
          },
        ],
        'settleOff',
      );
      return refusals.size === 0;
    },

    readObligations: (repoId) => readObligations(table, repoId),
    listWindDowns: (address) => listWindDowns(table, address),

    async loadReport(repoId) {
      const row = await table.get(reportKey(repoId), 'loadReport');
      return row === null ? null : readRow(engineReport, row, 'loadReport');
    },

    async saveReconcileOutcome(repo, outcome) {
      // Refused when the repo is gone, or when a later outcome is there already: neither leaves anything to record. One
      // that lies ahead is of a clock that has been set back since, and one without a time is damaged: both make way.
      await table.transact(
        [
          aliveCheck(repo.id),
          {
            name: 'outcome',
            update: {
              Key: outcomeKey(repo.tenantId, repo.id),
              ConditionExpression: 'attribute_not_exists(pk) OR NOT (ran_at > :ran_at AND ran_at <= :ahead)',
              ...outcomeUpdate(outcome),
            },
          },
        ],
        'saveReconcileOutcome',
      );
    },

    async loadReconcileOutcome(repo) {
      const row = await table.get(outcomeKey(repo.tenantId, repo.id), 'loadReconcileOutcome');
      return row === null ? null : readRow(reconcileOutcome, row, 'loadReconcileOutcome');
    },

    async recordTick(at) {
      await table.put(
        {
          Item: { ...tickKey, at },
          // One that lies ahead is of a clock that has been set back since.
          ConditionExpression: 'attribute_not_exists(pk) OR #at <= :at OR #at > :ahead',
          ExpressionAttributeNames: { '#at': 'at' },
          ExpressionAttributeValues: { ':at': at, ':ahead': at + CLOCKS_DIFFER_MS_MAX },
        },
        'recordTick',
      );
    },

    async findRepoForHook(key) {
      if (!('hookId' in key)) {
        const repos = await readReposAt(table, key, 'findRepoForHook');
        return repos.find((repo) => repo.webhookSecret !== null) ?? repos[0] ?? null;
      }
      const found = await readGuard(table, hookKey(key.hookId), 'findRepoForHook');
      return found === null ? null : readRepo(table, found.tenantId, found.id, 'findRepoForHook');
    },

    listReposAt: (address) => readReposAt(table, address, 'listReposAt'),

    async claimDelivery(repoId, deliveryId) {
      const now = table.clock.now();
      const expiresAt = now + DELIVERY_ID_KEPT_MS;
      // The time is compared here because an expired row stays readable until the sweep (trap 10).
      return table.put(
        {
          Item: {
            ...deliveryKey(repoId, deliveryId),
            expires_at: expiresAt,
            ttl: Math.ceil(expiresAt / 1000),
          },
          ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
          ExpressionAttributeValues: { ':now': now },
        },
        'claimDelivery',
      );
    },

    async isDeliveryClaimed(repoId, deliveryId) {
      const row = await table.get(deliveryKey(repoId, deliveryId), 'isDeliveryClaimed');
      return row !== null && readRow(whole, row.expires_at, 'isDeliveryClaimed') > table.clock.now();
    },
  };
}

/** Attributes that describe one reconcile alone. */
const OF_ONE_RECONCILE = [
  'missing_scopes',
  'refusal',
  'key_fault',
  'retrying_since',
  'slow_failures',
  'held_ms',
];

/**
 * Update that replaces an outcome, but for the values that this reconcile did not see: the rule, and the last success.
 */
function outcomeUpdate(outcome: ReconcileOutcome) {
  const row = reconcileOutcome.write(withLastGood(outcome));
  const fields = Object.entries(row);
  const gone = OF_ONE_RECONCILE.filter((name) => row[name] === undefined);
  return {
    UpdateExpression: `SET ${fields.map(([name]) => `#${name} = :${name}`).join(', ')}${gone.length === 0 ? '' : ` REMOVE ${gone.join(', ')}`}`,
    ExpressionAttributeNames: Object.fromEntries(fields.map(([name]) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(fields.map(([name, value]) => [`:${name}`, value])),
      ':ahead': outcome.ranAt + CLOCKS_DIFFER_MS_MAX,
    },
  };
}

/** Whether the queue of the repository is on. False: it is off or gone, so a wake means nothing. */
function isEnabled(blocking: BlockingRow, operation: string): boolean {
  if (Object.keys(blocking).length === 0) return false;
  const enabled = blocking.enabled?.BOOL;
  if (enabled === undefined) throw new StoreError('unreadable', operation);
  return enabled;
}

function dueValues(dueAt: EpochMs, repoId: RepoId): Record<string, unknown> {
  const index = dueIndex(dueAt, repoId);
  return { ':due': dueAt, ':shard': index.gsi1pk, ':sort': index.gsi1sk };
}

/**
 * The repositories that are due, oldest first. Each shard is asked for a full page, because the oldest of all may be in
 * one shard.
 */
async function listDueRepos(table: Table, now: EpochMs, limit: number): Promise<readonly RepoId[]> {
  if (limit <= 0) return [];
  const pages = await Promise.all(
    dueShards.map((shard) =>
      table.query(
        {
          IndexName: GSI1.name,
          KeyConditionExpression: 'gsi1pk = :shard AND gsi1sk <= :until',
          ExpressionAttributeValues: { ':shard': shard, ':until': dueUntil(now) },
        },
        limit,
        'listDueRepos',
      ),
    ),
  );
  return pages
    .flat()
    .map((row) => ({
      repoId: repoIdOfPartition(readRow(text, row.pk, 'listDueRepos')),
      order: readRow(text, row.gsi1sk, 'listDueRepos'),
    }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
    .slice(0, limit)
    .map((entry) => entry.repoId);
}

/**
 * Brings the due time forward and counts the wake in one update. A due time that is earlier already stays, so that a
 * repository which is woken again and again keeps its place in the line (A50); then the wake is counted under the
 * condition that it stays.
 */
async function markDue(table: Table, repoId: RepoId, dueAt: EpochMs): Promise<number | null> {
  for (let tried = 0; tried < MARK_DUE_TRIES_MAX; tried += 1) {
    const sooner = await table.update(
      {
        Key: wakeKey(repoId),
        UpdateExpression: 'SET due_at = :due, gsi1pk = :shard, gsi1sk = :sort ADD wake_seq :one',
        ConditionExpression: 'enabled = :true AND due_at > :due',
        ExpressionAttributeValues: { ...dueValues(dueAt, repoId), ':true': true, ':one': 1 },
      },
      'markDue',
    );
    if (sooner.ok) return readRow(wakeState, sooner.row, 'markDue').wakeSeq;
    if (!isEnabled(sooner.blocking, 'markDue')) return null;
    const counted = await table.update(
      {
        Key: wakeKey(repoId),
        UpdateExpression: 'ADD wake_seq :one',
        ConditionExpression: 'enabled = :true AND due_at <= :due',
        ExpressionAttributeValues: { ':true': true, ':due': dueAt, ':one': 1 },
      },
      'markDue',
    );
    if (counted.ok) return readRow(wakeState, counted.row, 'markDue').wakeSeq;
    if (!isEnabled(counted.blocking, 'markDue')) return null;
  }
  throw new StoreError('lost_race', 'markDue');
}
