import type { ConnectionId, EpochMs, RepoId, TenantId } from '#core/domain/ids.ts';
import type { MailboxState } from '#core/domain/notices/notice-ways.ts';
import type { ActivityEvent, NodeRow } from '#core/domain/queue/batch.ts';
import type { LeftHeads } from '#core/domain/queue/obligations.ts';
import type { Connection, ManagedRepo, ReconcileOutcome } from '#core/domain/repos/repo.ts';
import type { ApiToken } from '#core/domain/tenants/api-token.ts';
import { normalizeInstanceUrl, normalizeSlug } from '#core/domain/url.ts';
import type { OngoingReconcile } from '#core/domain/wakes/fairness.ts';
import type { HeldLease, LeaseGrant } from '#core/domain/wakes/lease.ts';
import type { AuditEntry, KeptNote, Organization } from '#core/ports/account-store.ts';
import type { AuthorNotices } from '#core/ports/author-store.ts';
import type { StoredBilling } from '#core/ports/billing-store.ts';
import type { LookMemory } from '#core/ports/idle-look.ts';
import type { ConfirmationKey } from '#core/ports/mailbox-store.ts';
import type { EngineReport, ToldQueue, WindDown } from '#core/ports/store.ts';
import { StoreError } from '#core/ports/store.ts';
import type { Clock } from '#core/ports/system.ts';

interface MailboxEntry {
  readonly tenantId: TenantId;
  readonly key: string;
  state: MailboxState;
  ask: ConfirmationKey | null;
}

export interface MemoryStoreOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** How far `listDueRepos` lags behind the truth, in ms (E8). */
  readonly indexLagMs?: number;
  /** Runs before every call, with the method's name; what it throws is what the caller sees. */
  readonly beforeCall?: (label: string) => void | Promise<void>;
  /** Runs after the effect of every call: a throw here is an effect whose answer was lost. */
  readonly afterCall?: (label: string) => void | Promise<void>;
  /** A row smaller than the service's, so that a test needs no thousands. */
  readonly documentBytesMax?: number;
}

export const CORRUPTIBLE_ROWS = [
  'repo',
  'connection',
  'queue',
  'report',
  'lease',
  'outcome',
  'batch',
] as const;
export type CorruptibleRow = (typeof CORRUPTIBLE_ROWS)[number];

interface LeaseRow {
  fence: number;
  running: boolean;
  owner: string;
  expiresAt: EpochMs;
}

interface DueChange {
  readonly at: EpochMs;
  readonly dueAt: EpochMs | null;
}

interface TenantRow {
  readonly createdAt: EpochMs;
  connections: number;
  repos: number;
  deleting: boolean;
}

/** The rows of the memory store, its test controls, and the steps that its ports share. */
export class MemoryRows {
  indexLagMs: number;
  documentBytesMax: number;
  beforeCall: ((label: string) => void | Promise<void>) | null;
  afterCall: ((label: string) => void | Promise<void>) | null;

