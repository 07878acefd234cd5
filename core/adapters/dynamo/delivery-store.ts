import { DELIVERY_KEPT_MS } from '../../domain/api-limits.ts';
import { DELIVERY_KINDS, DELIVERY_STATES, type Delivery } from '../../domain/notices/webhook-delivery.ts';
import type { DeliveryStore } from '../../ports/delivery-store.ts';
import { aliveCheck } from './checks.ts';
import { listDueDeliveries } from './due-deliveries.ts';
import { nullable, oneOf, record, text, whole } from './rows/codec.ts';
import {
  DELIVERY_SORT_PREFIX,
  RETRY_PARTITION,
  repoPartition,
  retrySortKey,
  tellingKey,
} from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

const delivery = record<Delivery>({
  id: ['delivery_id', text],
  tenantId: ['tenant_id', text],
  repoId: ['repo_id', text],
  at: ['at', whole],
  kind: ['kind', oneOf(DELIVERY_KINDS)],
  body: ['body', text],
  state: ['state', oneOf(DELIVERY_STATES)],
  attempts: ['attempts', whole],
  status: ['status', nullable(whole)],
  triedAt: ['tried_at', nullable(whole)],
  nextAt: ['next_at', nullable(whole)],
});

export function createDeliveryStore(table: Table): DeliveryStore {
  const toRow = (value: Delivery): Row => ({
    ...tellingKey(value),
    ...delivery.write(value),
    ...(value.nextAt === null
      ? {}
      : { gsi1pk: RETRY_PARTITION, gsi1sk: retrySortKey(value.tenantId, value.nextAt, value.id) }),
    ttl: Math.ceil((value.at + DELIVERY_KEPT_MS) / 1000),
  });
  return {
    async addDelivery(value) {
      const put = { Item: toRow(value), ConditionExpression: 'attribute_not_exists(pk)' };
      const steps = [aliveCheck(value.repoId), { name: 'delivery', put }];
      return (await table.transact(steps, 'addDelivery')).size === 0;
    },

    async loadDelivery(name) {
      const row = await table.get(tellingKey(name), 'loadDelivery');
      return row === null ? null : readRow(delivery, row, 'loadDelivery');
    },

    noteAttempt: (seen, next) =>
      table.put(
        {
          Item: toRow(next),
          ConditionExpression: 'attempts = :seen',
          ExpressionAttributeValues: { ':seen': seen.attempts },
        },
        'noteAttempt',
      ),

    async listDeliveries(repoId, limit) {
      const rows = await table.query(
        {
          KeyConditionExpression: 'pk = :repo AND begins_with(sk, :begin)',
          ExpressionAttributeValues: { ':repo': repoPartition(repoId), ':begin': DELIVERY_SORT_PREFIX },
          ScanIndexForward: false,
        },
        limit,
        'listDeliveries',
      );
      return rows.map((row) => readRow(delivery, row, 'listDeliveries'));
    },

    listDueDeliveries: (now, limit) => listDueDeliveries(table, now, limit),
  };
}
