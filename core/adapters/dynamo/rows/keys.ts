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

/** Whether the partition of these rows is the prefix of their kind followed by the tenant. */
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
/**
 * Key that keeps the pair of instance and bot unique over all tenants. Logins are compared without case, as forges do.
 * Null: the address is no instance.
 */
export function identityGuardKey(instanceUrl: string, botUsername: string): Key | null {
  const url = normalizeInstanceUrl(instanceUrl);
  return url === null
    ? null
    : { pk: `${PARTITIONS.identities}${digest(url, botUsername.toLowerCase())}`, sk: 'U' };
}
/**
 * Key that keeps the pair of instance and slug unique over all tenants. Webhooks and the engine find a repository by
 * it.
 */
export function repoGuardKey(instanceUrl: string, slug: string): Key | null {
  const url = normalizeInstanceUrl(instanceUrl);
  const normalSlug = normalizeSlug(slug);
  return url === null || normalSlug === null
    ? null
    : { pk: `${PARTITIONS.addresses}${digest(url, normalSlug)}`, sk: 'U' };
}
/**
 * Partition of the statuses that deleted repositories of one forge address still have to take back, or could not take
 * back.
 */
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
/**
 * Key of the look-up by hook id. The id grants nothing, and is hashed all the same: a dump of the table shows no hook
 * URL.
 */
export const hookKey = (hookId: string): Key => ({ pk: `${PARTITIONS.hooks}${digest(hookId)}`, sk: 'U' });

// One repo
export const leaseKey = (id: RepoId): Key => ({ pk: `${PARTITIONS.leases}${id}`, sk: 'L' });
export const repoPartition = (id: RepoId): string => `${PARTITIONS.repo}${id}`;
/**
 * Key of the wake row, which is written often and apart from the settings, so that a wake never conflicts with a PATCH.
 * It exists as long as the repository.
 */
