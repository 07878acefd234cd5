import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { PARTITIONS, type Partition } from '../../../contracts/internal/table.ts';
import { CONNECTION_SORT_PREFIX, REPO_SORT_PREFIX } from '../rows/keys.ts';
import { kindOf } from '../table/copy-back.ts';
import type { Row } from '../table/table.ts';
import type { MoveTable } from './marks.ts';

/** Kinds that a table may hold before an import: people who signed up, and what follows from that. */
const OF_ACCOUNTS: ReadonlySet<Partition> = new Set([
  'tenant',
  'notices',
  'mailboxes',
  'audit',
  'keptNotes',
  'tokens',
  'authors',
  'authorLogins',
  'customers',
  'paymentEvents',
  'deliveries',
  'tickets',
  'tenantSockets',
  'sockets',
  'rates',
  'health',
  'runs',
]);
const PAGE = 200;

/** Every row, a page at a time. */
export async function* scanRows({ client, name }: MoveTable): AsyncGenerator<Row> {
  let from: Row | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: name,
        ConsistentRead: true,
        Limit: PAGE,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    );
    yield* page.Items ?? [];
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
}

/** A kind of rows in the table that an import would mix with its own; null: the table is free for an import. */
export async function findOccupied(table: MoveTable): Promise<Partition | null> {
  for await (const row of scanRows(table)) {
    const kind = kindOf(row.pk);
    if (kind === null) continue;
    const isHeld = [CONNECTION_SORT_PREFIX, REPO_SORT_PREFIX].some((begin) =>
      String(row.sk).startsWith(begin),
    );
    if (!OF_ACCOUNTS.has(kind) || (kind === 'tenant' && isHeld)) return kind;
  }
  return null;
}

export async function putRow({ client, name }: MoveTable, row: Row): Promise<void> {
  await client.send(new PutCommand({ TableName: name, Item: row }));
}

/** The repository of a lease's row and its fence; null for any other row. */
export function readFence(row: Row): { readonly repoId: string; readonly fence: number } | null {
  if (kindOf(row.pk) !== 'leases') return null;
  return { repoId: String(row.pk).slice(PARTITIONS.leases.length), fence: Number(row.fence) };
}

/** The id of the repository that this row is the settings of; null for any other row. */
export function readRepoId(row: Row): string | null {
  const isRepo = kindOf(row.pk) === 'tenant' && String(row.sk).startsWith(REPO_SORT_PREFIX);
  return isRepo ? String(row.repo_id) : null;
}

/** Tenant and forge of the connection in this row; null for any other row. */
export function readConnection(row: Row): { readonly tenantId: string; readonly instanceUrl: string } | null {
  const isConnection = kindOf(row.pk) === 'tenant' && String(row.sk).startsWith(CONNECTION_SORT_PREFIX);
  return isConnection ? { tenantId: String(row.tenant_id), instanceUrl: String(row.instance_url) } : null;
}

/** The tenant that this row makes; null for any other row. */
export function readTenantId(row: Row): string | null {
  return kindOf(row.pk) === 'tenant' && row.sk === 'A' ? String(row.tenant_id) : null;
}
