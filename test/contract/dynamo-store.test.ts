import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import type { CorruptibleRow } from '../fakes/memory-rows.ts';
import { startTestTable } from '../support/dynamo-table.ts';
import { describeStore } from './store.suite.ts';

/** Where a row of each kind lies, and damage that a reader must notice. */
const DAMAGE: Record<
  CorruptibleRow,
  (tenantId: string, id: string) => readonly [pk: string, sk: string, changes: Record<string, unknown>]
> = {
  repo: (tenantId, id) => [`T#${tenantId}`, `REPO#${id}`, { merge_style: 'octopus' }],
  connection: (tenantId, id) => [`T#${tenantId}`, `CONN#${id}`, { credential: undefined }],
  queue: (_tenantId, id) => [`R#${id}`, 'Q', { document: new Uint8Array([1, 2, 3]) }],
  report: (_tenantId, id) => [`R#${id}`, 'RP', { log_tail: 'one line' }],
  lease: (_tenantId, id) => [`L#${id}`, 'L', { fence: 'three' }],
  // By its sort key.
  batch: (tenantId, id) => [`TB#${tenantId}`, id, { prs: 'none' }],
  outcome: (tenantId, id) => [`T#${tenantId}`, `RS#${id}`, { ok: 'yes' }],
};

describeStore('DynamoDB store', async (clock) => {
  const table = await startTestTable();
  return {
    store: createDynamoStore({ client: table.client, tableName: table.tableName, clock }),
    corrupt: async (row, owner) => {
      const [pk, sk, changes] = DAMAGE[row](owner.tenantId, owner.id);
      await table.damageRow(pk, sk, changes);
    },
    readTerminal: (repoId, pr) => table.readRow(`R#${repoId}`, `PR#${pr}`),
    close: table.stop,
  };
});
