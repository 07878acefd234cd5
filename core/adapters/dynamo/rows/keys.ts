import { createHash } from 'node:crypto';
import {
  DUE_SHARDS,
  INDEX_PARTITIONS,
  PARTITIONS,
  type Partition,
} from '../../../contracts/internal/table.ts';
import type { ConnectionId, EpochMs, PullRequestNumber, RepoId, TenantId } from '../../../domain/ids.ts';
import type { DeliveryName } from '../../../domain/notices/webhook-delivery.ts';
import type { ActivityEvent, NodeRow } from '../../../domain/queue/batch.ts';
import { normalizeInstanceUrl, normalizeSlug } from '../../../domain/url.ts';
import type { ForgeAddress } from '../../../ports/store.ts';

/** Every key of the table. A new access pattern starts as a row of the README one folder up and a builder in this file. */
export interface Key {
  readonly pk: string;
  readonly sk: string;
}

/** Epoch ms in a width that sorts as text until the year 5138. */
export function padTime(at: EpochMs): string {
  return padNumber(at, 14);
}

function padNumber(value: number, width: number): string {
  return String(Math.max(0, Math.trunc(value))).padStart(width, '0');
}

function digest(...parts: readonly string[]): string {
  // JSON keeps ("a","bc") and ("ab","c") apart.
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

// Tenant
const NAMED_AFTER_TENANT: ReadonlySet<Partition> = new Set([
  'tenant',
  'batches',
  'events',
  'notices',
  'mailboxes',
  'authors',
  'audit',
  'tokens',
]);

/** Is the partition of these rows the prefix of their kind, and then the tenant? */
export function isNamedAfterTenant(kind: Partition): boolean {
  return NAMED_AFTER_TENANT.has(kind);
}

export const tenantKey = (tenantId: TenantId): Key => ({ pk: `${PARTITIONS.tenant}${tenantId}`, sk: 'A' });
export const organizationKey = (tenantId: TenantId): Key => ({
  pk: `${PARTITIONS.tenant}${tenantId}`,
  sk: 'ORG',
});
export const connectionKey = (tenantId: TenantId, id: ConnectionId): Key => ({
  pk: `${PARTITIONS.tenant}${tenantId}`,
  sk: `CONN#${id}`,
});
export const repoKey = (tenantId: TenantId, id: RepoId): Key => ({
  pk: `${PARTITIONS.tenant}${tenantId}`,
  sk: `REPO#${id}`,
});
export const outcomeKey = (tenantId: TenantId, id: RepoId): Key => ({
  pk: `${PARTITIONS.tenant}${tenantId}`,
  sk: `RS#${id}`,
});
export const planKey = (tenantId: TenantId): Key => ({ pk: `${PARTITIONS.tenant}${tenantId}`, sk: 'BILL' });
export const OUTCOME_SORT_PREFIX = 'RS#';
export const CONNECTION_SORT_PREFIX = 'CONN#';
export const REPO_SORT_PREFIX = 'REPO#';

// Guards: the primary key is what makes a pair unique, never an index (E8)
/** One identity per (instance, bot) over all tenants. Forges compare logins without case. Null: no such instance. */
export function identityGuardKey(instanceUrl: string, botUsername: string): Key | null {
  const url = normalizeInstanceUrl(instanceUrl);
  return url === null
    ? null
    : { pk: `${PARTITIONS.identities}${digest(url, botUsername.toLowerCase())}`, sk: 'U' };
}
/** One manager per (instance, slug) over all tenants; also the look-up of webhooks and of the engine. */
export function repoGuardKey(instanceUrl: string, slug: string): Key | null {
  const url = normalizeInstanceUrl(instanceUrl);
  const normalSlug = normalizeSlug(slug);
  return url === null || normalSlug === null
    ? null
    : { pk: `${PARTITIONS.addresses}${digest(url, normalSlug)}`, sk: 'U' };
}
/** Statuses that deleted repos of one forge address still have to take back, or could not. */
export function windDownPartition(address: ForgeAddress): string | null {
  const guard = repoGuardKey(address.instanceUrl, address.slug);
  return guard === null ? null : guard.pk.replace(PARTITIONS.addresses, PARTITIONS.windDowns);
}
export const WIND_DOWN_SORT_PREFIX = 'R#';
export const LEFT_HEADS_SORT_PREFIX = 'H#';
export const windDownKey = (address: ForgeAddress, id: RepoId): Key => ({
  pk: windDownPartition(address) ?? '',
  sk: `${WIND_DOWN_SORT_PREFIX}${id}`,
});
export const leftHeadsKey = (address: ForgeAddress, at: EpochMs): Key => ({
  pk: windDownPartition(address) ?? '',
  sk: `${LEFT_HEADS_SORT_PREFIX}${padTime(at)}`,
});
/** The hook id is a bearer of nothing, but hashed all the same: a table dump tells no hook URL. */
export const hookKey = (hookId: string): Key => ({ pk: `${PARTITIONS.hooks}${digest(hookId)}`, sk: 'U' });

// One repo
export const leaseKey = (id: RepoId): Key => ({ pk: `${PARTITIONS.leases}${id}`, sk: 'L' });
export const repoPartition = (id: RepoId): string => `${PARTITIONS.repo}${id}`;
/** Hot and small, apart from the settings row: a wake must not fight with a PATCH. Lives exactly as long as the repo. */
export const wakeKey = (id: RepoId): Key => ({ pk: repoPartition(id), sk: 'W' });
export const queueRecordKey = (id: RepoId): Key => ({ pk: repoPartition(id), sk: 'Q' });
export const quarantineKey = (id: RepoId, at: EpochMs): Key => ({
  pk: repoPartition(id),
  sk: `QX#${padTime(at)}`,
});
/** The view of the record for people: small, read with every look at the dashboard. */
export const queueViewKey = (id: RepoId): Key => ({ pk: repoPartition(id), sk: 'QV' });
/** The memory of idle looks. Goes with the repo. */
export const lookKey = (id: RepoId): Key => ({ pk: repoPartition(id), sk: 'LK' });
export const reportKey = (id: RepoId): Key => ({ pk: repoPartition(id), sk: 'RP' });
export const terminalKey = (id: RepoId, pr: PullRequestNumber): Key => ({
  pk: repoPartition(id),
  sk: `PR#${pr}`,
});
/** Repo id of a key of the repo's own partition. */
export const repoIdOfPartition = (pk: string): RepoId => pk.slice(PARTITIONS.repo.length);

// History of a tenant
export const batchPartition = (tenantId: TenantId): string => `${PARTITIONS.batches}${tenantId}`;
export const batchSortKey = (row: NodeRow): string => `B#${padTime(row.createdAt)}#${row.id}`;
/** A place among the batches of a tenant as a query parameter has it: the sort key, in letters that need no escaping. */
export const batchCursor = (sortKey: string): string => sortKey.replace(/^B#/, '').replace('#', '_');
/** The place from which all of this time and before it are read. It names no row: the last one looked at may be of a repo that its reader may not see. */
export const batchCursorAfter = (sortKey: string): string =>
  `${padTime(Number(sortKey.split('#')[1]) + 1)}_-`;
export const batchSortKeyAt = (cursor: string): string => `B#${cursor.replace('_', '#')}`;
export const eventPartition = (tenantId: TenantId): string => `${PARTITIONS.events}${tenantId}`;
/** `version` is that of the queue write which carried the event: the key is unique and the same on every retry. */
export const eventSortKey = (event: ActivityEvent, version: number, index: number): string =>
  `E#${padTime(event.at)}#${event.repoId}#${padNumber(version, 10)}#${padNumber(index, 2)}`;
/** Sorts the events of one repo by when they were stored: by the write, and their place in it. */
export const storedPlace = (sortKey: string): string => sortKey.split('#').slice(3).join('');
/**
 * A place among the events of one repo, in digits. It names no other repo, so that a reader of one learns of no other:
 * the place before or after the row of another one is told as a place of this one.
 */
export function eventCursor(sortKey: string, repoId: RepoId): string {
  const [, at = '', owner = '', version = '', index = ''] = sortKey.split('#');
  if (owner === repoId) return `${at}${version}${index}`;
  return `${at}${owner < repoId ? '0'.repeat(12) : '9'.repeat(12)}`;
}
/** Everything of the repo that is older sorts below it. */
export function eventSortKeyAt(cursor: string, repoId: RepoId): string {
  const [at, version, index] = [cursor.slice(0, 14), cursor.slice(14, 24), cursor.slice(24)];
  // No write has the version 0: nothing more of this ms.
  return Number(version) === 0 ? `E#${at}` : `E#${at}#${repoId}#${version}#${index}`;
}

/** Who changed what. */
export const auditPartition = (tenantId: TenantId): string => `${PARTITIONS.audit}${tenantId}`;
export const auditKey = (tenantId: TenantId, at: EpochMs, id: string): Key => ({
  pk: auditPartition(tenantId),
  sk: `A#${padTime(at)}#${id}`,
});

// Notes of a tenant that has left: the id leads to them, and no row has it
export const keptNotesPartition = (tenantId: TenantId): string =>
  `${PARTITIONS.keptNotes}${digest('kept', tenantId)}`;
export const keptNoteKey = (tenantId: TenantId, at: EpochMs, id: string): Key => ({
  pk: keptNotesPartition(tenantId),
  sk: `A#${padTime(at)}#${digest(tenantId, id).slice(0, 32)}`,
});
export const keptTarget = (tenantId: TenantId, id: string): string => digest('target', tenantId, id);

/** The hash is of 256 random bits, so it tells nothing of the token. */
export const tokenPartition = (tenantId: TenantId): string => `${PARTITIONS.tokens}${tenantId}`;
export const tokenKey = (tenantId: TenantId, hash: string): Key => ({
  pk: tokenPartition(tenantId),
  sk: `K#${hash}`,
});

// Due index
export const dueShards: readonly string[] = Array.from(
  { length: DUE_SHARDS },
  (_, shard) => `${INDEX_PARTITIONS.due.begin}${shard}`,
);
export function duePartition(id: RepoId): string {
  const byte = createHash('sha256').update(id).digest()[0] ?? 0;
  return `${INDEX_PARTITIONS.due.begin}${byte % DUE_SHARDS}`;
}
export const dueSortKey = (dueAt: EpochMs, id: RepoId): string => `${padTime(dueAt)}#${id}`;
/** Upper bound, inclusive, of everything due at `now`: `~` sorts after every character of an id. */
export const dueUntil = (now: EpochMs): string => `${padTime(now)}#~`;

// Other indexes
export const PHASE_PARTITION = INDEX_PARTITIONS.phase.begin;
export const RETRY_PARTITION = INDEX_PARTITIONS.retries.begin;
/** Deliveries that wait lie tenant by tenant, in the order of their next attempt. Keys of an earlier release begin with a digit. */
export const RETRY_SORT_PREFIX = 'T#';
export const retriesBegin = (tenantId: TenantId): string => `${RETRY_SORT_PREFIX}${tenantId}#`;
/** Upper bound, inclusive, of what is due at `now`. */
export const retriesEnd = (tenantId: TenantId, now: EpochMs): string =>
  `${retriesBegin(tenantId)}${dueUntil(now)}`;
export const retrySortKey = (tenantId: TenantId, nextAt: EpochMs, id: string): string =>
  `${retriesBegin(tenantId)}${padTime(nextAt)}#${id}`;
/** The least key after this one: the space sorts before every character of an id. */
export const afterRetry = (sortKey: string): string => `${sortKey} `;
/** Another place each time, so that no tenant is the last one of every listing. Ids of tenants are UUIDs. */
export const retriesSplit = (now: EpochMs): string =>
  `${RETRY_SORT_PREFIX}${digest(String(now)).slice(0, 8)}`;
export const WATCH_PARTITION = INDEX_PARTITIONS.watched.begin;
export const ALL_REPOS_PARTITION = INDEX_PARTITIONS.allRepos.begin;
export const ALL_CONNECTIONS_PARTITION = INDEX_PARTITIONS.allConnections.begin;
export const ALL_TENANTS_PARTITION = INDEX_PARTITIONS.allTenants.begin;
export const ALL_BATCHES_PARTITION = INDEX_PARTITIONS.allBatches.begin;

// Realtime: tickets and sockets end by time
export const ticketKey = (ticketHash: string): Key => ({ pk: `${PARTITIONS.tickets}${ticketHash}`, sk: 'T' });
export const socketPartition = (tenantId: TenantId): string => `${PARTITIONS.tenantSockets}${tenantId}`;
export const SOCKET_SORT_PREFIX = 'C#';
export const tenantSocketKey = (tenantId: TenantId, socketId: string): Key => ({
  pk: socketPartition(tenantId),
  sk: `${SOCKET_SORT_PREFIX}${socketId}`,
});
export const socketKey = (socketId: string): Key => ({ pk: `${PARTITIONS.sockets}${socketId}`, sk: 'C' });

// Notices: asked for, taken off the list when sent, ended by time
export const noticeKey = (tenantId: TenantId, kind: string, subject: string): Key => ({
  pk: `${PARTITIONS.notices}${tenantId}`,
  sk: `N#${digest(kind, subject)}`,
});
/** The address is a person's, so it is hashed. Capitals are no other mailbox, or they would be a way around its state. */
export const mailboxHash = (address: string): string => digest(address.toLowerCase());
/** A dump of the table must confirm no mailbox. */
export const mailKeyHash = (key: string): string => digest(key);
export const mailboxPartition = (tenantId: TenantId): string => `${PARTITIONS.mailboxes}${tenantId}`;
export const mailboxKey = (tenantId: TenantId, box: string): Key => ({
  pk: mailboxPartition(tenantId),
  sk: `M#${box}`,
});
/** Wishes of people about their own pull requests. Logins are compared without case. */
const AUTHOR_SORT_PREFIX = 'P#';
export const authorPartition = (tenantId: TenantId): string => `${PARTITIONS.authors}${tenantId}`;
export function authorKey(of: { tenantId: TenantId; instanceUrl: string; login: string }): Key | null {
  const url = normalizeInstanceUrl(of.instanceUrl);
  const sk = url === null ? null : `${AUTHOR_SORT_PREFIX}${digest(url, of.login.toLowerCase())}`;
  return sk === null ? null : { pk: authorPartition(of.tenantId), sk };
}
/** One account for each login of a forge over all tenants. Null: no such instance. */
export function authorGuardKey(instanceUrl: string, login: string): Key | null {
  const url = normalizeInstanceUrl(instanceUrl);
  return url === null
    ? null
    : { pk: `${PARTITIONS.authorLogins}${digest(url, login.toLowerCase())}`, sk: 'U' };
}
/** The same of a wish, by its own key: both have the hash of forge and login. */
export const authorGuardOf = (wish: Key): Key => ({
  pk: `${PARTITIONS.authorLogins}${wish.sk.slice(AUTHOR_SORT_PREFIX.length)}`,
  sk: 'U',
});
/** Lives as long as the repo: a head that was announced once is never announced again (A84). */
export const bounceClaimKey = (id: RepoId, pr: PullRequestNumber, head: string): Key => ({
  pk: repoPartition(id),
  sk: `NB#${pr}#${digest(head)}`,
});

export const tellingClaimKey = (id: RepoId, ...what: readonly string[]): Key => ({
  pk: repoPartition(id),
  sk: `NC#${digest(...what)}`,
});

/** News for a webhook of notices, by its time. */
export const DELIVERY_SORT_PREFIX = 'DL#';
export const tellingKey = ({ repoId, at, id }: DeliveryName): Key => ({
  pk: repoPartition(repoId),
  sk: `${DELIVERY_SORT_PREFIX}${padTime(at)}#${id}`,
});

// Payments: ids of the provider are its text, so they are hashed
/** Whose customer it is. */
export const customerKey = (customerId: string): Key => ({
  pk: `${PARTITIONS.customers}${digest(customerId)}`,
  sk: 'U',
});
export const paymentEventKey = (eventId: string): Key => ({
  pk: `${PARTITIONS.paymentEvents}${digest(eventId)}`,
  sk: 'S',
});

// Rates: the name may hold an address, so it is hashed
export const rateKey = (bucket: string): Key => ({ pk: `${PARTITIONS.rates}${digest(bucket)}`, sk: 'S' });

// Whole service
export const tickKey: Key = { pk: PARTITIONS.health, sk: 'TICK' };
/** Written to see that the table takes a row. */
export const proofKey: Key = { pk: PARTITIONS.health, sk: 'PROOF' };
export const engineNeedKey: Key = { pk: PARTITIONS.health, sk: 'ENGINE' };
/** An installation that was exported, and one that an import is filling: neither may run. */
export const movedKey: Key = { pk: PARTITIONS.health, sk: 'MOVED' };
export const importKey: Key = { pk: PARTITIONS.health, sk: 'IMPORT' };
/** Of one section. A partition each, because that is what takes a limited number of writes. */
export const ongoingKey = (section: number): Key => ({
  pk: section === 0 ? PARTITIONS.runs : `${PARTITIONS.runs}#${section}`,
  sk: 'RUNS',
});
/** The delivery id is the sender's text: hashed, so that it can neither be long nor look like a key. */
export const deliveryKey = (id: RepoId, deliveryId: string): Key => ({
  pk: `${PARTITIONS.deliveries}${digest(id, deliveryId)}`,
  sk: 'S',
});
