import type { EpochMs, NodeRowId, PullRequestNumber, RepoId, TenantId } from '../domain/ids.ts';
import type { BatchHead, EventHead } from '../domain/queue/activity.ts';
import type { ActivityEvent, BatchPhase, NodeRow } from '../domain/queue/batch.ts';
import type { QueueView } from '../domain/queue/queue-view.ts';
import type { Connection, ManagedRepo, ReconcileOutcome } from '../domain/repos/repo.ts';
import type { Plan } from '../domain/tenants/billing.ts';

/** One per tenant, made with it (D-43). */
export interface Organization {
  readonly id: string;
  readonly ownerTenantId: TenantId;
  readonly name: string;
  readonly createdAt: EpochMs;
}

/** One tenant per user (D-43). Counters move in the transactions that create and delete. */
export interface Tenant {
  readonly id: TenantId;
  readonly createdAt: EpochMs;
  readonly connections: number;
  readonly repos: number;
  /** Being offboarded: nothing is created for it any more (D-62). */
  readonly deleting: boolean;
}

/** The actor of a change that a session of another tenant has caused. */
export const ANOTHER_TENANT = 'another_tenant';

/** The actor of a repair that the service has made by itself. */
export const BY_SERVICE = 'service';

/** The action of a note about a sign-in; its id is that of the session. */
export const SESSION_STARTED = 'session.start';

/** Who did what to which thing, and from where. Ids, fixed words and a network only. */
export interface AuditEntry {
  readonly id: string;
  readonly tenantId: TenantId;
  readonly at: EpochMs;
  /** User id, the name of one of several people of the tenant, `token:` with the id of an API token, `another_tenant` or `service`. */
  readonly actor: string;
  /** An IPv4 address, or the /64 of an IPv6 address; null: another tenant's, or of before it was noted. */
  readonly from: string | null;
  /** Such as `connection.create`. */
  readonly action: string;
  /** Id of what was changed. */
  readonly target: string;
  readonly result: 'ok' | 'failed';
}

/** A note of a tenant that has left: no name, no network, no id. */
export interface KeptNote extends Pick<AuditEntry, 'at' | 'action' | 'result'> {
  readonly actor: 'tenant' | typeof ANOTHER_TENANT;
  /** Hash of tenant and id: to be compared with an id that is known, and no way to one that is not. */
  readonly target: string;
}

export const HISTORY_PARTS = ['batches', 'events', 'audit', 'mailboxes', 'authors', 'tokens'] as const;
export type HistoryPart = (typeof HISTORY_PARTS)[number];

/** Why a stored batch row cannot be shown as a node of its tree. */
export const RECORD_ERROR_REASONS = ['missing_identity', 'unreadable'] as const;
export interface RecordError {
  readonly id: NodeRowId;
  readonly reason: (typeof RECORD_ERROR_REASONS)[number];
}

export interface BatchHistory {
  readonly batches: readonly NodeRow[];
  readonly errors: readonly RecordError[];
  /** Where the next older rows begin; null: there are none. */
  readonly next: string | null;
}

export interface BatchSearch {
  readonly limit: number;
  /** `next` of an earlier answer; null: from the newest. */
  readonly before: string | null;
  /** Those of these repos alone, and `next` names no row of another one; null: of all. */
  readonly repoIds: readonly RepoId[] | null;
  /** Rows of the tenant that are looked through at most, where it is some repos. */
  readonly scannedMax: number;
}

export interface EventSearch {
  readonly wanted: (event: ActivityEvent) => boolean;
  readonly limit: number;
  /** Rows of the tenant that are looked through at most. */
  readonly scannedMax: number;
  /** `next` of an earlier answer; null: from the newest. */
  readonly before: string | null;
}

export interface EventHistory {
  readonly events: readonly ActivityEvent[];
  /** Where the search for older ones goes on; null: there are none. It names no other repo. */
  readonly next: string | null;
}

/** The newest event that ended a pull request. */
export interface TerminalMark {
  readonly repoId: RepoId;
  readonly pr: PullRequestNumber;
  readonly event: 'landed' | 'bounced';
  readonly at: EpochMs;
}

/** Looks at no more than `scannedMax` notes, the newest first. */
export interface SignInSearch {
  readonly person: string;
  readonly since: EpochMs;
  readonly limit: number;
  readonly scannedMax: number;
}

/** The rows that a tenant sees and leaves behind. */
export interface AccountStore {
  loadTenant(tenantId: TenantId): Promise<Tenant | null>;
  /** Null: the tenant is not there, or is of before organizations had a row. */
  loadOrganization(tenantId: TenantId): Promise<Organization | null>;
  /** Null: nothing was ever bought. */
  loadPlan(tenantId: TenantId): Promise<Plan | null>;
  savePlan(tenantId: TenantId, plan: Plan): Promise<void>;

  appendAudit(entry: AuditEntry): Promise<void>;
  /** Once for each entry by time and id, however often. False when there is no such tenant, or it leaves. */
  appendSignIn(entry: AuditEntry): Promise<boolean>;
  /** Newest first. */
  listAudit(tenantId: TenantId, limit: number): Promise<readonly AuditEntry[]>;
  /** Those of one person since `since`, newest first, however many other notes stand between them. */
  listSignIns(tenantId: TenantId, search: SignInSearch): Promise<readonly AuditEntry[]>;
  /** Last outcomes of all repos of a tenant, in one read. */
  listOutcomes(tenantId: TenantId): Promise<ReadonlyMap<RepoId, ReconcileOutcome>>;

