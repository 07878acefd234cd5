import type { ForgeVersion } from '../domain/forge/forge-version.ts';
import type { RefusalCause } from '../domain/forge/refusal-cause.ts';
import type { TokenScope } from '../domain/forge/token-scopes.ts';
import type { ConnectionId, EpochMs, RepoId, TenantId } from '../domain/ids.ts';
import type { ActivityEvent, NodeRow, OwnEvent } from '../domain/queue/batch.ts';
import type { LeftHeads, Obligations } from '../domain/queue/obligations.ts';
import type { QueueView } from '../domain/queue/queue-view.ts';
import type { Connection, ManagedRepo, ReconcileErrorCode, ReconcileOutcome } from '../domain/repos/repo.ts';
import type { SettingsSeen } from '../domain/repos/settings-file.ts';
import type { StoredHolds } from '../domain/repos/stored-holds.ts';
import type { HookSeen } from '../domain/set-up/hook-seen.ts';
import type { RuleSeen } from '../domain/set-up/provisioning.ts';
import type { OngoingReconcile } from '../domain/wakes/fairness.ts';
import type { ForgeSight } from '../domain/wakes/forge-sight.ts';
import type { HeardKind } from '../domain/wakes/heard-events.ts';
import type { HeldLease, LeaseGrant, LeaseState } from '../domain/wakes/lease.ts';

/**
 * `lost_race`: a condition failed, another call wrote first. `fenced`: the lease has moved on, or the repo is gone.
 * `unavailable`: no answer. `unreadable`: a stored row is not what this version can read; nothing of it is returned.
 * `too_large`: the write does not fit the store; nothing was sent, and sending it again cannot help.
 */
export type StoreErrorKind = 'lost_race' | 'fenced' | 'unavailable' | 'unreadable' | 'too_large';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly kind: StoreErrorKind,
    readonly operation: string,
  ) {
    super(`store ${operation}: ${kind}`);
  }
}

/** The key that makes a repository one and the same on a forge, whatever the spelling (D-46). */
export type ForgeAddress = Pick<ManagedRepo, 'instanceUrl' | 'slug'>;
/** One branch of it. */
export type BranchAddress = ForgeAddress & Pick<ManagedRepo, 'baseBranch'>;

/** A deleted repo that still has something to take back on its forge. */
export interface WindDown {
  readonly tenantId: TenantId;
  readonly id: RepoId;
  /** Null, like its context: a row of before several branches. */
  readonly baseBranch: string | null;
  readonly statusContext: string | null;
  readonly at: EpochMs;
}

export interface RepoAddress {
  readonly tenantId: TenantId;
  readonly instanceUrl: string;
  readonly slug: string;
  readonly baseBranch: string;
}

/** Stored JSON document of the engine's bookkeeping for one repo. Its shape is the engine's business. */
export interface StoredQueueRecord {
  readonly version: number;
  readonly document: unknown;
}

/** One atomic step of bookkeeping: all of it is stored, or nothing (A5, A42). */
export interface QueueWrite {
  readonly document: unknown;
  /** Version read before; null = there was no record. */
  readonly expectedVersion: number | null;
  /** Rows to put, whole. Rows, events, one mark per landed or bounced pull request and what is told: 97 together. */
  readonly batches: readonly NodeRow[];
  /** Events to append. */
  readonly events: readonly ActivityEvent[];
  /** When that has changed. */
  readonly told?: ToldQueue;
}

/** The engine's account of its record: the queue to people, the obligations to the service. Stored as one row. */
export interface ToldQueue {
  readonly view: QueueView;
  readonly obligations: Obligations;
}

/** The report that one reconcile leaves for the worker that asked for it. */
export interface EngineReport {
  readonly fence: number;
  readonly at: EpochMs;
  readonly errorCode: ReconcileErrorCode | null;
  /** Of which the token would need one, where the forge has said so. */
  readonly missingScopes?: readonly TokenScope[];
  /** Of `forge_access_denied`: why, where the answer of the forge tells. */
  readonly refusal?: RefusalCause;
  /** When the engine wants to look again; null = at the next tick. */
  readonly wakeAt: EpochMs | null;
  /** At most 50 lines from fixed templates (D-26). */
  readonly logTail: readonly string[];
  /** Absent: the rule of the base was never seen. */
  readonly rule?: RuleSeen;
  /** Absent: the forge was not asked yet, or names none. */
  readonly forge?: ForgeVersion;
  /** Absent: not all of it was read. */
  readonly sight?: ForgeSight;
  /** Absent: the forge was not asked for its hooks. */
  readonly hook?: HookSeen;
  /** Absent: the settings file was never read, or is not asked for. */
  readonly settingsSeen?: SettingsSeen;
}

