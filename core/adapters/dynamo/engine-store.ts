import type { RepoId } from '../../domain/ids.ts';
import { QUARANTINE_KEPT_MS, QUEUE_WRITE_ROWS_MAX } from '../../domain/limits.ts';
import type { EngineStore, QueueWrite, ToldQueue } from '../../ports/store.ts';
import { StoreError } from '../../ports/store.ts';
import { aliveCheck, fenceCheck } from './checks.ts';
import { listOwnBatches, listOwnEvents } from './history.ts';
import { readHolds, readRepo } from './read-repos.ts';
import { readAddress } from './rows/addresses.ts';
import { whole } from './rows/codec.ts';
import { quarantineKey, queueRecordKey, queueViewKey, reportKey } from './rows/keys.ts';
import { obligations, readObligations } from './rows/obligations.ts';
import { engineReport } from './rows/outcomes.ts';
import { decodeDocument, encodeDocument } from './rows/queue-document.ts';
import { queueView } from './rows/queue-view.ts';
import { readRow } from './rows/read-row.ts';
import { toEventRow, toNodeRow, toTerminalRows } from './rows/rows.ts';
import { listLeftHeads, listWindDowns } from './rows/wind-downs.ts';
import type { Refusals, Step, Table } from './table/table.ts';

export function createEngineStore(table: Table): EngineStore {
  return {
    async findRepo(address) {
      const { tenantId, baseBranch } = address;
      const [windDowns, managed] = await Promise.all([
        listWindDowns(table, address),
        readAddress(table, address, 'findRepo'),
      ]);
      const branches = managed?.tenantId === tenantId ? managed.branches : [];
      const buried = windDowns.filter((each) => each.tenantId === tenantId);
      for (const found of [...buried, ...branches]) {
        if ((found.baseBranch ?? baseBranch) !== baseBranch) continue;
        const repo = await readRepo(table, tenantId, found.id, 'findRepo');
        if (repo?.baseBranch === baseBranch) return repo;
      }
      return null;
    },

    readHolds: ({ tenantId, id }) => readHolds(table, tenantId, id),
    listLeftHeads: (address) => listLeftHeads(table, address),
    readObligations: (repoId) => readObligations(table, repoId),

    async loadQueueRecord(repoId) {
      const row = await table.get(queueRecordKey(repoId), 'loadQueueRecord');
      if (row === null) return null;
      return {
        version: readRow(whole, row.version, 'loadQueueRecord'),
        document: decodeDocument(row.document, 'loadQueueRecord'),
      };
    },

    listOwnBatches: (repo, limit, scannedMax) => listOwnBatches(table, repo, limit, scannedMax),
    listOwnEvents: (repo, limit, scannedMax) => listOwnEvents(table, repo, limit, scannedMax),

    async saveQueue(held, repo, write) {
      const version = (write.expectedVersion ?? 0) + 1;
      const refusals = await table.transact(
        [fenceCheck(held.repoId, held.fence), aliveCheck(held.repoId), ...toSteps(repo.id, write, version)],
        'saveQueue',
      );
      refuseFenced(refusals, 'saveQueue');
      if (refusals.size > 0) throw new StoreError('lost_race', 'saveQueue');
      return version;
    },

    async quarantineQueueRecord(held) {
      const key = queueRecordKey(held.repoId);
      const row = await table.get(key, 'quarantineQueueRecord');
      const now = table.clock.now();
      const expires = Math.ceil((now + QUARANTINE_KEPT_MS) / 1000);
      const move: Step[] =
        row === null
          ? []
          : [
              { name: 'copy', put: { Item: { ...row, ...quarantineKey(held.repoId, now), ttl: expires } } },
              { name: 'record', delete: { Key: key } },
            ];
      const refusals = await table.transact(
        [fenceCheck(held.repoId, held.fence), aliveCheck(held.repoId), ...move],
        'quarantineQueueRecord',
      );
      refuseFenced(refusals, 'quarantineQueueRecord');
    },

    async saveReport(held, report) {
      const refusals = await table.transact(
        [
          fenceCheck(held.repoId, held.fence),
          aliveCheck(held.repoId),
          { name: 'report', put: { Item: { ...reportKey(held.repoId), ...engineReport.write(report) } } },
        ],
        'saveReport',
      );
      refuseFenced(refusals, 'saveReport');
    },
  };
}

function refuseFenced(refusals: Refusals, operation: string): void {
  if (refusals.has('lease') || refusals.has('repo')) throw new StoreError('fenced', operation);
}

function toToldRow(repoId: RepoId, told: ToldQueue): Record<string, unknown> {
  return { ...queueViewKey(repoId), ...queueView.write(told.view), ...obligations.write(told.obligations) };
}

function toSteps(repoId: RepoId, write: QueueWrite, version: number): readonly Step[] {
  const rows = [
    ...write.batches.map(toNodeRow),
    ...write.events.map((event, index) => toEventRow(event, version, index)),
    ...toTerminalRows(write.events),
    ...(write.told === undefined ? [] : [toToldRow(repoId, write.told)]),
  ];
  if (rows.length > QUEUE_WRITE_ROWS_MAX) throw new StoreError('too_large', 'saveQueue');
  return [
    {
      name: 'record',
      put: {
        Item: {
          ...queueRecordKey(repoId),
          version,
          document: encodeDocument(write.document, 'saveQueue').stored,
        },
        ...(write.expectedVersion === null
          ? { ConditionExpression: 'attribute_not_exists(pk)' }
          : {
              ConditionExpression: '#version = :expected',
              ExpressionAttributeNames: { '#version': 'version' },
              ExpressionAttributeValues: { ':expected': write.expectedVersion },
            }),
      },
    },
    ...rows.map((row): Step => ({ name: `row ${String(row.pk)} ${String(row.sk)}`, put: { Item: row } })),
  ];
}
