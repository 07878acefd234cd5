import { CLOCKS_DIFFER_MS_MAX } from '../../domain/wakes/clocks.ts';
import type { RateStore } from '../../ports/account-store.ts';
import { rateKey } from './rows/keys.ts';
import type { BlockingRow, Table } from './table/table.ts';

/**
 * Tries to take a token. The two updates below exclude each other, and another request may move the bucket between
 * them.
 */
const TRIES_MAX = 4;

/**
 * Token bucket as one number per bucket: the time at which it will be full again. Each token moves it by `intervalMs`; it
 * may lie at most `burst` intervals ahead. A full bucket is a time in the past, so a row that is gone is a full bucket. So is
 * one that lies further ahead than any call can have moved it: its clock was set back since.
 */
export function createRateStore(table: Table): RateStore {
  return {
    async takeToken(bucket, intervalMs, burst) {
      const now = table.clock.now();
      const Key = rateKey(bucket);
      const latest = now + (burst - 1) * intervalMs;
      const furthest = now + burst * intervalMs + CLOCKS_DIFFER_MS_MAX;
      const ttl = Math.ceil((now + burst * intervalMs) / 1000) + 60;
      const names = { '#ttl': 'ttl' };
      for (let tried = 0; tried < TRIES_MAX; tried += 1) {
        const moved = await table.update(
          {
            Key,
            UpdateExpression: 'SET #ttl = :ttl ADD full_at :interval',
            ConditionExpression: 'full_at > :now AND full_at <= :latest',
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: {
              ':interval': intervalMs,
              ':now': now,
              ':latest': latest,
              ':ttl': ttl,
            },
          },
          'takeToken',
        );
        if (moved.ok) return { allowed: true };
        const fullAt = readFullAt(moved.blocking);
        if (fullAt > latest && fullAt <= furthest) return { allowed: false, retryAfterMs: fullAt - latest };
        const started = await table.update(
          {
            Key,
            UpdateExpression: 'SET full_at = :next, #ttl = :ttl',
            ConditionExpression: 'attribute_not_exists(full_at) OR full_at <= :now OR full_at > :furthest',
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: {
              ':next': now + intervalMs,
              ':now': now,
              ':furthest': furthest,
              ':ttl': ttl,
            },
          },
          'takeToken',
        );
        if (started.ok) return { allowed: true };
      }
      return { allowed: false, retryAfterMs: intervalMs };
    },
  };
}

function readFullAt(row: BlockingRow): number {
  const fullAt = Number(row.full_at?.N ?? 0);
  return Number.isFinite(fullAt) ? fullAt : 0;
}
