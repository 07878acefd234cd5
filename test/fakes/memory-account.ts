import {
  batchCursor,
  batchCursorAfter,
  batchSortKeyAt,
  eventCursor,
  eventSortKeyAt,
  keptNoteKey,
  keptNotesPartition,
  keptTarget,
} from '#core/adapters/dynamo/rows/keys.ts';
import { ADMIN_SCAN_ROWS_MAX, AUDIT_KEPT_MS, AUDIT_KEPT_ROWS_MAX } from '#core/domain/api-limits.ts';
import type { EpochMs, PullRequestNumber, RepoId, TenantId } from '#core/domain/ids.ts';
import { ENGINE_NEED_RENEWED_AFTER_MS } from '#core/domain/limits.ts';
import type { BatchHead, EventHead } from '#core/domain/queue/activity.ts';
import { type ActivityEvent, endsPullRequest, type NodeRow } from '#core/domain/queue/batch.ts';
import type { QueueView } from '#core/domain/queue/queue-view.ts';
import type { Connection, ManagedRepo, ReconcileOutcome } from '#core/domain/repos/repo.ts';
import { CLOCKS_DIFFER_MS_MAX } from '#core/domain/wakes/clocks.ts';
import {
  type AccountStore,
  type AdminStore,
  ANOTHER_TENANT,
  type AuditEntry,
  type BatchHistory,
  type BatchSearch,
  type ConnectionHead,
  type EventHistory,
  type EventSearch,
  type HealthStore,
  type HistoryPart,
  type KeptNote,
  type Organization,
  type RateAnswer,
  type RateStore,
  type RealtimeStore,
  type RecordError,
  SESSION_STARTED,
  type SignInSearch,
  type Tenant,
  type TerminalMark,
  type WaitingBatch,
} from '#core/ports/account-store.ts';
import type { LookMemory, LookStore } from '#core/ports/idle-look.ts';
import { MemoryBilling } from './memory-billing.ts';
import { isAwake, newest } from './memory-rows.ts';