  protected readonly clock: Pick<Clock, 'now'>;
  protected readonly tenants = new Map<TenantId, TenantRow>();
  protected readonly organizations = new Map<TenantId, Organization>();
  protected readonly connections = new Map<ConnectionId, Connection>();
  protected readonly identities = new Map<string, ConnectionId>();
  protected readonly repos = new Map<RepoId, ManagedRepo>();
  /** Managed branches of one repository, in the order of their enrollment. */
  protected readonly addresses = new Map<string, readonly RepoId[]>();
  /** Per address: deleted repos that are being wound down, and what others could not take back. */
  protected readonly windDowns = new Map<string, readonly WindDown[]>();
  protected readonly leftHeads = new Map<
    string,
    readonly { readonly expiresAt: EpochMs; readonly left: LeftHeads; readonly baseBranch: string }[]
  >();
  protected readonly dueHistory = new Map<RepoId, DueChange[]>();
  protected readonly leases = new Map<RepoId, LeaseRow>();
  protected readonly runs = new Map<
    string,
    { readonly run: OngoingReconcile; readonly section: number; readonly until: EpochMs }
  >();
  protected readonly records = new Map<RepoId, { version: number; json: string }>();
  protected readonly told = new Map<RepoId, ToldQueue>();
  protected readonly setAside: { repoId: RepoId; json: string }[] = [];
  protected readonly reports = new Map<RepoId, EngineReport>();
  protected readonly looks = new Map<RepoId, LookMemory>();
  protected engineNeededAt: EpochMs | null = null;
  protected readonly outcomes = new Map<RepoId, ReconcileOutcome>();
  protected readonly batches = new Map<string, NodeRow>();
  protected readonly events = new Map<string, ActivityEvent>();
  protected readonly terminals = new Map<string, ActivityEvent>();
  protected readonly deliveries = new Map<string, EpochMs>();
  protected readonly plans = new Map<TenantId, StoredBilling>();
  /** Whose customer each is at the payment provider. */
  protected readonly customers = new Map<string, TenantId>();
  protected readonly paymentEvents = new Map<string, EpochMs>();
  protected readonly audit = new Map<string, AuditEntry>();
  protected readonly keptNotes = new Map<string, KeptNote & { readonly expiresAt: EpochMs }>();
  /** By tenant and hash of the address. */
  protected readonly mailboxes = new Map<string, MailboxEntry>();
  /** By tenant and login. */
  protected readonly authors = new Map<string, AuthorNotices>();
  /** By hash of forge and login. */
  protected readonly authorLogins = new Map<string, TenantId>();
  /** By tenant and hash. */
  protected readonly tokens = new Map<string, ApiToken>();
  protected readonly buckets = new Map<string, number>();
  protected readonly tickets = new Map<
    string,
    { readonly tenantId: TenantId; readonly expiresAt: EpochMs }
  >();
  protected readonly sockets = new Map<
    string,
    { readonly tenantId: TenantId; readonly expiresAt: EpochMs }
  >();
  /** Batch rows of before lineage was stored: all that is left of them is their id. */
  protected readonly nameless = new Map<string, { readonly tenantId: TenantId; readonly id: string }>();
  protected readonly damaged = new Set<string>();
  protected tickedAt: EpochMs | null = null;

  constructor(options: MemoryStoreOptions) {
    this.clock = options.clock;
    this.indexLagMs = options.indexLagMs ?? 0;
    this.documentBytesMax = options.documentBytesMax ?? Number.POSITIVE_INFINITY;
    this.beforeCall = options.beforeCall ?? null;
    this.afterCall = options.afterCall ?? null;
  }

  // Test controls

  /** Makes one stored row unreadable until it is quarantined or replaced. */
  corrupt(row: CorruptibleRow, id: string): void {
    this.damaged.add(`${row} ${id}`);
  }

  /** Writes the rows that an engine leaves at the end of a reconcile, without a check of its lease. */
  leaveReport(repoId: RepoId, report: EngineReport): void {
    this.reports.set(repoId, report);
  }

  /** Newest event that landed or bounced this pull request; undefined when there is none. */
  terminalOf(repoId: RepoId, pr: number): ActivityEvent | undefined {
    return this.terminals.get(`${repoId} ${pr}`);
  }

  /** The repo as stored, without a call: for an observer. */
  peekRepo(repoId: RepoId): ManagedRepo | null {
    return this.repos.get(repoId) ?? null;
  }

  get lastTickAt(): EpochMs | null {
    return this.tickedAt;
  }

  get quarantined(): readonly { readonly repoId: RepoId; readonly json: string }[] {
    return this.setAside;
  }

  /** Everything that is stored, as text, for canary scans (A95). */
  dump(): string {
    const maps = { ...this.tables(), damaged: this.damaged, quarantined: this.setAside };
    return JSON.stringify(maps, (_key, value) =>
      value instanceof Map ? [...value] : value instanceof Set ? [...value] : value,
    );
  }

  private tables(): Record<string, ReadonlyMap<string, unknown>> {
    return {
      tenants: this.tenants,
      organizations: this.organizations,
      connections: this.connections,
      identities: this.identities,
      repos: this.repos,
      addresses: this.addresses,
      windDowns: this.windDowns,
      leftHeads: this.leftHeads,
      leases: this.leases,
      records: this.records,
      reports: this.reports,
      outcomes: this.outcomes,
      batches: this.batches,
      events: this.events,
      terminals: this.terminals,
      deliveries: this.deliveries,
      plans: this.plans,
      customers: this.customers,
      paymentEvents: this.paymentEvents,
      audit: this.audit,
      keptNotes: this.keptNotes,
      mailboxes: this.mailboxes,
      authors: this.authors,
      authorLogins: this.authorLogins,
      tokens: this.tokens,
      buckets: this.buckets,
      tickets: this.tickets,
      sockets: this.sockets,
    };
  }