export const wakeKey = (id: RepoId): Key => ({ pk: repoPartition(id), sk: 'W' });
export const queueRecordKey = (id: RepoId): Key => ({ pk: repoPartition(id), sk: 'Q' });
export const quarantineKey = (id: RepoId, at: EpochMs): Key => ({
  pk: repoPartition(id),
  sk: `QX#${padTime(at)}`,
});
/** Key of the queue view, a small row that every look at the dashboard reads. */
export const queueViewKey = (id: RepoId): Key => ({ pk: repoPartition(id), sk: 'QV' });
/** Key of what the last full look saw, deleted with the repository. */
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
/** Cursor among the batches of a tenant, for a query parameter: the sort key, in letters that need no escaping. */
export const batchCursor = (sortKey: string): string => sortKey.replace(/^B#/, '').replace('#', '_');
/**
 * Cursor from which everything at this time or before it is read. It names no row, because the last one looked at may
 * be of a repository that the reader may not see.
 */
export const batchCursorAfter = (sortKey: string): string =>
  `${padTime(Number(sortKey.split('#')[1]) + 1)}_-`;
export const batchSortKeyAt = (cursor: string): string => `B#${cursor.replace('_', '#')}`;
export const eventPartition = (tenantId: TenantId): string => `${PARTITIONS.events}${tenantId}`;
/** `version` is that of the queue write which carried the event: the key is unique and the same on every retry. */
export const eventSortKey = (event: ActivityEvent, version: number, index: number): string =>
  `E#${padTime(event.at)}#${event.repoId}#${padNumber(version, 10)}#${padNumber(index, 2)}`;
/** Sort text of the events of one repository by the write that stored them, and their place in it. */
export const storedPlace = (sortKey: string): string => sortKey.split('#').slice(3).join('');
/**
 * Cursor among the events of one repository, in digits. It names no other repository: the place of another repository's
 * row is told as a place of this one.
 */
export function eventCursor(sortKey: string, repoId: RepoId): string {
  const [, at = '', owner = '', version = '', index = ''] = sortKey.split('#');
  if (owner === repoId) return `${at}${version}${index}`;
  return `${at}${owner < repoId ? '0'.repeat(12) : '9'.repeat(12)}`;
}
/** Sort key above every older event of the repository. */
export function eventSortKeyAt(cursor: string, repoId: RepoId): string {
  const [at, version, index] = [cursor.slice(0, 14), cursor.slice(14, 24), cursor.slice(24)];
  // No write has the version 0: nothing more of this ms.
  return Number(version) === 0 ? `E#${at}` : `E#${at}#${repoId}#${version}#${index}`;
}

/** Partition of the audit log. */
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

/** Partition of API tokens. The hash in a key is one of 256 random bits, so it tells nothing of the token. */
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
/** Upper bound, inclusive, of the sort keys that are due at `now`: `~` sorts after every character of an id. */
export const dueUntil = (now: EpochMs): string => `${padTime(now)}#~`;

// Other indexes
export const PHASE_PARTITION = INDEX_PARTITIONS.phase.begin;
export const RETRY_PARTITION = INDEX_PARTITIONS.retries.begin;
/**
 * Prefix of waiting deliveries, sorted by tenant and then by their next attempt. Keys of an earlier release begin with
 * a digit.
 */
export const RETRY_SORT_PREFIX = 'T#';
export const retriesBegin = (tenantId: TenantId): string => `${RETRY_SORT_PREFIX}${tenantId}#`;
/** Upper bound, inclusive, of the deliveries of a tenant that are due at `now`. */
export const retriesEnd = (tenantId: TenantId, now: EpochMs): string =>
  `${retriesBegin(tenantId)}${dueUntil(now)}`;
export const retrySortKey = (tenantId: TenantId, nextAt: EpochMs, id: string): string =>
  `${retriesBegin(tenantId)}${padTime(nextAt)}#${id}`;
/** Smallest sort key after this one: the space sorts before every character of an id. */
export const afterRetry = (sortKey: string): string => `${sortKey} `;
/**
 * Place at which a listing starts, another one each time, so that no tenant is always the last. Ids of tenants are
 * UUIDs.
 */
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
/**
 * Hash of a mailbox, because the address is personal data. Capitals are ignored: another spelling must not get around
 * the state of the mailbox.
 */
export const mailboxHash = (address: string): string => digest(address.toLowerCase());
/** Hash of the key in links of mails, so that a dump of the table can confirm no mailbox. */
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
/** Key that gives each login of a forge to one account over all tenants. Null: the address is no instance. */
export function authorGuardKey(instanceUrl: string, login: string): Key | null {
  const url = normalizeInstanceUrl(instanceUrl);
  return url === null
    ? null
    : { pk: `${PARTITIONS.authorLogins}${digest(url, login.toLowerCase())}`, sk: 'U' };
}
/** As `authorGuardKey`, from the key of a wish: both keys hold the hash of forge and login. */
export const authorGuardOf = (wish: Key): Key => ({
  pk: `${PARTITIONS.authorLogins}${wish.sk.slice(AUTHOR_SORT_PREFIX.length)}`,
  sk: 'U',
});
/**
 * Key of the mark that a bounce was announced. It exists as long as the repository, so a head is never announced twice
 * (A84).
 */
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
/** Key of the look-up of the tenant of a customer. */
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
/** Key of the row that is written to prove that the table takes one. */
export const proofKey: Key = { pk: PARTITIONS.health, sk: 'PROOF' };
export const engineNeedKey: Key = { pk: PARTITIONS.health, sk: 'ENGINE' };
/** Key of the mark of an installation that was exported, or that an import is filling; neither may run. */
export const movedKey: Key = { pk: PARTITIONS.health, sk: 'MOVED' };
export const importKey: Key = { pk: PARTITIONS.health, sk: 'IMPORT' };
/**
 * Key of the ongoing reconciles of one section. Each has a partition of its own, because a partition takes a limited
 * number of writes.
 */
export const ongoingKey = (section: number): Key => ({
  pk: section === 0 ? PARTITIONS.runs : `${PARTITIONS.runs}#${section}`,
  sk: 'RUNS',
});
/**
 * Key of a delivery of a forge. Its id is text of the sender, so it is hashed: it can neither be long nor look like a
 * key.
 */
export const deliveryKey = (id: RepoId, deliveryId: string): Key => ({
  pk: `${PARTITIONS.deliveries}${digest(id, deliveryId)}`,
  sk: 'S',
});