/** The rows that the engine may read and write. Every write is refused with `fenced` under an old lease. */
export interface EngineStore {
  /** A deleted repo that is being wound down comes before the one that was enrolled after it: it runs first. */
  findRepo(address: RepoAddress): Promise<ManagedRepo | null>;
  /** The pause, the freeze windows, whether the queue is on, and the settings, as they are stored now; null: the repo is gone. */
  readHolds(repo: Pick<ManagedRepo, 'id' | 'tenantId'>): Promise<StoredHolds | null>;
  /** Statuses that deleted repos of this branch left standing on heads, of any tenant. */
  listLeftHeads(address: BranchAddress): Promise<readonly LeftHeads[]>;
  /** Null: the engine has told none yet. Throws `StoreError` when unreadable: what cannot be read may be on the forge. */
  readObligations(repoId: RepoId): Promise<Obligations | null>;
  loadQueueRecord(repoId: RepoId): Promise<StoredQueueRecord | null>;
  /**
   * The newest of one repo that can be read, newest first, among the newest `scannedMax` rows of its tenant.
   * @param scannedMax default: 10,000, more than other repos of the tenant write in between
   */
  listOwnBatches(
    repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
    limit: number,
    scannedMax?: number,
  ): Promise<readonly NodeRow[]>;
  /** The same of events. */
  listOwnEvents(
    repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
    limit: number,
    scannedMax?: number,
  ): Promise<readonly OwnEvent[]>;
  /** Returns the new version. */
  saveQueue(held: HeldLease, repo: ManagedRepo, write: QueueWrite): Promise<number>;
  /** Sets an unreadable record aside, so that the next reconcile rebuilds from the forge (A32). */
  quarantineQueueRecord(held: HeldLease): Promise<void>;
  saveReport(held: HeldLease, report: EngineReport): Promise<void>;
}

export interface LeaseStore {
  /** `held` when another worker has it. `purpose` is stored for a person who looks at the row; no code reads it. */
  acquireLease(repoId: RepoId, owner: string, purpose: string, ttlMs: number): Promise<LeaseGrant | 'held'>;
  /** Keeps the item: its fence must grow for ever. */
  releaseLease(repoId: RepoId, grant: LeaseGrant): Promise<void>;
  /** Ends this lease at `expiresAt` where that is sooner. For a caller alone that knows its holder to be dead. */
  shortenLease(repoId: RepoId, grant: LeaseGrant, expiresAt: EpochMs): Promise<void>;
  /** Current grant if it is running now; null when idle. Throws `StoreError` when unreadable. */
  readLease(repoId: RepoId): Promise<LeaseGrant | null>;
  /** `unknown` when it cannot be read, never `idle` (A51). */
  readLeaseState(repoId: RepoId): Promise<LeaseState>;
}

/** The reconciles that are under way, of all tenants. */
export interface ReconcileStore {
  /** Notes this one for `ttlMs`, unless `isAllowed`, asked with all others of its section that are under way, says no: then false. */
  beginReconcile(
    next: OngoingReconcile,
    ttlMs: number,
    isAllowed: (others: readonly OngoingReconcile[]) => boolean,
    /** @default 0 */
    section?: number,
  ): Promise<boolean>;
  /** Over already is fine. `section`: as it was begun. */
  endReconcile(id: string, section?: number): Promise<void>;
  /** All of a section are over. For a caller alone that knows every worker to be dead. */
  forgetReconciles(section?: number): Promise<void>;
}

/** The store of wakes, ticks and the worker. */
export interface DispatchStore {
  getRepo(repoId: RepoId): Promise<ManagedRepo | null>;
  getConnection(tenantId: TenantId, id: ConnectionId): Promise<Connection | null>;
  /** Due, enabled repos, oldest due first. An index: a hint, never the truth (E8). */
  listDueRepos(now: EpochMs, limit: number): Promise<readonly RepoId[]>;
  /** Marks due at `dueAt`, or leaves an earlier due time; returns the grown `wakeSeq`, null when the repo is gone or disabled. */
  markDue(repoId: RepoId, dueAt: EpochMs): Promise<number | null>;
  /** Notes that such an event arrived, at most once in `HEARD_NOTED_EVERY_MS`; gone already is fine. */
  noteHeard(repoId: RepoId, kind: HeardKind, at: EpochMs): Promise<void>;
  /** Marks due now, and until `until` as asked to stop; returns the grown `wakeSeq`, null when the repo is gone or disabled. */
  askStop(repoId: RepoId, until: EpochMs): Promise<number | null>;
  /** After a reconcile: next due time, only if the repo was not woken since `wakeSeqSeen`; false when it was. True, without effect, when the repo is gone or disabled. */
  settleDue(repoId: RepoId, wakeSeqSeen: number, nextDueAt: EpochMs): Promise<boolean>;
  /** Ends the last look at a repo that is off or tombstoned: it can be woken no more. False when it was woken, switched on or deleted since. */
  settleOff(repo: Pick<ManagedRepo, 'id' | 'tenantId'>, wakeSeqSeen: number): Promise<boolean>;
  /** Of all tenants and branches, oldest first. A repo that was enrolled after them for the same branch runs after them. */
  listWindDowns(address: ForgeAddress): Promise<readonly WindDown[]>;
  /** Null: the engine has told none yet. Throws `StoreError` when unreadable: what cannot be read may be on the forge. */
  readObligations(repoId: RepoId): Promise<Obligations | null>;
  loadReport(repoId: RepoId): Promise<EngineReport | null>;
  saveReconcileOutcome(repo: ManagedRepo, outcome: ReconcileOutcome): Promise<void>;
  loadReconcileOutcome(repo: Pick<ManagedRepo, 'id' | 'tenantId'>): Promise<ReconcileOutcome | null>;
  recordTick(at: EpochMs): Promise<void>;
  /**
   * Webhook look-up by the hook id of our own URL, else by (normal instance URL, slug): of its branches one that has a
   * secret. Null: not managed.
   */
  findRepoForHook(
    key: { readonly hookId: string } | { readonly instanceUrl: string; readonly slug: string },
  ): Promise<ManagedRepo | null>;
  /** Every managed branch of a repository, in the order of their enrollment: all are of one tenant. */
  listReposAt(address: ForgeAddress): Promise<readonly ManagedRepo[]>;
  /** False when this delivery id was seen before (kept 24 h). */
  claimDelivery(repoId: RepoId, deliveryId: string): Promise<boolean>;
  /** Whether this delivery id was claimed within the last 24 h. */
  isDeliveryClaimed(repoId: RepoId, deliveryId: string): Promise<boolean>;
}

