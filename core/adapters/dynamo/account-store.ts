import type { EpochMs, RepoId, TenantId } from '../../domain/ids.ts';
import type { BatchHead, EventHead } from '../../domain/queue/activity.ts';
import { ACTIVITY_EVENTS, BATCH_OUTCOMES } from '../../domain/queue/batch.ts';
import type { ReconcileOutcome } from '../../domain/repos/repo.ts';
import type { AccountStore, HistoryPart, TerminalMark } from '../../ports/account-store.ts';
import { SESSION_STARTED } from '../../ports/account-store.ts';
import { readBatchHistory } from './batch-history.ts';
import { readEventHistory } from './event-history.ts';
import { createKeptAudit } from './kept-audit.ts';
import { readPrefix } from './read-repos.ts';
import { auditRow, organizationRow, tenantRow } from './rows/account-items.ts';
import { type Codec, defaulted, oneOf, optional, record, text, whole } from './rows/codec.ts';
import { activityEvent } from './rows/event-items.ts';
import {
  auditKey,
  auditPartition,
  authorGuardOf,
  authorPartition,
  batchPartition,
  eventPartition,
  type Key,
  mailboxPartition,
  OUTCOME_SORT_PREFIX,
  organizationKey,
  padTime,
  tenantKey,
  terminalKey,
  tokenPartition,
} from './rows/keys.ts';
import { nodeRow } from './rows/node-item.ts';
import { reconcileOutcome } from './rows/outcomes.ts';
import { readQueueViews } from './rows/queue-view.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

const PARTITIONS: Readonly<Record<HistoryPart, (tenantId: TenantId) => string>> = {
  batches: batchPartition,
  events: eventPartition,
  audit: auditPartition,
  mailboxes: mailboxPartition,
  authors: authorPartition,
  tokens: tokenPartition,
};

const checkTenant = (tenantId: TenantId, ConditionExpression: string) => ({
  name: 'tenant' as const,
  check: {
    Key: tenantKey(tenantId),
    ConditionExpression,
    ExpressionAttributeValues: { ':false': false },
  },
});

const NOT_LEAVING = 'attribute_not_exists(deleting) OR deleting = :false';

/** Step that refuses where the tenant is leaving or gone: a row written later would have no reader (A100). */
export const stayingTenant = (tenantId: TenantId) =>
  checkTenant(tenantId, `attribute_exists(pk) AND (${NOT_LEAVING})`);

/** Step that refuses where the tenant is leaving. A person who has stored nothing yet has no row, and is no tenant that leaves. */
export const notLeaving = (tenantId: TenantId) => checkTenant(tenantId, NOT_LEAVING);

/** The row by which the wish of an author is found, unless another account has the login by now. */
export const ownLogin = (tenantId: TenantId, wish: Key) => ({
  Key: authorGuardOf(wish),
  ConditionExpression: 'tenant_id = :tenant',
  ExpressionAttributeValues: { ':tenant': tenantId },
});

