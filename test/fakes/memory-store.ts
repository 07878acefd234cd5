import { batchSortKey, eventSortKey } from '#core/adapters/dynamo/keys.ts';
import { encodeDocument } from '#core/adapters/dynamo/queue-document.ts';
import type { ActivityEvent, BatchRow } from '#core/domain/batch.ts';
import type { ConnectionId, EpochMs, RepoId, TenantId } from '#core/domain/ids.ts';
import type { HeldLease, LeaseGrant, LeaseState } from '#core/domain/lease.ts';
import {
  DELIVERY_ID_KEPT_MS,
  LEASE_TAKEOVER_GRACE_MS,
  QUEUE_WRITE_BATCHES_MAX,
  QUEUE_WRITE_EVENTS_MAX,
  QUEUE_WRITE_ROWS_MAX,
} from '#core/domain/limits.ts';
import type { Connection, ManagedRepo, ReconcileOutcome } from '#core/domain/repo.ts';
import { normalizeInstanceUrl, normalizeSlug } from '#core/domain/url.ts';
import type {
  DispatchStore,
  EngineReport,
  EngineStore,
  EnrollmentStore,
  LeaseStore,
  QueueWrite,
  RepoAddress,
  StoredQueueRecord,
} from '#core/ports/store.ts';
import { StoreError } from '#core/ports/store.ts';
import type { Clock } from '#core/ports/system.ts';

export interface MemoryStoreOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** How far `listDueRepos` lags behind the truth, in ms (E8). */
  readonly indexLagMs?: number;
  /** Runs before every call, with the method's name; what it throws is what the caller sees. */
  readonly beforeCall?: (label: string) => void | Promise<void>;
  /** Runs after the effect of every call: a throw here is an effect whose answer was lost. */
  readonly afterCall?: (label: string) => void | Promise<void>;
}

export const CORRUPTIBLE_ROWS = ['repo', 'connection', 'queue', 'report', 'lease', 'outcome'] as const;
export type CorruptibleRow = (typeof CORRUPTIBLE_ROWS)[number];

interface LeaseRow {
  fence: number;
  running: boolean;
  owner: string;
  purpose: string;
  expiresAt: EpochMs;
}

interface DueChange {
  readonly at: EpochMs;
  readonly dueAt: EpochMs | null;
}

interface TenantRow {
  connections: number;
  repos: number;
}

export type MemoryStore = MemoryStoreImpl;

export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  return new MemoryStoreImpl(options);
}

/** All store ports over maps, with the semantics of the DynamoDB adapter; one contract suite runs against both. */
class MemoryStoreImpl implements EngineStore, LeaseStore, DispatchStore, EnrollmentStore {
  indexLagMs: number;
  beforeCall: ((label: string) => void | Promise<void>) | null;
  afterCall: ((label: string) => void | Promise<void>) | null;

  readonly #clock: Pick<Clock, 'now'>;
  readonly #tenants = new Map<TenantId, TenantRow>();
  readonly #connections = new Map<ConnectionId, Connection>();
  readonly #identities = new Map<string, ConnectionId>();
  readonly #repos = new Map<RepoId, ManagedRepo>();
  readonly #addresses = new Map<string, RepoId>();
  readonly #dueHistory = new Map<RepoId, DueChange[]>();
  readonly #leases = new Map<RepoId, LeaseRow>();
  readonly #records = new Map<RepoId, { version: number; json: string }>();
  readonly #quarantined: { repoId: RepoId; json: string }[] = [];
  readonly #reports = new Map<RepoId, EngineReport>();
  readonly #outcomes = new Map<RepoId, ReconcileOutcome>();
  readonly #batches = new Map<string, BatchRow>();
  readonly #events = new Map<string, ActivityEvent>();
  readonly #terminals = new Map<string, ActivityEvent>();
  readonly #deliveries = new Map<string, EpochMs>();
  readonly #corrupt = new Set<string>();
  #lastTickAt: EpochMs | null = null;

