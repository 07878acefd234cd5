import { GSI1, GSI2, PHASE_ATTRIBUTES } from '../../contracts/internal/table.ts';
import type { EpochMs } from '../../domain/ids.ts';
import { BATCH_OUTCOMES, BATCH_PHASES } from '../../domain/queue/batch.ts';
import type { HealthStore } from '../../ports/account-store.ts';
import { StoreError } from '../../ports/store.ts';
import { oneOf, text, whole } from './rows/codec.ts';
import { ALL_BATCHES_PARTITION, dueShards, PHASE_PARTITION, padTime, tickKey } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Table } from './table/table.ts';

/** Index rows of the last day that are counted; a service with more of them reads "unknown". */
const BATCHES_COUNTED_MAX = 50_000;

export function createHealthStore(table: Table): HealthStore {
  return {
    async loadLastTick() {
      const row = await table.get(tickKey, 'loadLastTick');
      return row === null ? null : readRow(whole, row.at, 'loadLastTick');
    },

    async listOverdueTenants(dueBefore, limit) {
      const shards = await Promise.all(
        dueShards.map((shard) =>
          table.query(
            {
              IndexName: GSI1.name,
              KeyConditionExpression: 'gsi1pk = :shard AND gsi1sk < :before',
              ExpressionAttributeValues: { ':shard': shard, ':before': padTime(dueBefore) },
            },
            limit,
            'listOverdueTenants',
          ),
        ),
      );
      return new Set(shards.flat().map((row) => readRow(text, row.tenant_id, 'listOverdueTenants')));
    },

    async listWaitingBatches(limit) {
      const rows = await table.query(
        {
          IndexName: GSI1.name,
          KeyConditionExpression: 'gsi1pk = :pk',
          ExpressionAttributeValues: { ':pk': PHASE_PARTITION },
        },
        limit,
        'listWaitingBatches',
      );
      const waiting = rows.map((row) => ({
        key: {
          pk: readRow(text, row.pk, 'listWaitingBatches'),
          sk: readRow(text, row.sk, 'listWaitingBatches'),
        },
        tenantId: readRow(text, row.tenant_id, 'listWaitingBatches'),
        phase: readRow(oneOf(BATCH_PHASES), row.phase, 'listWaitingBatches'),
        createdAt: timeOf(row.gsi1sk, 'listWaitingBatches'),
      }));
      // The index does not have it: it changes while the keys of the index stand still.
      const merging = waiting.filter(({ phase }) => phase === 'waiting_merge').map(({ key }) => key);
      const since = new Map(
        (await table.getMany(merging, 'listWaitingBatches', PHASE_ATTRIBUTES)).map((row) => [
          `${row.pk} ${row.sk}`,
          row.phase_since === undefined ? null : readRow(whole, row.phase_since, 'listWaitingBatches'),
        ]),
      );
      return waiting.map(({ key, ...batch }) => ({
        ...batch,
        phaseSince: since.get(`${key.pk} ${key.sk}`) ?? null,
      }));
    },

    async countBatchesSince(since) {
      const rows = await table.query(
        {
          IndexName: GSI2.name,
          KeyConditionExpression: 'gsi2pk = :pk AND gsi2sk >= :since',
          ExpressionAttributeValues: { ':pk': ALL_BATCHES_PARTITION, ':since': padTime(since) },
          ProjectionExpression: 'outcome',
        },
        BATCHES_COUNTED_MAX,
        'countBatchesSince',
      );
      if (rows.length >= BATCHES_COUNTED_MAX) throw new StoreError('too_large', 'countBatchesSince');
      const outcomes = rows.map((row) => readRow(oneOf(BATCH_OUTCOMES), row.outcome, 'countBatchesSince'));
      return {
        total: outcomes.length,
        superseded: outcomes.filter((outcome) => outcome === 'superseded').length,
      };
    },
  };
}

/** Sort keys of the indexes begin with the padded time. */
function timeOf(sort: unknown, operation: string): EpochMs {
  return readRow(whole, Number(readRow(text, sort, operation).split('#')[0]), operation);
}