/** The store of enrollment. */
export interface EnrollmentStore {
  /** With its organization. There already is fine. */
  createTenant(tenantId: TenantId, at: EpochMs): Promise<void>;
  /**
   * One transaction: guard, row, counter below `connectionsMax` (null = unlimited). Who has the identity is said for the
   * caller to decide what may be told; a taken identity comes before a full tenant.
   */
  createConnection(
    connection: Connection,
    connectionsMax?: number | null,
  ): Promise<'created' | 'limit_reached' | { readonly takenBy: TenantId; readonly id: ConnectionId }>;
  /** Who claims this bot of this forge; null: none does. */
  findConnection(instanceUrl: string, botUsername: string): Promise<Connection | null>;
  listConnections(tenantId: TenantId): Promise<readonly Connection[]>;
  /**
   * Credential, bot and times in one step (A59); tenant, id and instance cannot change. `lost_race` unless the stored row
   * still is `previous` (by `updatedAt`, encrypted token and wrapped data key) and not being deleted.
   */
  updateConnection(
    previous: Connection,
    next: Connection,
  ): Promise<'updated' | { readonly takenBy: TenantId; readonly id: ConnectionId }>;
  /**
   * From here on no repo can be created under it (A57); its identity is free and it is not counted any more. False when it
   * is gone already.
   */
  markConnectionDeleting(tenantId: TenantId, id: ConnectionId): Promise<boolean>;
  /** Last step of a cascade: the row and its identity guard. Refused with `lost_race` unless marked deleting. */
  deleteConnection(tenantId: TenantId, id: ConnectionId): Promise<void>;
  /**
   * One transaction: guard, row, counter below `reposMax` (null = unlimited), parent alive. The branches of one repository
   * are of one tenant, and each has a context of its own.
   */
  createRepo(
    repo: ManagedRepo,
    reposMax: number | null,
  ): Promise<
    | 'created'
    | 'connection_gone'
    | 'limit_reached'
    | { readonly managedBy: TenantId; readonly id: RepoId }
    | { readonly contextOf: RepoId }
  >;
  /**
   * Conditional on `repo.version`; returns the stored row with its new version. Never writes `wakeSeq`; `dueAt` only when
   * the queue is switched on (due at `repo.dueAt`, else now) or off (null; with `lastLook` now: it can be woken until
   * `settleOff`, so that the engine takes back what it left on the forge). Address, branch, tenant and connection cannot
   * change; a context that another branch of the repository has is `lost_race`.
   */
  updateRepo(repo: ManagedRepo, options?: { readonly lastLook: boolean }): Promise<ManagedRepo>;
  /**
   * One transaction: the row becomes a tombstone that is due now, its branch is free, and its hook is another managed
   * branch's of the repository, or free as well; it is not counted any more. Conditional on `repo.version` (`lost_race`).
   */
  buryRepo(repo: ManagedRepo): Promise<void>;
  /**
   * Row, guards, wake state, bookkeeping; resolves its open batches; fences off the holder of the lease. Gone already is
   * fine. `left` is kept for the repo that is enrolled for this branch next.
   */
  deleteRepo(repo: ManagedRepo, left?: LeftHeads): Promise<void>;
  /** Batches of one repo that have not ended. An index: may lag by seconds (E8). */
  listRunningBatches(repo: Pick<ManagedRepo, 'id' | 'tenantId'>): Promise<readonly NodeRow[]>;
  listRepos(tenantId: TenantId): Promise<readonly ManagedRepo[]>;
  /** Newest first, of all repos of the tenant. */
  listBatches(tenantId: TenantId, limit: number): Promise<readonly NodeRow[]>;
  /** The same of events. */
  listEvents(tenantId: TenantId, limit: number): Promise<readonly ActivityEvent[]>;
}
