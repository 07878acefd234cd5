import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { PARTITIONS, type Partition, TTL_ATTRIBUTE } from '../../../contracts/internal/table.ts';
import type { RepoId } from '../../../domain/ids.ts';
import { leaseKey, queueRecordKey, REPO_SORT_PREFIX } from '../rows/keys.ts';
import { countAgain } from './count-again.ts';
import { LeftTenants } from './left-tenants.ts';

type Row = Readonly<Record<string, unknown>>;

/** Kinds that describe one moment, or end by time; those of another moment would be wrong. */
const PASSING: ReadonlySet<Partition> = new Set([
  'notices',
  'leases',
  'deliveries',
  'tickets',
  'tenantSockets',
  'sockets',
  'rates',
  'health',
  'runs',
  // A token that was revoked since must not open anything again.
  'tokens',
]);
/**
 * Sort key of the queue record, which is not copied: an earlier record does not know what was posted since, while a
 * queue without a record reads each head before it begins.
 */
const RECORD_OF_QUEUE = queueRecordKey('' as RepoId).sk;
/** Kinds of which the live row is kept: it is newer, because a queue learns from the forge. */
const LIVE_WINS: ReadonlySet<Partition> = new Set(['repo', 'windDowns']);
const PAGE = 100;

/**
 * Counts of one kind of rows. `changed`: in both tables, and different. `kept`: in the live one alone, or newer there. `left`:
 * of a tenant that has left since; they stay erased.
 */
export interface Difference {
  same: number;
  missing: number;
  changed: number;
  kept: number;
  left: number;
}

export interface Copied {
  readonly kinds: ReadonlyMap<Partition, Difference>;
  /** Tenants that have left since. */
  readonly left: ReadonlySet<string>;
}

export interface CopyOptions {
  readonly client: DynamoDBDocumentClient;
  readonly live: string;
  readonly restored: string;
  /** `look` writes nothing, `missing` puts what is gone, `all` also puts back what was changed. */
  readonly mode: 'look' | 'missing' | 'all';
  readonly now: number;
}

/** Kinds by descending length of their prefix: `TB#` is not `T#`. */
const KINDS = (Object.keys(PARTITIONS) as Partition[]).sort(
  (a, b) => PARTITIONS[b].length - PARTITIONS[a].length,
);

export function kindOf(pk: unknown): Partition | null {
  return KINDS.find((kind) => String(pk).startsWith(PARTITIONS[kind])) ?? null;
}

/**
 * Brings rows of a restored table back into the live one, and says what differs. No row is deleted: what is in the live table
 * alone was made after that time. Needs room for one page of rows, and for the names of tenants. Throws where the table does not
 * answer.
 */
export async function copyBack(options: CopyOptions): Promise<Copied> {
  const left = await findLeft(options);
  const found = new Map<Partition, Difference>();
  const count = (kind: Partition): Difference => {
    const counts = found.get(kind) ?? { same: 0, missing: 0, changed: 0, kept: 0, left: 0 };
    found.set(kind, counts);
    return counts;
  };
  const tenants = new Set<string>();
  for await (const rows of readPages(options, options.restored)) {
    const live = await findTwins(options, options.live, rows);
    for (const row of rows) {
      const kind = kindOf(row.pk) as Partition;
      const twin = live.get(keyOf(row));
      if (kind === 'tenant' && !left.isOf(kind, row)) tenants.add(String(row.pk));
      if (left.isOf(kind, row)) count(kind).left += 1;
      else if (twin === undefined) {
        count(kind).missing += 1;
        if (options.mode !== 'look') {
          // Before the row: a run that is stopped in between finds it missing again.
          await keepLease(options, row);
          await putMissing(options, row);
        }
      } else if (isDeepStrictEqual(row, twin)) count(kind).same += 1;
      else if (LIVE_WINS.has(kind)) count(kind).kept += 1;
      else {
        count(kind).changed += 1;
        if (options.mode === 'all') {
          await options.client.send(new PutCommand({ TableName: options.live, Item: row }));
        }
      }
    }
  }
  for await (const rows of readPages(options, options.live)) {
    const restored = await findTwins(options, options.restored, rows);
    for (const row of rows) if (!restored.has(keyOf(row))) count(kindOf(row.pk) as Partition).kept += 1;
  }
  // All of them: a run that was stopped may have put rows back and counted none.
  if (options.mode !== 'look')
    for (const partition of tenants)
      await countAgain({ client: options.client, table: options.live }, partition);
  return { kinds: found, left: left.ids };
}

/** Tenants that had themselves erased since; their rows must not come back. */
async function findLeft(options: CopyOptions): Promise<LeftTenants> {
  const left = new LeftTenants();
  for await (const rows of readPages(options, options.restored)) {
    const ofTenants = rows.filter((row) => kindOf(row.pk) === 'tenant');
    const live = await findTwins(options, options.live, ofTenants);
    for (const row of ofTenants) await left.add(options, row, live.get(keyOf(row)));
  }
  return left;
}

const keyOf = ({ pk, sk }: Row): string => JSON.stringify([pk, sk]);

/** Pages of the rows that are valid at another moment too. */
async function* readPages({ client, now }: CopyOptions, table: string): AsyncGenerator<readonly Row[]> {
  let from: Row | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: table,
        ConsistentRead: true,
        Limit: PAGE,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    yield (page.Items ?? []).filter((row) => isLasting(row, now));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
}

function isLasting(row: Row, now: number): boolean {
  const kind = kindOf(row.pk);
  const ttl = row[TTL_ATTRIBUTE];
  if (kind === 'repo' && row.sk === RECORD_OF_QUEUE) return false;
  return kind !== null && !PASSING.has(kind) && !(typeof ttl === 'number' && ttl * 1000 <= now);
}

async function findTwins(
  { client }: CopyOptions,
  table: string,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, Row>> {
  const twins = new Map<string, Row>();
  let keys: Record<string, unknown>[] = rows.map(({ pk, sk }) => ({ pk, sk }));
  while (keys.length > 0) {
    const answer = await client.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }),
    );
    for (const row of answer.Responses?.[table] ?? []) twins.set(keyOf(row), row);
    keys = answer.UnprocessedKeys?.[table]?.Keys ?? [];
  }
  return twins;
}

/**
 * Keeps the lease of a repository that is put back. The lease of a deleted repository ends by time, and the fence would
 * start again while a worker has it.
 */
async function keepLease({ client, live }: CopyOptions, { pk, sk }: Row): Promise<void> {
  if (kindOf(pk) !== 'tenant' || !String(sk).startsWith(REPO_SORT_PREFIX)) return;
  const key = leaseKey(String(sk).slice(REPO_SORT_PREFIX.length) as RepoId);
  try {
    await client.send(
      new UpdateCommand({
        TableName: live,
        Key: key,
        UpdateExpression: 'REMOVE #ttl',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: { '#ttl': TTL_ATTRIBUTE },
      }),
    );
  } catch (error) {
    // It has ended by now.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}

async function putMissing({ client, live }: CopyOptions, row: Row): Promise<void> {
  try {
    await client.send(
      new PutCommand({ TableName: live, Item: row, ConditionExpression: 'attribute_not_exists(pk)' }),
    );
  } catch (error) {
    // It was made while this ran, and is newer.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