  constructor(options: MemoryStoreOptions) {
    this.#clock = options.clock;
    this.indexLagMs = options.indexLagMs ?? 0;
    this.beforeCall = options.beforeCall ?? null;
    this.afterCall = options.afterCall ?? null;
  }

  // Test controls

  /** Makes one stored row unreadable until it is quarantined or replaced. */
  corrupt(row: CorruptibleRow, id: string): void {
    this.#corrupt.add(`${row} ${id}`);
  }

  /** Newest event that landed or bounced this pull request; undefined when there is none. */
  terminalOf(repoId: RepoId, pr: number): ActivityEvent | undefined {
    return this.#terminals.get(`${repoId} ${pr}`);
  }

  get lastTickAt(): EpochMs | null {
    return this.#lastTickAt;
  }

  get quarantined(): readonly { readonly repoId: RepoId; readonly json: string }[] {
    return this.#quarantined;
  }

  /** Everything that is stored, as text, for canary scans (A95). */
  dump(): string {
    const maps = { ...this.#tables(), corrupt: this.#corrupt, quarantined: this.#quarantined };
    return JSON.stringify(maps, (_key, value) =>
      value instanceof Map ? [...value] : value instanceof Set ? [...value] : value,
    );
  }

  #tables(): Record<string, ReadonlyMap<string, unknown>> {
    return {
      tenants: this.#tenants,
      connections: this.#connections,
      identities: this.#identities,
      repos: this.#repos,
      addresses: this.#addresses,
      leases: this.#leases,
      records: this.#records,
      reports: this.#reports,
      outcomes: this.#outcomes,
      batches: this.#batches,
      events: this.#events,
      terminals: this.#terminals,
      deliveries: this.#deliveries,
    };
  }

  // EngineStore

