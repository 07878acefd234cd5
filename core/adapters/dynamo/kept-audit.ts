import { AUDIT_KEPT_MS, AUDIT_KEPT_ROWS_MAX } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { type AccountStore, ANOTHER_TENANT, type KeptNote } from '../../ports/account-store.ts';
import { auditRow } from './rows/account-items.ts';
import { oneOf, record, text, whole } from './rows/codec.ts';
import { auditPartition, keptNoteKey, keptNotesPartition, keptTarget, padTime } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Step, Table } from './table/table.ts';

/** Writes of one transaction, the most that DynamoDB takes. */
const STEPS_MAX = 100;

const keptRow = record<KeptNote>({
  at: ['at', whole],
  actor: ['actor', oneOf(['tenant', ANOTHER_TENANT])],
  action: ['action', text],
  target: ['target', text],
  result: ['result', oneOf(['ok', 'failed'])],
});

/**
 * Store of the audit notes that outlast their tenant. They are put in transactions, because the right to write in
 * batches would include the right to delete.
 */
export function createKeptAudit(table: Table): Pick<AccountStore, 'keepAudit' | 'listKeptAudit'> {
  return {
    async keepAudit(tenantId) {
      const now = table.clock.now();
      const expiresAt = now + AUDIT_KEPT_MS;
      const toStep = (id: string, note: KeptNote): Step => ({
        name: id,
        put: {
          Item: {
            ...keptNoteKey(tenantId, note.at, id),
            ...keptRow.write(note),
            expires_at: expiresAt,
            ttl: Math.ceil(expiresAt / 1000),
          },
        },
      });
      const steps = (await readNewNotes(table, tenantId, now)).map(
        ({ id, at, actor, action, target, result }) =>
          toStep(id, {
            at,
            action,
            result,
            target: keptTarget(tenantId, target),
            actor: actor === ANOTHER_TENANT ? ANOTHER_TENANT : 'tenant',
          }),
      );
      const target = keptTarget(tenantId, tenantId);
      steps.push(
        toStep('erased', { at: now, actor: 'tenant', action: 'tenant.erased', target, result: 'ok' }),
      );
      for (let start = 0; start < steps.length; start += STEPS_MAX) {
        await table.transact(steps.slice(start, start + STEPS_MAX), 'keepAudit');
      }
    },

    async listKeptAudit(tenantId, about) {
      const rows = await table.query(
        {
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': keptNotesPartition(tenantId) },
          ScanIndexForward: false,
        },
        Number.POSITIVE_INFINITY,
        'listKeptAudit',
      );
      // Rows outlive their end by days (trap 10).
      const now = table.clock.now();
      const notes = rows
        .filter((row) => Number(row.expires_at) > now)
        .map((row) => readRow(keptRow, row, 'listKeptAudit'));
      if (about === undefined) return notes;
      return notes.filter(({ target }) => target === keptTarget(tenantId, about));
    },
  };
}

async function readNewNotes(table: Table, tenantId: TenantId, now: number) {
  const rows = await table.query(
    {
      KeyConditionExpression: 'pk = :pk AND sk >= :since',
      ExpressionAttributeValues: {
        ':pk': auditPartition(tenantId),
        ':since': `A#${padTime(now - AUDIT_KEPT_MS)}`,
      },
      ScanIndexForward: false,
    },
    AUDIT_KEPT_ROWS_MAX,
    'keepAudit',
  );
  return rows.map((row) => readRow(auditRow, row, 'keepAudit'));
}
