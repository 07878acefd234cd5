import * as z from 'zod';
import { PARTITIONS, type Partition, SHOWN_PARTITIONS } from '../../../contracts/internal/table.ts';
import type { TenantId } from '../../../domain/ids.ts';
import type { StoredRow } from '../../../ports/notifier.ts';
import { type Key, tenantKey } from './keys.ts';

/** An event of the table's change stream, of which only keys are asked for (`STREAM_VIEW`). */
const streamEventSchema = z.object({
  Records: z.array(
    z.object({
      eventName: z.enum(['INSERT', 'MODIFY', 'REMOVE']),
      dynamodb: z.object({
        Keys: z.object({ pk: z.object({ S: z.string() }), sk: z.object({ S: z.string() }) }),
        SequenceNumber: z.string(),
      }),
    }),
  ),
});

/** One change of a row, told without its key. */
export interface StoredChange {
  readonly kind: 'INSERT' | 'MODIFY' | 'REMOVE';
  /** `tenant`: the row of a tenant itself. `shown`: another row of which a dashboard shows something. */
  readonly what: 'tenant' | 'event' | 'shown' | 'notice' | 'other';
  /** Tenant to tell; null: the row belongs to none, or to one that is shown nothing of it. */
  readonly tenantId: TenantId | null;
  readonly row: StoredRow;
  readonly sequence: string;
}

/**
 * Reads an event of the change stream. Throws on anything else, because a consumer that reads nothing of an unknown
 * stream would look healthy.
 */
export function readChanges(event: unknown): readonly StoredChange[] {
  return streamEventSchema.parse(event).Records.map(({ eventName, dynamodb }) => {
    const key: Key = { pk: dynamodb.Keys.pk.S, sk: dynamodb.Keys.sk.S };
    const tenantId = idIn(key, [...SHOWN_PARTITIONS, 'notices']);
    return {
      kind: eventName,
      what: kindOf(key, tenantId),
      tenantId,
      sequence: dynamodb.SequenceNumber,
      row: toStoredRow(key),
    };
  });
}

function kindOf(key: Key, tenantId: TenantId | null): StoredChange['what'] {
  if (tenantId === null) return 'other';
  if (idIn(key, ['notices']) !== null) return 'notice';
  if (idIn(key, ['events']) !== null) return 'event';
  const own = tenantKey(tenantId);
  return key.pk === own.pk && key.sk === own.sk ? 'tenant' : 'shown';
}

function idIn(key: Key, partitions: readonly Partition[]): TenantId | null {
  const found = partitions.find((each) => key.pk.startsWith(PARTITIONS[each]));
  return found === undefined ? null : key.pk.slice(PARTITIONS[found].length);
}

function toStoredRow(key: Key): StoredRow {
  return key as Key & StoredRow;
}

/** Key of a row of the change stream; copied, because a key with more in it is none. */
export function keyOf(row: StoredRow): Key {
  const { pk, sk } = row as StoredRow & Key;
  return { pk, sk };
}