  findRepo(address: RepoAddress): Promise<ManagedRepo | null> {
    return this.#call('findRepo', () => {
      const repo = this.#repoAt(address.instanceUrl, address.slug);
      if (repo === null || repo.tenantId !== address.tenantId) return null;
      return repo.baseBranch === address.baseBranch ? repo : null;
    });
  }

  loadQueueRecord(repoId: RepoId): Promise<StoredQueueRecord | null> {
    return this.#call('loadQueueRecord', () => {
      this.#refuseCorrupt('queue', repoId, 'loadQueueRecord');
      const record = this.#records.get(repoId);
      if (record === undefined) return null;
      return { version: record.version, document: JSON.parse(record.json) };
    });
  }

  saveQueue(held: HeldLease, repo: ManagedRepo, write: QueueWrite): Promise<number> {
    return this.#call('saveQueue', () => {
      const terminals = write.events.filter(isTerminal);
      const terminalPrs = new Set(terminals.map((event) => event.pr)).size;
      if (
        write.batches.length > QUEUE_WRITE_BATCHES_MAX ||
        write.events.length > QUEUE_WRITE_EVENTS_MAX ||
        write.batches.length + write.events.length + terminalPrs > QUEUE_WRITE_ROWS_MAX
      ) {
        throw new StoreError('too_large', 'saveQueue');
      }
      const json = encodeDocument(write.document, 'saveQueue').json;
      this.#refuseFenced(held, 'saveQueue');
      const current = this.#records.get(repo.id);
      if ((current?.version ?? null) !== write.expectedVersion)
        throw new StoreError('lost_race', 'saveQueue');
      const version = (write.expectedVersion ?? 0) + 1;
      this.#records.set(repo.id, { version, json });
      this.#corrupt.delete(`queue ${repo.id}`);
      for (const row of write.batches) this.#batches.set(batchSortKey(row), structuredClone(row));
      write.events.forEach((event, index) => {
        this.#events.set(eventSortKey(event, version, index), structuredClone(event));
      });
      for (const event of terminals) this.#terminals.set(`${repo.id} ${event.pr}`, structuredClone(event));
      return version;
    });
  }

  quarantineQueueRecord(held: HeldLease): Promise<void> {
    return this.#call('quarantineQueueRecord', () => {
      this.#refuseFenced(held, 'quarantineQueueRecord');
      const record = this.#records.get(held.repoId);
      if (record === undefined) return;
      this.#quarantined.push({ repoId: held.repoId, json: record.json });
      this.#records.delete(held.repoId);
      this.#corrupt.delete(`queue ${held.repoId}`);
    });
  }

  saveReport(held: HeldLease, report: EngineReport): Promise<void> {
    return this.#call('saveReport', () => {
      this.#refuseFenced(held, 'saveReport');
      this.#reports.set(held.repoId, structuredClone(report));
      this.#corrupt.delete(`report ${held.repoId}`);
    });
  }

  // LeaseStore

  acquireLease(repoId: RepoId, owner: string, purpose: string, ttlMs: number): Promise<LeaseGrant | 'held'> {
    return this.#call('acquireLease', () => {
      this.#refuseCorrupt('lease', repoId, 'acquireLease');
      const now = this.#clock.now();
      const lease = this.#leases.get(repoId);
      if (lease?.running && lease.expiresAt + LEASE_TAKEOVER_GRACE_MS > now) return 'held';
      const grant = { fence: (lease?.fence ?? 0) + 1, expiresAt: now + ttlMs };
      this.#leases.set(repoId, { ...grant, running: true, owner, purpose });
      return grant;
    });
  }

  releaseLease(repoId: RepoId, grant: LeaseGrant): Promise<void> {
    return this.#call('releaseLease', () => {
      const lease = this.#leases.get(repoId);
      if (lease === undefined || lease.fence !== grant.fence) return;
      lease.running = false;
      lease.expiresAt = 0;
    });
  }

  readLease(repoId: RepoId): Promise<LeaseGrant | null> {
    return this.#call('readLease', () => this.#runningGrant(repoId));
  }

  async readLeaseState(repoId: RepoId): Promise<LeaseState> {
    try {
      return await this.#call('readLeaseState', () =>
        this.#runningGrant(repoId) === null ? 'idle' : 'held',
      );
    } catch {
      return 'unknown';
    }
  }

  // DispatchStore

  getRepo(repoId: RepoId): Promise<ManagedRepo | null> {
    return this.#call('getRepo', () => this.#readRepo(repoId, 'getRepo'));
  }

  getConnection(tenantId: TenantId, id: ConnectionId): Promise<Connection | null> {
    return this.#call('getConnection', () => {
      this.#refuseCorrupt('connection', id, 'getConnection');
      const connection = this.#connections.get(id);
      return connection?.tenantId === tenantId ? connection : null;
    });
  }

  listDueRepos(now: EpochMs, limit: number): Promise<readonly RepoId[]> {
    return this.#call('listDueRepos', () => {
      const visibleUntil = this.#clock.now() - this.indexLagMs;
      const due: { id: RepoId; dueAt: EpochMs }[] = [];
      for (const [id, history] of this.#dueHistory) {
        const dueAt = history.findLast((change) => change.at <= visibleUntil)?.dueAt ?? null;
        if (dueAt !== null && dueAt <= now) due.push({ id, dueAt });
      }
      due.sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));
      return due.slice(0, limit).map((entry) => entry.id);
    });
  }

  markDue(repoId: RepoId, dueAt: EpochMs): Promise<number | null> {
    return this.#call('markDue', () => {
      const repo = this.#repos.get(repoId);
      if (repo === undefined || !isWakeable(repo)) return null;
      const wakeSeq = repo.wakeSeq + 1;
      this.#putRepo({ ...repo, wakeSeq, dueAt: Math.min(repo.dueAt ?? dueAt, dueAt) });
      return wakeSeq;
    });
  }

  settleDue(repoId: RepoId, wakeSeqSeen: number, nextDueAt: EpochMs): Promise<boolean> {
    return this.#call('settleDue', () => {
      const repo = this.#repos.get(repoId);
      if (repo === undefined || !isWakeable(repo)) return true;
      if (repo.wakeSeq !== wakeSeqSeen) return false;
      this.#putRepo({ ...repo, dueAt: nextDueAt });
      return true;
    });
  }

  loadReport(repoId: RepoId): Promise<EngineReport | null> {
    return this.#call('loadReport', () => {
      this.#refuseCorrupt('report', repoId, 'loadReport');
      return this.#reports.get(repoId) ?? null;
    });
  }

  saveReconcileOutcome(repo: ManagedRepo, outcome: ReconcileOutcome): Promise<void> {
    return this.#call('saveReconcileOutcome', () => {
      if (!this.#repos.has(repo.id)) return;
      const stored = this.#outcomes.get(repo.id);
      if (stored !== undefined && stored.ranAt > outcome.ranAt) return;
      this.#outcomes.set(repo.id, { ...outcome });
      this.#corrupt.delete(`outcome ${repo.id}`);
    });
  }

  loadReconcileOutcome(repo: Pick<ManagedRepo, 'id' | 'tenantId'>): Promise<ReconcileOutcome | null> {
    return this.#call('loadReconcileOutcome', () => {
      this.#refuseCorrupt('outcome', repo.id, 'loadReconcileOutcome');
      return this.#outcomes.get(repo.id) ?? null;
    });
  }

  recordTick(at: EpochMs): Promise<void> {
    return this.#call('recordTick', () => {
      this.#lastTickAt = Math.max(this.#lastTickAt ?? at, at);
    });
  }

  findRepoForHook(
    key: { readonly hookId: string } | { readonly instanceUrl: string; readonly slug: string },
  ): Promise<ManagedRepo | null> {
    return this.#call('findRepoForHook', () => {
      if (!('hookId' in key)) return this.#repoAt(key.instanceUrl, key.slug);
      for (const repo of this.#repos.values()) if (repo.hookId === key.hookId) return repo;
      return null;
    });
  }

  claimDelivery(repoId: RepoId, deliveryId: string): Promise<boolean> {
    return this.#call('claimDelivery', () => {
      const key = JSON.stringify([repoId, deliveryId]);
      const now = this.#clock.now();
      if ((this.#deliveries.get(key) ?? 0) > now) return false;
      this.#deliveries.set(key, now + DELIVERY_ID_KEPT_MS);
      return true;
    });
  }

  // EnrollmentStore

  createTenant(tenantId: TenantId, _at: EpochMs): Promise<void> {
    return this.#call('createTenant', () => {
      if (!this.#tenants.has(tenantId)) this.#tenants.set(tenantId, { connections: 0, repos: 0 });
    });
  }

  createConnection(
    connection: Connection,
  ): Promise<'created' | { readonly takenBy: TenantId; readonly id: ConnectionId }> {
    return this.#call('createConnection', () => {
      const identity = identityOf(connection);
      const takenId = this.#identities.get(identity);
      const taken = takenId === undefined ? undefined : this.#connections.get(takenId);
      if (taken !== undefined) return { takenBy: taken.tenantId, id: taken.id };
      const tenant = this.#tenants.get(connection.tenantId);
      if (tenant === undefined || this.#connections.has(connection.id)) {
        throw new StoreError('lost_race', 'createConnection');
      }
      this.#identities.set(identity, connection.id);
      this.#connections.set(connection.id, { ...connection });
      tenant.connections += 1;
      return 'created' as const;
    });
  }

  listConnections(tenantId: TenantId): Promise<readonly Connection[]> {
    return this.#call('listConnections', () =>
      [...this.#connections.values()].filter((connection) => connection.tenantId === tenantId).sort(byId),
    );
  }

  markConnectionDeleting(tenantId: TenantId, id: ConnectionId): Promise<boolean> {
    return this.#call('markConnectionDeleting', () => {
      const connection = this.#connections.get(id);
      if (connection?.tenantId !== tenantId) return false;
      this.#connections.set(id, { ...connection, deleting: true });
      return true;
    });
  }

  deleteConnection(tenantId: TenantId, id: ConnectionId): Promise<void> {
    return this.#call('deleteConnection', () => {
      const connection = this.#connections.get(id);
      if (connection?.tenantId !== tenantId) return;
      if (!connection.deleting) throw new StoreError('lost_race', 'deleteConnection');
      this.#connections.delete(id);
      this.#identities.delete(identityOf(connection));
      const tenant = this.#tenants.get(tenantId);
      if (tenant !== undefined) tenant.connections -= 1;
    });
  }

  createRepo(
    repo: ManagedRepo,
    reposMax: number | null,
  ): Promise<
    'created' | 'connection_gone' | 'limit_reached' | { readonly managedBy: TenantId; readonly id: RepoId }
  > {
    return this.#call('createRepo', () => {
      const connection = this.#connections.get(repo.connectionId);
      if (connection === undefined || connection.tenantId !== repo.tenantId || connection.deleting) {
        return 'connection_gone' as const;
      }
      const address = addressOf(repo.instanceUrl, repo.slug);
      if (address === null) throw new RangeError('a repo needs an address that has a normal form');
      const managed = this.#repos.get(this.#addresses.get(address) ?? '');
      if (managed !== undefined) return { managedBy: managed.tenantId, id: managed.id };
      const tenant = this.#tenants.get(repo.tenantId);
      if (tenant === undefined || this.#repos.has(repo.id)) throw new StoreError('lost_race', 'createRepo');
      if (reposMax !== null && tenant.repos >= reposMax) return 'limit_reached' as const;
      tenant.repos += 1;
      this.#addresses.set(address, repo.id);
      this.#putRepo({ ...repo, dueAt: isWakeable(repo) ? (repo.dueAt ?? this.#clock.now()) : null });
      return 'created' as const;
    });
  }

  updateRepo(repo: ManagedRepo): Promise<ManagedRepo> {
    return this.#call('updateRepo', () => {
      const stored = this.#readRepo(repo.id, 'updateRepo');
      if (stored === null || stored.version !== repo.version) throw new StoreError('lost_race', 'updateRepo');
      if (
        stored.tenantId !== repo.tenantId ||
        stored.connectionId !== repo.connectionId ||
        addressOf(stored.instanceUrl, stored.slug) !== addressOf(repo.instanceUrl, repo.slug)
      ) {
        throw new RangeError('the address, tenant and connection of a repo cannot change');
      }
      const dueAt = !isWakeable(repo) ? null : (stored.dueAt ?? repo.dueAt ?? this.#clock.now());
      const next = { ...repo, version: repo.version + 1, wakeSeq: stored.wakeSeq, dueAt };
      this.#putRepo(next);
      return next;
    });
  }

  deleteRepo(repo: ManagedRepo): Promise<void> {
    return this.#call('deleteRepo', () => {
      const stored = this.#repos.get(repo.id);
      if (stored === undefined || stored.tenantId !== repo.tenantId) return;
      const lease = this.#leases.get(repo.id);
      this.#leases.set(repo.id, {
        fence: (lease?.fence ?? 0) + 1,
        running: false,
        owner: '',
        purpose: 'deleted',
        expiresAt: 0,
      });
      this.#repos.delete(repo.id);
      this.#addresses.delete(addressOf(stored.instanceUrl, stored.slug) ?? '');
      this.#records.delete(repo.id);
      this.#reports.delete(repo.id);
      this.#outcomes.delete(repo.id);
      for (const key of this.#terminals.keys()) {
        if (key.startsWith(`${repo.id} `)) this.#terminals.delete(key);
      }
      this.#noteDue(repo.id, null);
      const tenant = this.#tenants.get(repo.tenantId);
      if (tenant !== undefined) tenant.repos -= 1;
    });
  }

  listRepos(tenantId: TenantId): Promise<readonly ManagedRepo[]> {
    return this.#call('listRepos', () =>
      [...this.#repos.values()]
        .filter((repo) => repo.tenantId === tenantId)
        .map((repo) => {
          this.#refuseCorrupt('repo', repo.id, 'listRepos');
          return repo;
        })
        .sort(byId),
    );
  }

  listBatches(tenantId: TenantId, limit: number): Promise<readonly BatchRow[]> {
    return this.#call('listBatches', () => newest(this.#batches, tenantId, limit));
  }

  listEvents(tenantId: TenantId, limit: number): Promise<readonly ActivityEvent[]> {
    return this.#call('listEvents', () => newest(this.#events, tenantId, limit));
  }

  // Inside: synchronous, so that every call is one atomic step

  async #call<T>(label: string, step: () => T): Promise<T> {
    if (this.beforeCall !== null) await this.beforeCall(label);
    const value = step();
    if (this.afterCall !== null) await this.afterCall(label);
    return value;
  }

  #refuseCorrupt(row: CorruptibleRow, id: string, operation: string): void {
    if (this.#corrupt.has(`${row} ${id}`)) throw new StoreError('unreadable', operation);
  }

  #refuseFenced(held: HeldLease, operation: string): void {
    const lease = this.#leases.get(held.repoId);
    const mine = lease?.running === true && lease.fence === held.fence;
    if (!mine || !this.#repos.has(held.repoId)) throw new StoreError('fenced', operation);
  }

  #runningGrant(repoId: RepoId): LeaseGrant | null {
    this.#refuseCorrupt('lease', repoId, 'readLease');
    const lease = this.#leases.get(repoId);
    if (!lease?.running || lease.expiresAt <= this.#clock.now()) return null;
    return { fence: lease.fence, expiresAt: lease.expiresAt };
  }

  #readRepo(repoId: RepoId, operation: string): ManagedRepo | null {
    this.#refuseCorrupt('repo', repoId, operation);
    return this.#repos.get(repoId) ?? null;
  }

  #repoAt(instanceUrl: string, slug: string): ManagedRepo | null {
    const address = addressOf(instanceUrl, slug);
    const repoId = address === null ? undefined : this.#addresses.get(address);
    return repoId === undefined ? null : this.#readRepo(repoId, 'findRepo');
  }

  #putRepo(repo: ManagedRepo): void {
    this.#repos.set(repo.id, repo);
    this.#noteDue(repo.id, isWakeable(repo) ? repo.dueAt : null);
  }

  #noteDue(repoId: RepoId, dueAt: EpochMs | null): void {
    const history = this.#dueHistory.get(repoId) ?? [];
    if (history.at(-1)?.dueAt === dueAt) return;
    history.push({ at: this.#clock.now(), dueAt });
    // Longer lags than this many changes do not occur: the oldest entry then stands for "before".
    if (history.length > 64) history.shift();
    this.#dueHistory.set(repoId, history);
  }
}

function isTerminal(event: ActivityEvent): boolean {
  return event.event === 'pr_landed' || event.event === 'pr_bounced';
}

function isWakeable(repo: ManagedRepo): boolean {
  return repo.queueEnabled && !repo.tombstone;
}

function addressOf(instanceUrl: string, slug: string): string | null {
  const url = normalizeInstanceUrl(instanceUrl);
  const normalSlug = normalizeSlug(slug);
  return url === null || normalSlug === null ? null : `${url} ${normalSlug}`;
}

function identityOf(connection: Connection): string {
  const url = normalizeInstanceUrl(connection.instanceUrl);
  if (url === null) throw new RangeError('a connection needs an instance URL that has a normal form');
  return `${url} ${connection.botUsername.toLowerCase()}`;
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function newest<Row extends { readonly tenantId: TenantId }>(
  rows: ReadonlyMap<string, Row>,
  tenantId: TenantId,
  limit: number,
): readonly Row[] {
  return [...rows]
    .filter(([, row]) => row.tenantId === tenantId)
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .slice(0, limit)
    .map(([, row]) => row);
}