  /** Newest first; a row that cannot be shown is an error of its own and spoils no other. */
  readBatchHistory(tenantId: TenantId, search: BatchSearch): Promise<BatchHistory>;
  /** Events of one repo, newest first; one that cannot be read is left out. */
  readEventHistory(repo: Pick<ManagedRepo, 'id' | 'tenantId'>, search: EventSearch): Promise<EventHistory>;
  /** Events since `since`, or null when there are more than `rowsMax`: part of a count is no count (A73). */
  readEventsSince(tenantId: TenantId, since: EpochMs, rowsMax: number): Promise<readonly EventHead[] | null>;
  /** As above, for batches by the time they were made. */
  readBatchesSince(tenantId: TenantId, since: EpochMs, rowsMax: number): Promise<readonly BatchHead[] | null>;
  /** The same as whole rows, oldest first; null: more than `rowsMax`. */
  readNodesSince(tenantId: TenantId, since: EpochMs, rowsMax: number): Promise<readonly NodeRow[] | null>;
  /** By repo; one that has none, or one that this version cannot read, is left out. */
  readQueueViews(repoIds: readonly RepoId[]): Promise<ReadonlyMap<RepoId, QueueView>>;
  readTerminals(
    wanted: readonly { readonly repoId: RepoId; readonly pr: PullRequestNumber }[],
  ): Promise<readonly TerminalMark[]>;

  /** False when there is no such tenant. From here on nothing is created for it. */
  markTenantDeleting(tenantId: TenantId): Promise<boolean>;
  /** Copies the newest notes of a tenant that leaves to where no name is, and adds that it was erased. Again copies none twice. */
  keepAudit(tenantId: TenantId): Promise<void>;
  /** Notes of a tenant that has left, newest first; all, or those about one id. */
  listKeptAudit(tenantId: TenantId, about?: string): Promise<readonly KeptNote[]>;
  countHistory(tenantId: TenantId, part: HistoryPart): Promise<number>;
  /** Returns how many rows went. */
  deleteHistory(tenantId: TenantId, part: HistoryPart): Promise<number>;
  /** False when there was none. */
  deletePlan(tenantId: TenantId): Promise<boolean>;
  /** False when there was none. */
  deleteOrganization(tenantId: TenantId): Promise<boolean>;
  /** Last step of an offboarding. */
  deleteTenant(tenantId: TenantId): Promise<void>;
}

export interface CredentialCounts {
  /** By format as stored. */
  readonly formats: ReadonlyMap<string, number>;
  readonly keyVersions: ReadonlyMap<number, number>;
}

/** The operator's view over all tenants. Indexes: may lag by seconds (E8). */
export interface AdminStore {
  /** All repos whose slug contains `text`, whatever its case, ordered by slug; one page of them. */
  searchRepos(
    text: string,
    offset: number,
    limit: number,
  ): Promise<{ readonly repos: readonly ManagedRepo[]; readonly total: number; readonly truncated: boolean }>;
  /** Oldest first. */
  listAllConnections(limit: number): Promise<readonly ConnectionHead[]>;
  countCredentials(): Promise<
    CredentialCounts & { readonly connections: number; readonly truncated: boolean }
  >;
  countTenants(): Promise<number>;
}

/** A connection without its credential: all that an operator may see. */
export type ConnectionHead = Pick<
  Connection,
  'id' | 'tenantId' | 'instanceUrl' | 'botUsername' | 'createdAt' | 'updatedAt'
>;

/** A batch that waits for its gate or its merge. */
export interface WaitingBatch {
  readonly tenantId: TenantId;
  readonly phase: BatchPhase;
  readonly createdAt: EpochMs;
  /** Of `NodeRow`; null while it waits for others. */
  readonly phaseSince: EpochMs | null;
}

/** The reads that queue health is told from. Each call throws `StoreError` when unreadable, and its signal is then unknown. */
export interface HealthStore {
  loadLastTick(): Promise<EpochMs | null>;
  /** Tenants of the repos that became due before then; `limit` repos of each shard of the index are looked at. */
  listOverdueTenants(dueBefore: EpochMs, limit: number): Promise<ReadonlySet<TenantId>>;
  /** Oldest first. */
  listWaitingBatches(limit: number): Promise<readonly WaitingBatch[]>;
  /** Batches of all tenants made since then. */
  countBatchesSince(since: EpochMs): Promise<{ readonly total: number; readonly superseded: number }>;
}

export type RateAnswer =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterMs: number };

export interface RateStore {
  /** Takes one token from the bucket of this name. `intervalMs` per token, `burst` fit in. */
  takeToken(bucket: string, intervalMs: number, burst: number): Promise<RateAnswer>;
}

/** Tickets and sockets of the realtime queue. Ids of tickets are hashes: a dump of the table opens no socket. */
export interface RealtimeStore {
  saveTicket(ticketHash: string, tenantId: TenantId, expiresAt: EpochMs): Promise<void>;
  /** Works once: null when unknown, used or expired (A93). */
  redeemTicket(ticketHash: string): Promise<TenantId | null>;
  /** False: the tenant is leaving, and gets no socket any more. */
  addSocket(tenantId: TenantId, socketId: string, expiresAt: EpochMs): Promise<boolean>;
  /** By its id alone, as the gateway tells of its end. Gone already is fine. */
  removeSocket(socketId: string): Promise<void>;
  /** One that a tenant has listed, also where no other row of it is left. With `expiresBefore`, a socket that was opened later than that implies stays. */
  removeSocketOf(tenantId: TenantId, socketId: string, expiresBefore?: EpochMs): Promise<void>;
  listSockets(tenantId: TenantId): Promise<readonly string[]>;
}
