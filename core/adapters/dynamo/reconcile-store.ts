import type { EpochMs } from '../../domain/ids.ts';
import { type ReconcileStore, StoreError } from '../../ports/store.ts';
import { ongoingKey } from './rows/keys.ts';
import { type OngoingReconciles, ongoingReconciles } from './rows/ongoing-item.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

/**
 * Tries to begin. Workers that begin at the same moment come one after the other, and none of them is overtaken this
 * often.
 */
const TRIES_MAX = 10;
const TRY_AGAIN_MS = 15;

/**
 * Store of ongoing reconciles. Each section has one small row, so that every limit is checked against one consistent
 * state.
 */
export function createReconcileStore(table: Table): ReconcileStore {
  return {
    async beginReconcile({ id, ...next }, ttlMs, isAllowed, section = 0) {
      const key = ongoingKey(section);
      for (let tried = 0; tried < TRIES_MAX; tried += 1) {
        if (tried > 0) await table.clock.sleep(Math.ceil(Math.random() * TRY_AGAIN_MS * tried));
        const now = table.clock.now();
        const seen = readOngoing(await table.get(key, 'beginReconcile'));
        const others = othersOf(seen, id, now);
        const asked = Object.entries(others).map(([other, { until: _, ...each }]) => ({
          id: other,
          ...each,
        }));
        if (!isAllowed(asked)) return false;
        const version = (typeof seen === 'object' ? seen.version : now) + 1;
        const picture = { version, runs: { ...others, [id]: { ...next, until: now + ttlMs } } };
        const Item = { ...key, ...ongoingReconciles.write(picture) };
        if (await table.put({ Item, ...conditionOf(seen) }, 'beginReconcile')) return true;
      }
      return false;
    },

    async endReconcile(id, section = 0) {
      await table.update(
        {
          Key: ongoingKey(section),
          UpdateExpression: 'REMOVE runs.#id ADD version :one',
          ConditionExpression: 'attribute_exists(runs.#id)',
          ExpressionAttributeNames: { '#id': id },
          ExpressionAttributeValues: { ':one': 1 },
        },
        'endReconcile',
      );
    },

    async forgetReconciles(section = 0) {
      await table.update(
        {
          Key: ongoingKey(section),
          UpdateExpression: 'SET runs = :none ADD version :one',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':none': {}, ':one': 1 },
        },
        'forgetReconciles',
      );
    },
  };
}

type Seen = OngoingReconciles | 'none' | 'unreadable';

/** The state in a row. An unreadable one is replaced, because it must not keep all tenants from being reconciled. */
function readOngoing(row: Row | null): Seen {
  if (row === null) return 'none';
  try {
    return readRow(ongoingReconciles, row, 'beginReconcile');
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'unreadable') return 'unreadable';
    throw error;
  }
}

/**
 * The reconciles of others. An entry whose time is over belongs to a worker that died; an entry with this id is the
 * result of a write whose answer was lost.
 */
function othersOf(seen: Seen, id: string, now: EpochMs): OngoingReconciles['runs'] {
  if (typeof seen !== 'object') return {};
  return Object.fromEntries(
    Object.entries(seen.runs).filter(([other, { until }]) => other !== id && until > now),
  );
}

function conditionOf(seen: Seen) {
  if (seen === 'unreadable') return {};
  if (seen === 'none') return { ConditionExpression: 'attribute_not_exists(pk)' };
  return { ConditionExpression: 'version = :seen', ExpressionAttributeValues: { ':seen': seen.version } };
}
