import { GSI1 } from '../../contracts/internal/table.ts';
import type { EpochMs, TenantId } from '../../domain/ids.ts';
import { type DueDelivery, shareByTenant } from '../../domain/notices/webhook-delivery.ts';
import { text } from './rows/codec.ts';
import {
  afterRetry,
  DELIVERY_SORT_PREFIX,
  dueUntil,
  RETRY_PARTITION,
  RETRY_SORT_PREFIX,
  repoIdOfPartition,
  retriesBegin,
  retriesEnd,
  retriesSplit,
} from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

const OPERATION = 'listDueDeliveries';
/** Rows of one read: an index row is some two hundred bytes. */
const PAGE_ROWS = 100;
/** Reads of one listing, however many deliveries are due and whosever they are. */
const READS_MAX = 24;

/** Deliveries of one tenant that are due, and where those begin that were not read. */
interface Share {
  readonly due: DueDelivery[];
  /** Place of the next page; null: there is none. */
  next: string | null;
}

/**
 * The deliveries that are due, at most `limit`, shared among tenants. Deliveries of one tenant are neighbours in the
 * index, so a walk reads some of each tenant and skips the rest: a tenant with thousands takes no place from the
 * others. Reads that are left go to tenants that have more.
 */
export async function listDueDeliveries(
  table: Table,
  now: EpochMs,
  limit: number,
): Promise<readonly DueDelivery[]> {
  const reader = new DueReader(table, now);
  await reader.readUnsorted(limit);
  const split = retriesSplit(now);
  for (const [from, to] of [
    [split, `${RETRY_SORT_PREFIX}~`],
    [RETRY_SORT_PREFIX, split],
  ] as const) {
    await reader.walk(from, to, limit);
  }
  while (reader.count() < limit && (await reader.readMore()));
  return shareByTenant(reader.shares(), limit);
}

class DueReader {
  readonly #table: Table;
  readonly #now: EpochMs;
  readonly #shares = new Map<TenantId, Share>();
  #reads = 0;

  constructor(table: Table, now: EpochMs) {
    this.#table = table;
    this.#now = now;
  }

  shares(): readonly (readonly DueDelivery[])[] {
    return [...this.#shares.values()].map(({ due }) => due);
  }

  count(): number {
    return this.shares().reduce((sum, due) => sum + due.length, 0);
  }

  /**
   * Reads rows of an earlier release, which are in the order of their time; each attempt writes a row in the new order.
   */
  async readUnsorted(limit: number): Promise<void> {
    for (const row of await this.#read('0', dueUntil(this.#now), limit))
      this.#shareOf(row).due.push(toDue(row));
  }

  /** Reads some deliveries of each tenant between two places. */
  async walk(from: string, to: string, tenantsMax: number): Promise<void> {
    let place: string | null = from;
    while (place !== null && this.#reads < READS_MAX && this.#shares.size < tenantsMax) {
      const rows = await this.#read(place, to, PAGE_ROWS);
      for (const row of rows) this.#take(row);
      const last = rows.at(-1);
      place = last === undefined || rows.length < PAGE_ROWS ? null : this.#passOver(last);
    }
  }

  /** Reads one more page of each tenant that has more. False: no tenant has more, or no read is left. */
  async readMore(): Promise<boolean> {
    let isRead = false;
    for (const [tenantId, share] of this.#shares) {
      if (share.next === null || this.#reads >= READS_MAX) continue;
      isRead = true;
      const rows = await this.#read(share.next, retriesEnd(tenantId, this.#now), PAGE_ROWS);
      for (const row of rows) this.#take(row);
      const last = rows.at(-1);
      share.next = last === undefined || rows.length < PAGE_ROWS ? null : afterRetry(sortKeyOf(last));
    }
    return isRead;
  }

  #take(row: Row): void {
    const isDue = sortKeyOf(row) <= retriesEnd(tenantOf(row), this.#now);
    if (isDue) this.#shareOf(row).due.push(toDue(row));
  }

  /** Place behind all rows of this row's tenant. */
  #passOver(row: Row): string {
    const tenantId = tenantOf(row);
    if (sortKeyOf(row) <= retriesEnd(tenantId, this.#now))
      this.#shareOf(row).next = afterRetry(sortKeyOf(row));
    return `${retriesBegin(tenantId)}~`;
  }

  #shareOf(row: Row): Share {
    const tenantId = tenantOf(row);
    const share = this.#shares.get(tenantId) ?? { due: [], next: null };
    this.#shares.set(tenantId, share);
    return share;
  }

  #read(from: string, to: string, limit: number): Promise<readonly Row[]> {
    this.#reads += 1;
    return this.#table.query(
      {
        IndexName: GSI1.name,
        KeyConditionExpression: 'gsi1pk = :retry AND gsi1sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':retry': RETRY_PARTITION, ':from': from, ':to': to },
      },
      limit,
      OPERATION,
    );
  }
}

function toDue(row: Row): DueDelivery {
  const [at = '', ...id] = readRow(text, row.sk, OPERATION).slice(DELIVERY_SORT_PREFIX.length).split('#');
  const repoId = repoIdOfPartition(readRow(text, row.pk, OPERATION));
  return { repoId, at: Number(at), id: id.join('#'), tenantId: tenantOf(row) };
}

function tenantOf(row: Row): TenantId {
  return readRow(text, row.tenant_id, OPERATION);
}

function sortKeyOf(row: Row): string {
  return readRow(text, row.gsi1sk, OPERATION);
}