  // Inside: synchronous, so that every call is one atomic step

  protected async call<T>(label: string, step: () => T): Promise<T> {
    if (this.beforeCall !== null) await this.beforeCall(label);
    const value = step();
    if (this.afterCall !== null) await this.afterCall(label);
    return value;
  }

  protected refuseCorrupt(row: CorruptibleRow, id: string, operation: string): void {
    if (this.damaged.has(`${row} ${id}`)) throw new StoreError('unreadable', operation);
  }

  protected refuseFenced(held: HeldLease, operation: string): void {
    const lease = this.leases.get(held.repoId);
    const mine = lease?.running === true && lease.fence === held.fence;
    if (!mine || !this.repos.has(held.repoId)) throw new StoreError('fenced', operation);
  }

  protected runningGrant(repoId: RepoId): LeaseGrant | null {
    this.refuseCorrupt('lease', repoId, 'readLease');
    const lease = this.leases.get(repoId);
    if (!lease?.running || lease.expiresAt <= this.clock.now()) return null;
    return { fence: lease.fence, expiresAt: lease.expiresAt };
  }

  protected readRepo(repoId: RepoId, operation: string): ManagedRepo | null {
    this.refuseCorrupt('repo', repoId, operation);
    return this.repos.get(repoId) ?? null;
  }

  protected reposAt(instanceUrl: string, slug: string): readonly ManagedRepo[] {
    const ids = this.addresses.get(addressOf(instanceUrl, slug) ?? '') ?? [];
    return ids.flatMap((id) => this.readRepo(id, 'findRepo') ?? []);
  }

  protected putRepo(repo: ManagedRepo): void {
    this.repos.set(repo.id, repo);
    this.noteDue(repo.id, repo.dueAt);
  }

  protected noteDue(repoId: RepoId, dueAt: EpochMs | null): void {
    const history = this.dueHistory.get(repoId) ?? [];
    if (history.at(-1)?.dueAt === dueAt) return;
    history.push({ at: this.clock.now(), dueAt });
    // Longer lags than this many changes do not occur: the oldest entry then stands for "before".
    if (history.length > 64) history.shift();
    this.dueHistory.set(repoId, history);
  }
}

/** A copy of plain data, as a store would hand it out; a tenth of the time of `structuredClone`. */
export function copyData<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyData) as T;
  const copy: Record<string, unknown> = {};
  for (const key in value) copy[key] = copyData(value[key]);
  return copy as T;
}

/** Off, but due: its last look is still to be taken. */
export function isAwake(repo: ManagedRepo): boolean {
  return isWakeable(repo) || repo.dueAt !== null;
}

export function isWakeable(repo: ManagedRepo): boolean {
  return repo.queueEnabled && !repo.tombstone;
}

/** Each address is brought to its normal form once: a URL is parsed in microseconds, and asked for by the million. */
const addresses = new Map<string, string | null>();

export function addressOf(instanceUrl: string, slug: string): string | null {
  const given = `${instanceUrl} ${slug}`;
  const known = addresses.get(given);
  if (known !== undefined) return known;
  const address = toAddress(instanceUrl, slug);
  addresses.set(given, address);
  return address;
}

function toAddress(instanceUrl: string, slug: string): string | null {
  const url = normalizeInstanceUrl(instanceUrl);
  const normalSlug = normalizeSlug(slug);
  return url === null || normalSlug === null ? null : `${url} ${normalSlug}`;
}

export function identityOf(connection: Connection): string {
  const url = normalizeInstanceUrl(connection.instanceUrl);
  if (url === null) throw new RangeError('a connection needs an instance URL that has a normal form');
  return `${url} ${connection.botUsername.toLowerCase()}`;
}

export function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

export function newest<Row extends { readonly tenantId: TenantId }>(
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

export function newestOf<Row extends { readonly tenantId: TenantId; readonly repoId: RepoId }>(
  rows: ReadonlyMap<string, Row>,
  repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
  limit: number,
  isDamaged: (key: string) => boolean,
  scannedMax = Number.POSITIVE_INFINITY,
): readonly Row[] {
  const near = new Set(newest(rows, repo.tenantId, scannedMax));
  const own = [...rows].filter(([key, row]) => row.repoId === repo.id && near.has(row) && !isDamaged(key));
  return newest(new Map(own), repo.tenantId, limit);
}
