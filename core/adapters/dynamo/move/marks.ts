import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS } from '../../../domain/limits.ts';
import type { Clock } from '../../../ports/system.ts';
import { createLeaseStore } from '../lease-store.ts';
import { importKey, type Key, leaseKey, movedKey } from '../rows/keys.ts';
import { Table } from '../table/table.ts';

export interface MoveTable {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
}

/** Time to live of a held lease, which no worker takes over: it is deleted with the move, or given back. */
const HELD_MS = 100 * 365 * 24 * 60 * 60_000;
const ASK_AGAIN_MS = 1_000;
/** The longest that a lease of a process that was killed may stand. */
const WAIT_MS_MAX = LEASE_TTL_MS + LEASE_TAKEOVER_GRACE_MS + 10_000;
type Purpose = 'moved' | 'import';

/** Why an installation may not run. `at` is epoch ms. */
export type StandingStill =
  | { readonly why: 'moved'; readonly at: number }
  | { readonly why: 'import'; readonly at: number; readonly fileId: string };

export async function readStandingStill(table: MoveTable): Promise<StandingStill | null> {
  const [moved, filling] = await Promise.all([get(table, movedKey), get(table, importKey)]);
  if (filling !== undefined)
    return { why: 'import', at: Number(filling.at), fileId: String(filling.file_id) };
  return moved === undefined ? null : { why: 'moved', at: Number(moved.at) };
}

export async function markMoved(table: MoveTable): Promise<void> {
  if ((await get(table, movedKey)) !== undefined) return;
  await put(table, { ...movedKey, at: table.clock.now() });
}

export async function markImport(table: MoveTable, fileId: string): Promise<void> {
  await put(table, { ...importKey, at: table.clock.now(), file_id: fileId });
}

export const clearMoved = (table: MoveTable): Promise<void> => remove(table, movedKey);
export const clearImport = (table: MoveTable): Promise<void> => remove(table, importKey);

/**
 * Takes the lease of a repository for good, once no reconcile holds it: no engine works without it, in either edition.
 * False: it is held by a reconcile that does not end.
 */
export async function holdLease(table: MoveTable, repoId: string, purpose: Purpose): Promise<boolean> {
  const leases = createLeaseStore(new Table({ ...table, tableName: table.name }));
  for (let waited = 0; waited <= WAIT_MS_MAX; waited += ASK_AGAIN_MS) {
    const row = await get(table, leaseKey(repoId));
    if (row?.purpose === purpose && row.owner !== undefined) return true;
    if ((await leases.acquireLease(repoId, purpose, purpose, HELD_MS)) !== 'held') return true;
    await table.clock.sleep(ASK_AGAIN_MS);
  }
  return false;
}

/** The lease of a repository that comes from elsewhere, held, with its fence: the next holder has a greater one. */
export async function putHeldLease(table: MoveTable, repoId: string, fence: number): Promise<void> {
  const held = { owner: 'import', purpose: 'import', expires_at: table.clock.now() + HELD_MS };
  await put(table, { ...leaseKey(repoId), ...held, fence });
}

/** Gives a held lease back, so that the repository is worked on again. A lease that is held for another purpose stays. */
export async function giveBackLease(table: MoveTable, repoId: string, purpose: Purpose): Promise<void> {
  if ((await get(table, leaseKey(repoId)))?.purpose !== purpose) return;
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: leaseKey(repoId),
      UpdateExpression: 'SET expires_at = :zero REMOVE #owner, purpose',
      ConditionExpression: 'purpose = :purpose',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':zero': 0, ':purpose': purpose },
    }),
  );
}

async function get({ client, name }: MoveTable, key: Key): Promise<Record<string, unknown> | undefined> {
  return (await client.send(new GetCommand({ TableName: name, Key: key, ConsistentRead: true }))).Item;
}

async function put({ client, name }: MoveTable, row: Record<string, unknown>): Promise<void> {
  await client.send(new PutCommand({ TableName: name, Item: row }));
}

async function remove({ client, name }: MoveTable, key: Key): Promise<void> {
  await client.send(new DeleteCommand({ TableName: name, Key: key }));
}
