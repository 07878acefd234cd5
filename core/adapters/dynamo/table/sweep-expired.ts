import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { TABLE_KEYS, TTL_ATTRIBUTE } from '../../../contracts/internal/table.ts';
import type { Clock, Log } from '../../../ports/system.ts';
import type { Row } from './table.ts';

export interface SweptTable {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly name: string;
  readonly clock: Pick<Clock, 'now'>;
}

const SWEEP_EVERY_MS = 60 * 60_000;
/**
 * Latest first sweep, in ms: a box that is restarted often sweeps too. It is not at once, because a start has other
 * work for the table.
 */
const FIRST_SWEEP_MS_MAX = 5 * 60_000;
/** Rows of one sweep, more than expire in an hour; the first sweep of an old table is spread over several hours. */
const SWEEP_ROWS_MAX = 10_000;
const PAGE_ROWS = 200;

/**
 * Removes rows whose time to live has passed, as DynamoDB does by itself and the embedded database does not. One after the
 * other, so that what people wait for comes in between. Returns how many were removed.
 */
export async function sweepExpired(
  { client, name, clock }: SweptTable,
  { rowsMax = SWEEP_ROWS_MAX, mayGoOn = (): boolean => true } = {},
): Promise<number> {
  const expired = {
    ExpressionAttributeNames: { '#ttl': TTL_ATTRIBUTE },
    ExpressionAttributeValues: { ':now': Math.floor(clock.now() / 1000) },
  };
  const { partition, sort } = TABLE_KEYS;
  const remove = async (row: Row): Promise<boolean> => {
    try {
      const Key = { [partition]: row[partition], [sort]: row[sort] };
      // It may have been renewed since it was read.
      await client.send(
        new DeleteCommand({ TableName: name, Key, ConditionExpression: '#ttl <= :now', ...expired }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  };
  let removed = 0;
  let from: Row | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: name,
        Limit: PAGE_ROWS,
        ProjectionExpression: `${partition}, ${sort}`,
        FilterExpression: '#ttl <= :now',
        ...expired,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    for (const row of page.Items ?? []) {
      if (removed >= rowsMax || !mayGoOn()) return removed;
      if (await remove(row)) removed += 1;
    }
    from = page.LastEvaluatedKey;
  } while (from !== undefined && mayGoOn());
  return removed;
}

/** Starts sweeps: one soon, then one each `everyMs`. Returns the stop, which waits for a sweep under way. */
export function startSweeps(table: SweptTable, log: Log, everyMs = SWEEP_EVERY_MS): () => Promise<void> {
  let isStopped = false;
  let underWay: Promise<void> | null = null;
  const sweep = async (): Promise<void> => {
    try {
      const removed = await sweepExpired(table, { mayGoOn: () => !isStopped });
      if (removed > 0) log.info('rows that had ended were removed', { removed });
    } catch (error) {
      log.warn('rows that have ended could not be removed', { error });
    }
  };
  const begin = (): void => {
    underWay ??= sweep().finally(() => {
      underWay = null;
    });
  };
  const first = setTimeout(begin, Math.min(everyMs, FIRST_SWEEP_MS_MAX));
  const timer = setInterval(begin, everyMs);
  first.unref();
  timer.unref();
  return async () => {
    isStopped = true;
    clearTimeout(first);
    clearInterval(timer);
    await underWay;
  };
}