/** The account store without the plan, which is in `billing-store.ts`. */
export function createAccountStore(table: Table): Omit<AccountStore, 'loadPlan' | 'savePlan' | 'deletePlan'> {
  return {
    async loadTenant(tenantId) {
      const row = await table.get(tenantKey(tenantId), 'loadTenant');
      return row === null ? null : readRow(tenantRow, row, 'loadTenant');
    },

    async loadOrganization(tenantId) {
      const row = await table.get(organizationKey(tenantId), 'loadOrganization');
      return row === null ? null : readRow(organizationRow, row, 'loadOrganization');
    },

    async deleteOrganization(tenantId) {
      return (await table.remove({ Key: organizationKey(tenantId) }, 'deleteOrganization')) !== null;
    },

    async appendAudit(entry) {
      const key = auditKey(entry.tenantId, entry.at, entry.id);
      await table.transact(
        [
          stayingTenant(entry.tenantId),
          { name: 'note', put: { Item: { ...key, ...auditRow.write(entry) } } },
        ],
        'appendAudit',
      );
    },

    async appendSignIn(entry) {
      const key = auditKey(entry.tenantId, entry.at, entry.id);
      const Item = { ...key, ...auditRow.write(entry) };
      const refusals = await table.transact(
        [
          stayingTenant(entry.tenantId),
          { name: 'note', put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
        ],
        'appendSignIn',
      );
      return !refusals.has('tenant');
    },

    async listAudit(tenantId, limit) {
      const rows = await readNewest(table, auditPartition(tenantId), limit, 'listAudit');
      return rows.map((row) => readRow(auditRow, row, 'listAudit'));
    },

    async listSignIns(tenantId, { person, since, limit, scannedMax }) {
      const { ExpressionAttributeValues, ...keys } = sinceOf(auditPartition(tenantId), 'A#', since);
      const rows = await table.queryFiltered(
        {
          ...keys,
          FilterExpression: '#action = :action AND actor = :actor',
          ExpressionAttributeNames: { '#action': 'action' },
          ExpressionAttributeValues: {
            ...ExpressionAttributeValues,
            ':action': SESSION_STARTED,
            ':actor': person,
          },
          ScanIndexForward: false,
        },
        { rowsMax: limit, scannedMax },
        'listSignIns',
      );
      return rows.map((row) => readRow(auditRow, row, 'listSignIns'));
    },

    listOutcomes: (tenantId) => listOutcomes(table, tenantId),
    readBatchHistory: (tenantId, search) => readBatchHistory(table, tenantId, search),

    readEventHistory: (repo, search) => readEventHistory(table, repo, search),

    async readEventsSince(tenantId, since, rowsMax) {
      const rows = await readSince(table, eventPartition(tenantId), 'E#', since, rowsMax, 'readEventsSince');
      return rows?.map((row) => readRow(eventHead, row, 'readEventsSince')) ?? null;
    },

    async readBatchesSince(tenantId, since, rowsMax) {
      const rows = await readSince(table, batchPartition(tenantId), 'B#', since, rowsMax, 'readBatchesSince');
      return rows?.map((row) => readRow(batchHead, row, 'readBatchesSince')) ?? null;
    },

    async readNodesSince(tenantId, since, rowsMax) {
      const rows = await table.query(
        sinceOf(batchPartition(tenantId), 'B#', since),
        rowsMax + 1,
        'readNodesSince',
      );
      return rows.length > rowsMax ? null : rows.map((row) => readRow(nodeRow, row, 'readNodesSince'));
    },

    readQueueViews: (repoIds) => readQueueViews(table, repoIds),

    async readTerminals(wanted) {
      const rows = await table.getMany(
        wanted.map(({ repoId, pr }) => terminalKey(repoId, pr)),
        'readTerminals',
      );
      return rows.flatMap((row): TerminalMark[] => {
        const { repoId, pr, event, at } = readRow(activityEvent, row, 'readTerminals');
        if (event !== 'pr_landed' && event !== 'pr_bounced') return [];
        return [{ repoId, pr, event: event === 'pr_landed' ? 'landed' : 'bounced', at }];
      });
    },

    async markTenantDeleting(tenantId) {
      const result = await table.update(
        {
          Key: tenantKey(tenantId),
          UpdateExpression: 'SET deleting = :true',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':true': true },
        },
        'markTenantDeleting',
      );
      return result.ok;
    },

    ...createKeptAudit(table),

    async countHistory(tenantId, part) {
      return (await readKeys(table, PARTITIONS[part](tenantId), 'countHistory')).length;
    },

    async deleteHistory(tenantId, part) {
      const keys = await readKeys(table, PARTITIONS[part](tenantId), 'deleteHistory');
      // Before the rows that alone lead to them.
      if (part === 'authors')
        for (const key of keys) await table.remove(ownLogin(tenantId, key), 'deleteHistory');
      await table.deleteMany(keys, 'deleteHistory');
      return keys.length;
    },

    async deleteTenant(tenantId) {
      await table.remove({ Key: tenantKey(tenantId) }, 'deleteTenant');
    },
  };
}

const eventHead = record<EventHead>({
  at: ['at', whole],
  repoId: ['repo_id', text],
  pr: ['pr', whole],
  event: ['event', oneOf(ACTIVITY_EVENTS)],
  scheduledAt: ['scheduled_at', optional(whole) as Codec<EpochMs>],
});
const batchHead = record<BatchHead>({
  at: ['created_at', whole],
  gateRuns: ['gate_runs', defaulted<number | null>(whole as Codec<number | null>, null)],
  outcome: ['outcome', oneOf(BATCH_OUTCOMES)],
});

async function readNewest(
  table: Table,
  partition: string,
  limit: number,
  operation: string,
): Promise<readonly Row[]> {
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

function sinceOf(partition: string, prefix: string, since: EpochMs) {
  return {
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: {
      ':pk': partition,
      ':from': `${prefix}${padTime(since)}`,
      ':to': `${prefix}~`,
    },
  };
}

/** Reads the rows since a time, with the attributes that are counted alone; null: there are more than `rowsMax`. */
async function readSince(
  table: Table,
  partition: string,
  prefix: string,
  since: EpochMs,
  rowsMax: number,
  operation: string,
): Promise<readonly Row[] | null> {
  const rows = await table.query(
    {
      ...sinceOf(partition, prefix, since),
      ProjectionExpression: '#at, #event, repo_id, pr, created_at, outcome, gate_runs, scheduled_at',
      ExpressionAttributeNames: { '#at': 'at', '#event': 'event' },
    },
    rowsMax + 1,
    operation,
  );
  return rows.length > rowsMax ? null : rows;
}

async function listOutcomes(
  table: Table,
  tenantId: TenantId,
): Promise<ReadonlyMap<RepoId, ReconcileOutcome>> {
  const rows = await readPrefix(table, tenantKey(tenantId).pk, OUTCOME_SORT_PREFIX, 'listOutcomes');
  return new Map(
    rows.map((row) => [
      readRow(text, row.sk, 'listOutcomes').slice(OUTCOME_SORT_PREFIX.length),
      readRow(reconcileOutcome, row, 'listOutcomes'),
    ]),
  );
}

async function readKeys(
  table: Table,
  partition: string,
  operation: string,
): Promise<readonly { readonly pk: string; readonly sk: string }[]> {
  const rows = await table.query(
    {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': partition },
      ProjectionExpression: 'pk, sk',
    },
    Number.POSITIVE_INFINITY,
    operation,
  );
  return rows.map((row) => ({ pk: partition, sk: String(row.sk) }));
}
