import { PARTITIONS, type Partition, TTL_ATTRIBUTE } from '../../../contracts/internal/table.ts';
import type { TenantId } from '../../../domain/ids.ts';
import { isNamedAfterTenant, REPO_SORT_PREFIX, RETRY_PARTITION, retriesBegin } from '../rows/keys.ts';
import { kindOf } from '../table/copy-back.ts';
import type { Row } from '../table/table.ts';

/**
 * Kinds that are valid at one moment or in one process. Leases are moved in a way of their own, because a fence must
 * never start again.
 */
const LEFT_BEHIND: ReadonlySet<Partition> = new Set([
  'leases',
  'tickets',
  'tenantSockets',
  'sockets',
  'rates',
  'health',
  'runs',
]);
/**
 * Kinds that a tenant under another id cannot take along: payments are the provider's, under the old id, and an API token names
 * its tenant in its own text.
 */
const BOUND_TO_ID: ReadonlySet<Partition> = new Set(['customers', 'paymentEvents', 'tokens', 'keptNotes']);
const PLAN_SORT = 'BILL';

/**
 * Kind of a row that is valid at another moment too. Null: the row stays behind, because it describes this moment or
 * its time is over.
 */
export function lastingKind(row: Row, now: number): Partition | null {
  const kind = kindOf(row.pk);
  const ttl = row[TTL_ATTRIBUTE];
  if (kind === null || LEFT_BEHIND.has(kind)) return null;
  return typeof ttl === 'number' && ttl * 1000 <= now ? null : kind;
}

/** Names by which the rows of one tenant are known, in a table of many. */
export interface TenantRows {
  readonly tenantId: TenantId;
  readonly repoIds: ReadonlySet<string>;
  /** Hashes of the forge addresses of its repositories. */
  readonly addresses: ReadonlySet<string>;
}

const rest = (row: Row, kind: Partition): string => String(row.pk).slice(PARTITIONS[kind].length);

/** Reads the names that `isOf` needs; `rows` are all rows of the table. */
export async function nameRows(tenantId: TenantId, rows: AsyncIterable<Row>): Promise<TenantRows> {
  const [repoIds, addresses] = [new Set<string>(), new Set<string>()];
  for await (const row of rows) {
    const kind = kindOf(row.pk);
    if (row.tenant_id !== tenantId) continue;
    if (kind === 'tenant' && String(row.sk).startsWith(REPO_SORT_PREFIX)) repoIds.add(String(row.repo_id));
    if (kind === 'addresses') addresses.add(rest(row, kind));
  }
  return { tenantId, repoIds, addresses };
}

export function isOf(names: TenantRows, row: Row): boolean {
  const kind = kindOf(row.pk);
  if (kind === null) return false;
  if (isNamedAfterTenant(kind)) return rest(row, kind) === names.tenantId;
  if (kind === 'repo' || kind === 'leases') return names.repoIds.has(rest(row, kind));
  if (kind === 'windDowns') return row.tenant_id === names.tenantId || names.addresses.has(rest(row, kind));
  return row.tenant_id === names.tenantId;
}

/** The row under another tenant id. Null: it cannot go along. */
export function renameTenant(row: Row, from: TenantId, to: TenantId): Row | null {
  if (from === to) return row;
  const kind = kindOf(row.pk);
  if (kind === null || BOUND_TO_ID.has(kind) || row.sk === PLAN_SORT) return null;
  const pk = isNamedAfterTenant(kind) ? `${PARTITIONS[kind]}${to}` : row.pk;
  return { ...(renameIn(row, from, to) as Row), pk, ...renameRetry(row, from, to) };
}

/**
 * Index key of a waiting delivery under the new tenant id. Under the former one the delivery would be due too early, or
 * never.
 */
function renameRetry({ gsi1pk, gsi1sk }: Row, from: TenantId, to: TenantId): Row {
  const begin = retriesBegin(from);
  if (gsi1pk !== RETRY_PARTITION || typeof gsi1sk !== 'string' || !gsi1sk.startsWith(begin)) return {};
  return { gsi1sk: `${retriesBegin(to)}${gsi1sk.slice(begin.length)}` };
}

function renameIn(value: unknown, from: TenantId, to: TenantId): unknown {
  if (value === from) return to;
  if (Array.isArray(value)) return value.map((each) => renameIn(each, from, to));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, renameIn(each, from, to)]));
}
