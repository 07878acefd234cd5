import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { StoreError } from '#core/ports/store.ts';
import type { TestTable } from '../support/dynamo-table.ts';
import { startTestTable } from '../support/dynamo-table.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { freshPair, kindOf } from './store/subject.ts';

/** The emulator never refuses for contention, so these refusals are put in front of it. */
let table: TestTable;
let refusals: (() => Error)[] = [];
let sent = 0;

beforeAll(async () => {
  table = await startTestTable();
  table.client.middlewareStack.add(
    (next) => async (args) => {
      sent += 1;
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal();
      return next(args);
    },
    { step: 'initialize', name: 'refuse' },
  );
});
beforeEach(() => {
  refusals = [];
  sent = 0;
});
afterAll(async () => {
  await table.stop();
});

const named = (name: string, message = 'canary-7a1b2c3d') => Object.assign(new Error(message), { name });

function cancelled(...codes: readonly string[]): TransactionCanceledException {
  return new TransactionCanceledException({
    message: 'canary-7a1b2c3d',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code, Message: 'Item size has exceeded' })),
  });
}

function openStore() {
  const clock = new VirtualClock();
  return { clock, store: createDynamoStore({ client: table.client, tableName: table.tableName, clock }) };
}

async function enroll() {
  const { clock, store } = openStore();
  const { repo, connection } = freshPair();
  await store.createTenant(repo.tenantId, 1);
  await store.createConnection(connection);
  await store.createRepo(repo, null);
  const grant = await store.acquireLease(repo.id, 'owner', 'reconcile', 90_000);
  if (grant === 'held') throw new Error('the lease is taken');
  const held = grantHeldLease(repo.id, grant, () => 0, 1);
  sent = 0;
  return { clock, store, repo, held };
}

const WRITE = { document: {}, expectedVersion: null, batches: [], events: [] };

describe('contention and throttling', () => {
  test('a transaction that met another one is sent again, after a wait that grows', async () => {
    const { clock, store, repo, held } = await enroll();
    const before = clock.now();
    refusals = [
      () => cancelled('None', 'TransactionConflict', 'None'),
      () => cancelled('ThrottlingError', 'None', 'None'),
      () => named('TransactionInProgressException'),
    ];
    expect(await store.saveQueue(held, repo, WRITE)).toBe(1);
    expect(sent).toBe(4);
    expect(clock.now() - before).toBeGreaterThanOrEqual((20 + 50 + 120) / 2);
    expect(clock.now() - before).toBeLessThanOrEqual(20 + 50 + 120);
  });

  test('a failed condition is final, also beside a conflict: lease first, then version', async () => {
    const { store, repo, held } = await enroll();
    refusals = [() => cancelled('ConditionalCheckFailed', 'TransactionConflict', 'ConditionalCheckFailed')];
    expect(await kindOf(store.saveQueue(held, repo, WRITE))).toBe('fenced');
    refusals = [() => cancelled('None', 'ConditionalCheckFailed', 'None')];
    expect(await kindOf(store.saveQueue(held, repo, WRITE))).toBe('fenced');
    refusals = [() => cancelled('None', 'TransactionConflict', 'ConditionalCheckFailed')];
    expect(await kindOf(store.saveQueue(held, repo, WRITE))).toBe('lost_race');
    expect(sent).toBe(3);
  });

  test('endless contention ends as unavailable, and stores nothing', async () => {
    const { store, repo, held } = await enroll();
    refusals = Array.from({ length: 7 }, () => () => cancelled('None', 'TransactionConflict'));
    expect(await kindOf(store.saveQueue(held, repo, WRITE))).toBe('unavailable');
    expect(sent).toBe(7);
    expect(await store.loadQueueRecord(repo.id)).toBeNull();
  });

  test('single writes and reads are sent again too', async () => {
    const { store, repo } = await enroll();
    refusals = [() => named('TransactionConflictException')];
    expect(await store.markDue(repo.id, repo.dueAt ?? 0)).toBe(1);
    refusals = [() => named('ProvisionedThroughputExceededException'), () => named('InternalServerError')];
    expect((await store.getRepo(repo.id))?.wakeSeq).toBe(1);
  });

  test('an acquire whose answer was lost is known as its own when it is repeated', async () => {
    const { store } = openStore();
    let stored: string | undefined;
    refusals = [];
    const repoId = `lost-answer-${Math.trunc(performance.now())}`;
    table.client.middlewareStack.add(
      (next) => async (args) => {
        stored = JSON.stringify(args.input).match(/":request":"([^"]+)"/)?.[1];
        await next(args);
        throw new ConditionalCheckFailedException({
          message: 'canary-7a1b2c3d',
          $metadata: {},
          Item: { owner: { S: 'me' }, request_id: { S: stored ?? '' }, fence: { N: '1' } },
        });
      },
      { step: 'initialize', name: 'lose the answer' },
    );
    const grant = await store.acquireLease(repoId, 'me', 'reconcile', 90_000);
    table.client.middlewareStack.remove('lose the answer');
    expect(stored).toBeDefined();
    expect(grant).toEqual(await store.readLease(repoId));
  });

  test('no error carries a message of the service (A95)', async () => {
    const { store, repo, held } = await enroll();
    const cases: readonly [Error, string][] = [
      [named('ValidationException', 'canary-7a1b2c3d is larger than the item size'), 'too_large'],
      [cancelled('ValidationError'), 'too_large'],
      [named('AccessDeniedException'), 'unavailable'],
      [named('TimeoutError'), 'unavailable'],
    ];
    for (const [refusal, kind] of cases) {
      refusals = [() => refusal];
      const failure = await store.saveQueue(held, repo, WRITE).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure).toMatchObject({ kind, operation: 'saveQueue' });
      const text = failure instanceof Error ? `${failure.stack} ${String(failure.cause)}` : '';
      expect(text).not.toContain('canary');
    }
    refusals = [() => named('TimeoutError')];
    expect(await store.readLeaseState(repo.id)).toBe('unknown');
  });
});