/** The API's reads and writes beyond enrollment, over the memory rows. */
export class MemoryAccount
  extends MemoryBilling
  implements AccountStore, AdminStore, HealthStore, RateStore, RealtimeStore, LookStore
{
  /** Leaves a batch row as versions of before lineage wrote it. */
  addNamelessBatch(tenantId: TenantId, at: EpochMs, id: string): void {
    this.nameless.set(`B#${String(at).padStart(14, '0')}#${id}`, { tenantId, id });
  }

  loadTenant(id: TenantId): Promise<Tenant | null> {
    return this.call('loadTenant', () => {
      const row = this.tenants.get(id);
      return row === undefined ? null : { id, ...row };
    });
  }

  appendAudit(entry: AuditEntry): Promise<void> {
    return this.call('appendAudit', () => {
      const tenant = this.tenants.get(entry.tenantId);
      if (tenant === undefined || tenant.deleting) return;
      this.audit.set(`A#${String(entry.at).padStart(14, '0')}#${entry.id}`, { ...entry });
    });
  }

  appendSignIn(entry: AuditEntry): Promise<boolean> {
    return this.call('appendSignIn', () => {
      const tenant = this.tenants.get(entry.tenantId);
      if (tenant === undefined || tenant.deleting) return false;
      const key = `A#${String(entry.at).padStart(14, '0')}#${entry.id}`;
      if (!this.audit.has(key)) this.audit.set(key, { ...entry });
      return true;
    });
  }

  listAudit(tenantId: TenantId, limit: number): Promise<readonly AuditEntry[]> {
    return this.call('listAudit', () => newest(this.audit, tenantId, limit));
  }

  listSignIns(
    tenantId: TenantId,
    { person, since, limit, scannedMax }: SignInSearch,
  ): Promise<readonly AuditEntry[]> {
    return this.call('listSignIns', () =>
      newest(this.audit, tenantId, scannedMax)
        .filter(({ action, actor, at }) => action === SESSION_STARTED && actor === person && at >= since)
        .slice(0, limit),
    );
  }

  listOutcomes(tenantId: TenantId): Promise<ReadonlyMap<RepoId, ReconcileOutcome>> {
    return this.call('listOutcomes', () => {
      const found = new Map<RepoId, ReconcileOutcome>();
      for (const repo of this.repos.values()) {
        const outcome = this.outcomes.get(repo.id);
        if (repo.tenantId !== tenantId || outcome === undefined) continue;
        this.refuseCorrupt('outcome', repo.id, 'listOutcomes');
        found.set(repo.id, outcome);
      }
      return found;
    });
  }

  readBatchHistory(
    tenantId: TenantId,
    { limit, before, repoIds, scannedMax }: BatchSearch,
  ): Promise<BatchHistory> {
    return this.call('readBatchHistory', () => {
      const below = before === null ? null : batchSortKeyAt(before);
      const all = [...this.batches, ...this.nameless]
        .filter(([key, row]) => row.tenantId === tenantId && (below === null || key < below))
        .sort(([one], [other]) => (one < other ? 1 : -1));
      const near = repoIds === null ? all : all.slice(0, scannedMax);
      const found = near.filter(([key]) => {
        const owner = this.batches.get(key)?.repoId;
        return repoIds === null || (owner !== undefined && repoIds.includes(owner));
      });
      const rows = found.slice(0, limit);
      const batches: NodeRow[] = [];
      const errors: RecordError[] = [];
      for (const [key, { id }] of rows) {
        const stored = this.batches.get(key);
        if (stored === undefined) errors.push({ id, reason: 'missing_identity' });
        else batches.push(stored);
      }
      const end =
        repoIds?.length !== 0 && found.length <= limit && near.length < all.length
          ? near.at(-1)?.[0]
          : undefined;
      const last = found.length > limit || end !== undefined ? rows.at(-1)?.[0] : undefined;
      if (last !== undefined) return { batches, errors, next: batchCursor(last) };
      return { batches, errors, next: end === undefined ? null : batchCursorAfter(end) };
    });
  }

  readEventHistory(
    repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
    { wanted, limit, scannedMax, before }: EventSearch,
  ): Promise<EventHistory> {
    return this.call('readEventHistory', () => {
      const below = before === null ? null : eventSortKeyAt(before, repo.id);
      const older = [...this.events]
        .filter(([key, { tenantId }]) => tenantId === repo.tenantId && (below === null || key < below))
        .sort(([one], [other]) => (one < other ? 1 : -1));
      const near = older.slice(0, scannedMax);
      const found = near.filter(([, event]) => event.repoId === repo.id && wanted(event));
      const [end] = older.length >= scannedMax ? (near.at(-1) ?? []) : [];
      const last = found.length > limit ? found[limit - 1]?.[0] : end;
      return {
        events: found.slice(0, limit).map(([, event]) => event),
        next: last === undefined ? null : eventCursor(last, repo.id),
      };
    });
  }

  readEventsSince(tenantId: TenantId, since: EpochMs, rowsMax: number): Promise<readonly EventHead[] | null> {
    return this.call('readEventsSince', () => {
      const rows = [...this.events.values()].filter((row) => row.tenantId === tenantId && row.at >= since);
      return rows.length > rowsMax
        ? null
        : rows.map(({ at, event, repoId, pr, scheduledAt }) => ({
            at,
            event,
            repoId,
            pr,
            ...(scheduledAt === undefined ? {} : { scheduledAt }),
          }));
    });
  }

  readBatchesSince(
    tenantId: TenantId,
    since: EpochMs,
    rowsMax: number,
  ): Promise<readonly BatchHead[] | null> {
    return this.call('readBatchesSince', () => {
      const rows = [...this.batches.values()].filter(
        (row) => row.tenantId === tenantId && row.createdAt >= since,
      );
      return rows.length > rowsMax
        ? null
        : rows.map((row) => ({ at: row.createdAt, outcome: row.outcome, gateRuns: row.gateRuns ?? null }));
    });
  }

  readNodesSince(tenantId: TenantId, since: EpochMs, rowsMax: number): Promise<readonly NodeRow[] | null> {
    return this.call('readNodesSince', () => {
      const rows = [...this.batches.values()]
        .filter((row) => row.tenantId === tenantId && row.createdAt >= since)
        .sort((one, other) => one.createdAt - other.createdAt);
      return rows.length > rowsMax ? null : structuredClone(rows);
    });
  }

  readQueueViews(repoIds: readonly RepoId[]): Promise<ReadonlyMap<RepoId, QueueView>> {
    return this.call('readQueueViews', () => {
      const found = repoIds.flatMap((id) => {
        const view = this.told.get(id)?.view;
        return view === undefined ? [] : [[id, structuredClone(view)] as const];
      });
      return new Map(found);
    });
  }

  readTerminals(
    wanted: readonly { readonly repoId: RepoId; readonly pr: PullRequestNumber }[],
  ): Promise<readonly TerminalMark[]> {
    return this.call('readTerminals', () =>
      wanted
        .map(({ repoId, pr }) => this.terminals.get(`${repoId} ${pr}`))
        .filter((event): event is ActivityEvent => event !== undefined && endsPullRequest(event))
        .map((row) => ({
          repoId: row.repoId,
          pr: row.pr,
          event: row.event === 'pr_landed' ? ('landed' as const) : ('bounced' as const),
          at: row.at,
        })),
    );
  }

  markTenantDeleting(tenantId: TenantId): Promise<boolean> {
    return this.call('markTenantDeleting', () => {
      const tenant = this.tenants.get(tenantId);
      if (tenant !== undefined) tenant.deleting = true;
      return tenant !== undefined;
    });
  }

  keepAudit(tenantId: TenantId): Promise<void> {
    return this.call('keepAudit', () => {
      const now = this.clock.now();
      const expiresAt = now + AUDIT_KEPT_MS;
      const keep = (id: string, note: KeptNote): void => {
        const { pk, sk } = keptNoteKey(tenantId, note.at, id);
        this.keptNotes.set(`${pk} ${sk}`, { ...note, expiresAt });
      };
      for (const entry of newest(this.audit, tenantId, AUDIT_KEPT_ROWS_MAX)) {
        if (entry.at < now - AUDIT_KEPT_MS) continue;
        const { at, action, result } = entry;
        const actor = entry.actor === ANOTHER_TENANT ? ANOTHER_TENANT : 'tenant';
        keep(entry.id, { at, actor, action, result, target: keptTarget(tenantId, entry.target) });
      }
      const target = keptTarget(tenantId, tenantId);
      keep('erased', { at: now, actor: 'tenant', action: 'tenant.erased', target, result: 'ok' });
    });
  }

  listKeptAudit(tenantId: TenantId, about?: string): Promise<readonly KeptNote[]> {
    return this.call('listKeptAudit', () =>
      [...this.keptNotes]
        .filter(
          ([key, { expiresAt }]) =>
            key.startsWith(keptNotesPartition(tenantId)) && expiresAt > this.clock.now(),
        )
        .sort(([a], [b]) => (a < b ? 1 : -1))
        .map(([, { expiresAt: _, ...note }]) => note)
        .filter(({ target }) => about === undefined || target === keptTarget(tenantId, about)),
    );
  }

  private historyOf(tenantId: TenantId, part: HistoryPart) {
    const rows: Map<string, { readonly tenantId: TenantId }> = {
      batches: this.batches,
      events: this.events,
      audit: this.audit,
      mailboxes: this.mailboxes,
      authors: this.authors,
      tokens: this.tokens,
    }[part];
    return { rows, keys: [...rows].filter(([, row]) => row.tenantId === tenantId).map(([key]) => key) };
  }

  countHistory(tenantId: TenantId, part: HistoryPart): Promise<number> {
    return this.call('countHistory', () => this.historyOf(tenantId, part).keys.length);
  }

  deleteHistory(tenantId: TenantId, part: HistoryPart): Promise<number> {
    return this.call('deleteHistory', () => {
      const { rows, keys } = this.historyOf(tenantId, part);
      for (const key of keys) rows.delete(key);
      for (const [login, holder] of this.authorLogins)
        if (part === 'authors' && holder === tenantId) this.authorLogins.delete(login);
      return keys.length;
    });
  }

  loadOrganization(tenantId: TenantId): Promise<Organization | null> {
    return this.call('loadOrganization', () => this.organizations.get(tenantId) ?? null);
  }

  deleteOrganization(tenantId: TenantId): Promise<boolean> {
    return this.call('deleteOrganization', () => this.organizations.delete(tenantId));
  }

  deleteTenant(tenantId: TenantId): Promise<void> {
    return this.call('deleteTenant', () => {
      this.tenants.delete(tenantId);
    });
  }

  // AdminStore

  searchRepos(text: string, offset: number, limit: number): ReturnType<AdminStore['searchRepos']> {
    return this.call('searchRepos', () => {
      const found = [...this.repos.values()]
        .filter((repo) => !repo.tombstone && repo.slug.toLowerCase().includes(text.toLowerCase()))
        .sort((a, b) => (`${a.slug.toLowerCase()}#${a.id}` < `${b.slug.toLowerCase()}#${b.id}` ? -1 : 1));
      const truncated = found.length > ADMIN_SCAN_ROWS_MAX;
      return { repos: found.slice(offset, offset + limit), total: found.length, truncated };
    });
  }

  private standing(): Connection[] {
    return [...this.connections.values()].filter(({ deleting }) => !deleting);
  }

  listAllConnections(limit: number): Promise<readonly ConnectionHead[]> {
    return this.call('listAllConnections', () =>
      this.standing()
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map(({ id, tenantId, instanceUrl, botUsername, createdAt, updatedAt }) => ({
          id,
          tenantId,
          instanceUrl,
          botUsername,
          createdAt,
          updatedAt,
        })),
    );
  }

  countCredentials(): ReturnType<AdminStore['countCredentials']> {
    return this.call('countCredentials', () => {
      const formats = new Map<string, number>();
      const keyVersions = new Map<number, number>();
      for (const { credential } of this.standing()) {
        formats.set(credential.format, (formats.get(credential.format) ?? 0) + 1);
        keyVersions.set(credential.keyVersion, (keyVersions.get(credential.keyVersion) ?? 0) + 1);
      }
      return { formats, keyVersions, connections: this.standing().length, truncated: false };
    });
  }

  countTenants(): Promise<number> {
    return this.call('countTenants', () => this.tenants.size);
  }

  // HealthStore

  loadLastTick(): Promise<EpochMs | null> {
    return this.call('loadLastTick', () => this.tickedAt);
  }

  loadLook(repoId: RepoId): Promise<LookMemory | null> {
    return this.call('loadLook', () => structuredClone(this.looks.get(repoId) ?? null));
  }

  saveLook(repoId: RepoId, memory: LookMemory): Promise<void> {
    return this.call('saveLook', () => {
      this.looks.set(repoId, structuredClone(memory));
    });
  }

  loadEngineNeededAt(): Promise<EpochMs | null> {
    return this.call('loadEngineNeededAt', () => this.engineNeededAt);
  }

  noteEngineNeeded(at: EpochMs): Promise<void> {
    return this.call('noteEngineNeeded', () => {
      const before = this.engineNeededAt;
      const isStale = before === null || before <= at - ENGINE_NEED_RENEWED_AFTER_MS;
      if (isStale || before > at + CLOCKS_DIFFER_MS_MAX) this.engineNeededAt = at;
    });
  }

  listOverdueTenants(dueBefore: EpochMs, limit: number): Promise<ReadonlySet<TenantId>> {
    return this.call('listOverdueTenants', () => {
      const overdue = [...this.repos.values()].filter(
        (repo) => isAwake(repo) && repo.dueAt !== null && repo.dueAt < dueBefore,
      );
      return new Set(overdue.slice(0, limit).map(({ tenantId }) => tenantId));
    });
  }

  listWaitingBatches(limit: number): Promise<readonly WaitingBatch[]> {
    return this.call('listWaitingBatches', () =>
      [...this.batches.values()]
        .flatMap(({ tenantId, phase, createdAt, phaseSince = null }) =>
          phase === null ? [] : [{ tenantId, phase, createdAt, phaseSince }],
        )
        .sort((a, b) => a.createdAt - b.createdAt)
        .slice(0, limit),
    );
  }

  countBatchesSince(since: EpochMs): Promise<{ readonly total: number; readonly superseded: number }> {
    return this.call('countBatchesSince', () => {
      const rows = [...this.batches.values()].filter((row) => row.createdAt >= since);
      return {
        total: rows.length,
        superseded: rows.filter((row) => row.outcome === 'superseded').length,
      };
    });
  }

  // RateStore

  takeToken(bucket: string, intervalMs: number, burst: number): Promise<RateAnswer> {
    return this.call('takeToken', () => {
      const now = this.clock.now();
      const stored = this.buckets.get(bucket) ?? 0;
      const isOfFastClock = stored > now + burst * intervalMs + CLOCKS_DIFFER_MS_MAX;
      const fullAt = isOfFastClock ? now : Math.max(stored, now);
      const latest = now + (burst - 1) * intervalMs;
      if (fullAt > latest) return { allowed: false, retryAfterMs: fullAt - latest };
      this.buckets.set(bucket, fullAt + intervalMs);
      return { allowed: true };
    });
  }

  // RealtimeStore

  saveTicket(ticketHash: string, tenantId: TenantId, expiresAt: EpochMs): Promise<void> {
    return this.call('saveTicket', () => {
      this.tickets.set(ticketHash, { tenantId, expiresAt });
    });
  }

  redeemTicket(ticketHash: string): Promise<TenantId | null> {
    return this.call('redeemTicket', () => {
      const ticket = this.tickets.get(ticketHash);
      if (ticket === undefined || ticket.expiresAt <= this.clock.now()) return null;
      this.tickets.delete(ticketHash);
      return ticket.tenantId;
    });
  }

  addSocket(tenantId: TenantId, socketId: string, expiresAt: EpochMs): Promise<boolean> {
    return this.call('addSocket', () => {
      if (this.tenants.get(tenantId)?.deleting === true) return false;
      this.sockets.set(socketId, { tenantId, expiresAt });
      return true;
    });
  }

  removeSocket(socketId: string): Promise<void> {
    return this.call('removeSocket', () => {
      this.sockets.delete(socketId);
    });
  }

  removeSocketOf(_tenantId: TenantId, socketId: string, expiresBefore?: EpochMs): Promise<void> {
    return this.call('removeSocketOf', () => {
      const socket = this.sockets.get(socketId);
      if (socket === undefined || socket.expiresAt >= (expiresBefore ?? Number.POSITIVE_INFINITY)) return;
      this.sockets.delete(socketId);
    });
  }

  listSockets(tenantId: TenantId): Promise<readonly string[]> {
    return this.call('listSockets', () =>
      [...this.sockets]
        .filter(([, socket]) => socket.tenantId === tenantId && socket.expiresAt > this.clock.now())
        .map(([id]) => id)
        .sort(),
    );
  }
}
