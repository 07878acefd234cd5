import { randomUUID } from 'node:crypto';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { tellingKey } from '#core/adapters/dynamo/rows/keys.ts';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { RETRIES_OF_TICK_MAX } from '#core/domain/api-limits.ts';
import { newDelivery, RETRY_DELAYS_MS } from '#core/domain/notices/webhook-delivery.ts';
import { askRetries } from '#core/services/notices/deliver-webhook.ts';
import { startTestTable, type TestTable } from '../support/dynamo-table.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { freshPair } from './store/subject.ts';

jest.setTimeout(120_000);
const LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };
const WRITERS = 16;

let table: TestTable;
let clock: VirtualClock;
let queries: number;
beforeEach(async () => {
  table = await startTestTable();
  clock = new VirtualClock();
  queries = 0;
});
afterEach(() => table.stop());

function openStore() {
  const client = {
    send: (command: Parameters<typeof table.client.send>[0]) => {
      if (command instanceof QueryCommand) queries += 1;
      return table.client.send(command);
    },
  } as typeof table.client;
  return createDynamoStore({ client, tableName: table.tableName, clock });
}
type Store = ReturnType<typeof openStore>;

/** A tenant with so many deliveries that wait; `id` tells which. */
async function givenWaiting(
  store: Store,
  count: number,
  { delayMs = 0, tenant = randomUUID() as string } = {},
): Promise<string> {
  const { connection, repo } = freshPair({ tenantId: tenant });
  const { tenantId } = repo;
  await store.createTenant(tenantId, clock.now());
  await store.createConnection(connection, null);
  await store.createRepo(repo, null);
  const told = { tenantId, kind: 'landed', body: '{}' } as const;
  const numbers = Array.from({ length: count }, (_, index) => index).values();
  const write = async (): Promise<void> => {
    for (const pr of numbers) {
      const at = clock.now() + pr + delayMs;
      await store.addDelivery(newDelivery({ repoId: repo.id, at, id: `landed_${pr}` }, told, at));
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return tenantId;
}

const become = (ms: number) => clock.advance(ms + (RETRY_DELAYS_MS[0] ?? 0));

/** Attempts that a tick asks for, by tenant. */
async function askedBy(store: Store): Promise<ReadonlyMap<string, number>> {
  const asked = new Map<string, number>();
  const counting = {
    listDueDeliveries: (...given: Parameters<Store['listDueDeliveries']>) =>
      store.listDueDeliveries(...given),
    requestNotice: async ({ tenantId }: { readonly tenantId: string }) => {
      asked.set(tenantId, (asked.get(tenantId) ?? 0) + 1);
      return true;
    },
  };
  await askRetries({ store: counting, clock, log: LOG });
  return asked;
}

describe('deliveries that are due', () => {
  test('of a tenant with more than a tick takes leave places to every other tenant, and the reads stay few', async () => {
    const store = openStore();
    const flood = await givenWaiting(store, RETRIES_OF_TICK_MAX + 100);
    await become(3_000);
    const others = [await givenWaiting(store, 3), await givenWaiting(store, 40)];
    await become(3_000);
    queries = 0;
    const asked = await askedBy(store);
    expect(others.map((tenantId) => asked.get(tenantId))).toEqual([3, 40]);
    // What the others leave is the one's.
    expect(asked.get(flood)).toBe(RETRIES_OF_TICK_MAX - 43);
    expect(queries).toBeLessThanOrEqual(24);
  });

  test('of two tenants with many are shared in halves, the oldest of each first', async () => {
    const store = openStore();
    const tenants = [await givenWaiting(store, 300), await givenWaiting(store, 300)];
    await become(10_000);
    const asked = await askedBy(store);
    expect(tenants.map((tenantId) => asked.get(tenantId))).toEqual([250, 250]);
    const listed = await store.listDueDeliveries(clock.now(), 4);
    expect(listed.map(({ id }) => id)).toEqual(['landed_0', 'landed_0', 'landed_1', 'landed_1']);
  });

  test('are listed once each, and none before its time', async () => {
    const store = openStore();
    const tenants: string[] = [];
    const spread = (index: number) => `${index.toString(16)}${randomUUID().slice(1)}`;
    for (let index = 0; index < 12; index += 1)
      tenants.push(await givenWaiting(store, 30, { tenant: spread(index) }));
    const early = await givenWaiting(store, 120, { delayMs: 3_600_000 });
    await become(100);
    const listed = await store.listDueDeliveries(clock.now(), 1_000);
    expect(new Set(listed.map(({ repoId, id }) => `${repoId} ${id}`)).size).toBe(360);
    expect(listed).toHaveLength(360);
    expect(listed.some(({ tenantId }) => tenantId === early)).toBe(false);
    // Fewer places than tenants: each listing begins with another one.
    const seen = new Set<string>();
    for (let tick = 0; tick < 40; tick += 1) {
      await clock.advance(1);
      for (const { tenantId } of await store.listDueDeliveries(clock.now(), 3)) seen.add(tenantId);
    }
    expect([...seen].sort()).toEqual([...tenants].sort());
  });

  test('that an earlier release stored are listed with the others', async () => {
    const store = openStore();
    const tenantId = await givenWaiting(store, 2);
    await become(10);
    const [old] = await store.listDueDeliveries(clock.now(), 1);
    if (old === undefined) throw new Error('nothing is due');
    await table.client.send(
      new UpdateCommand({
        TableName: table.tableName,
        Key: { ...tellingKey(old) },
        UpdateExpression: 'SET gsi1sk = :sort',
        ExpressionAttributeValues: { ':sort': `${String(clock.now() - 1).padStart(14, '0')}#${old.id}` },
      }),
    );
    const listed = await store.listDueDeliveries(clock.now(), 10);
    expect(listed.map(({ id }) => id).sort()).toEqual(['landed_0', 'landed_1']);
    expect(listed.every((each) => each.tenantId === tenantId)).toBe(true);
  });
});
