import { batchSortKey, eventSortKey, storedPlace } from '#core/adapters/dynamo/rows/keys.ts';
import { encodeDocument } from '#core/adapters/dynamo/rows/queue-document.ts';
import type { ConnectionId, EpochMs, RepoId, TenantId } from '#core/domain/ids.ts';
import { DELIVERY_ID_KEPT_MS, LEASE_TAKEOVER_GRACE_MS, QUEUE_WRITE_ROWS_MAX } from '#core/domain/limits.ts';
import { endsPullRequest, hasHonestPhase, type NodeRow, type OwnEvent } from '#core/domain/queue/batch.ts';
import type { LeftHeads, Obligations } from '#core/domain/queue/obligations.ts';
import type { Connection, ManagedRepo, ReconcileOutcome } from '#core/domain/repos/repo.ts';
import { withLastGood } from '#core/domain/repos/repo.ts';
import { holdsOf, type StoredHolds } from '#core/domain/repos/stored-holds.ts';
import { CLOCKS_DIFFER_MS_MAX } from '#core/domain/wakes/clocks.ts';
import type { OngoingReconcile } from '#core/domain/wakes/fairness.ts';
import { type HeardKind, isHeardNoteDue } from '#core/domain/wakes/heard-events.ts';
import type { HeldLease, LeaseGrant, LeaseState } from '#core/domain/wakes/lease.ts';
import type {
  BranchAddress,
  DispatchStore,
  EngineReport,
  EngineStore,
  ForgeAddress,
  LeaseStore,
  QueueWrite,
  ReconcileStore,
  RepoAddress,
  StoredQueueRecord,
  WindDown,
} from '#core/ports/store.ts';
import { StoreError } from '#core/ports/store.ts';
import type { MemoryStoreOptions } from './memory-rows.ts';
import { addressOf, copyData, isAwake, isWakeable, newestOf } from './memory-rows.ts';
import { MemoryTokens } from './memory-tokens.ts';

/** All store ports over maps, with the semantics of the DynamoDB adapter; one contract suite runs against both. */
export class MemoryStore
  extends MemoryTokens
  implements EngineStore, LeaseStore, ReconcileStore, DispatchStore
{
  // EngineStore

  findRepo(address: RepoAddress): Promise<ManagedRepo | null> {
    return this.call('findRepo', () => {
      const buried = this.windDownsAt(address).map(({ id }) => this.readRepo(id, 'findRepo'));
      const candidates = [...buried, ...this.reposAt(address.instanceUrl, address.slug)];
      const isMeant = (repo: ManagedRepo | null) =>
        repo?.tenantId === address.tenantId && repo.baseBranch === address.baseBranch;
      return candidates.find(isMeant) ?? null;
    });
  }

  private windDownsAt(address: ForgeAddress): readonly WindDown[] {
    return this.windDowns.get(addressOf(address.instanceUrl, address.slug) ?? '') ?? [];
  }

  readObligations(repoId: RepoId): Promise<Obligations | null> {
    return this.call('readObligations', () => copyData(this.told.get(repoId)?.obligations ?? null));
  }

  listWindDowns(address: ForgeAddress): Promise<readonly WindDown[]> {
    return this.call('listWindDowns', () => this.windDownsAt(address));
  }

  listLeftHeads(address: BranchAddress): Promise<readonly LeftHeads[]> {
    return this.call('listLeftHeads', () =>
      (this.leftHeads.get(addressOf(address.instanceUrl, address.slug) ?? '') ?? [])
        .filter(({ expiresAt }) => expiresAt > this.clock.now())
        .filter(({ baseBranch }) => baseBranch === address.baseBranch)
        .map(({ left }) => left),
    );
  }

  readHolds({ id }: Pick<ManagedRepo, 'id'>): Promise<StoredHolds | null> {
    return this.call('readHolds', () => {
      const repo = this.readRepo(id, 'readHolds');
      return repo === null ? null : holdsOf(repo, this.clock.now());
    });
  }

  loadQueueRecord(repoId: RepoId): Promise<StoredQueueRecord | null> {
    return this.call('loadQueueRecord', () => {
      this.refuseCorrupt('queue', repoId, 'loadQueueRecord');
      const record = this.records.get(repoId);
      if (record === undefined) return null;
      return { version: record.version, document: JSON.parse(record.json) };
    });
  }

  saveQueue(held: HeldLease, repo: ManagedRepo, write: QueueWrite): Promise<number> {
    return this.call('saveQueue', () => {
      const terminals = write.events.filter(endsPullRequest);
      const terminalPrs = new Set(terminals.map((event) => event.pr)).size;
      const toldRows = write.told === undefined ? 0 : 1;
      if (write.batches.length + write.events.length + terminalPrs + toldRows > QUEUE_WRITE_ROWS_MAX)
        throw new StoreError('too_large', 'saveQueue');
      for (const row of write.batches) {
        if (!hasHonestPhase(row)) throw new RangeError(`batch ${row.id} is neither running nor resolved`);
      }
      const { json } = encodeDocument(write.document, 'saveQueue');
      // Of what is written, not of its gzip: that a record with less in it takes more room is an accident of no service.
      if (Buffer.byteLength(json) > this.documentBytesMax) throw new StoreError('too_large', 'saveQueue');
      this.refuseFenced(held, 'saveQueue');
      const current = this.records.get(repo.id);
      if ((current?.version ?? null) !== write.expectedVersion)
        throw new StoreError('lost_race', 'saveQueue');
      const version = (write.expectedVersion ?? 0) + 1;
      this.records.set(repo.id, { version, json });
      this.damaged.delete(`queue ${repo.id}`);
      if (write.told !== undefined) this.told.set(repo.id, copyData(write.told));
      for (const row of write.batches) this.batches.set(batchSortKey(row), copyData(row));
      write.events.forEach((event, index) => {
        this.events.set(eventSortKey(event, version, index), copyData(event));
      });
      for (const event of terminals) this.terminals.set(`${repo.id} ${event.pr}`, copyData(event));
      return version;
    });
  }

  listOwnBatches(
    repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
    limit: number,
    scannedMax?: number,
  ): Promise<readonly NodeRow[]> {
    return this.call('listOwnBatches', () =>
      newestOf(this.batches, repo, limit, (key) => this.damaged.has(`batch ${key}`), scannedMax),
    );
  }

  listOwnEvents(
    repo: Pick<ManagedRepo, 'id' | 'tenantId'>,
    limit: number,
    scannedMax?: number,
  ): Promise<readonly OwnEvent[]> {
    return this.call('listOwnEvents', () => {
      const keys = new Map([...this.events].map(([key, event]) => [event, key]));
      const own = newestOf(this.events, repo, limit, () => false, scannedMax);
      return own.map((event) => ({ ...event, stored: storedPlace(keys.get(event) ?? '') }));
    });
  }

  quarantineQueueRecord(held: HeldLease): Promise<void> {
    return this.call('quarantineQueueRecord', () => {
      this.refuseFenced(held, 'quarantineQueueRecord');
      const record = this.records.get(held.repoId);
      if (record === undefined) return;
      this.setAside.push({ repoId: held.repoId, json: record.json });
      this.records.delete(held.repoId);
      this.damaged.delete(`queue ${held.repoId}`);
    });
  }

  saveReport(held: HeldLease, report: EngineReport): Promise<void> {
    return this.call('saveReport', () => {
      this.refuseFenced(held, 'saveReport');
      this.reports.set(held.repoId, copyData(report));
      this.damaged.delete(`report ${held.repoId}`);
    });
  }

  // LeaseStore

  acquireLease(repoId: RepoId, owner: string, _purpose: string, ttlMs: number): Promise<LeaseGrant | 'held'> {
    return this.call('acquireLease', () => {
      this.refuseCorrupt('lease', repoId, 'acquireLease');
      const now = this.clock.now();
      const lease = this.leases.get(repoId);
      if (lease?.running && lease.expiresAt + LEASE_TAKEOVER_GRACE_MS > now) return 'held';
      const grant = { fence: (lease?.fence ?? 0) + 1, expiresAt: now + ttlMs };
      this.leases.set(repoId, { ...grant, running: true, owner });
      return grant;
    });
  }

  releaseLease(repoId: RepoId, grant: LeaseGrant): Promise<void> {
    return this.call('releaseLease', () => {
      const lease = this.leases.get(repoId);
      if (lease === undefined || lease.fence !== grant.fence) return;
      lease.running = false;
      lease.expiresAt = 0;
    });
  }

  shortenLease(repoId: RepoId, grant: LeaseGrant, expiresAt: EpochMs): Promise<void> {
    return this.call('shortenLease', () => {
      const lease = this.leases.get(repoId);
      if (lease === undefined || lease.fence !== grant.fence || !lease.running) return;
      lease.expiresAt = Math.min(lease.expiresAt, expiresAt);
    });
  }

  readLease(repoId: RepoId): Promise<LeaseGrant | null> {
    return this.call('readLease', () => this.runningGrant(repoId));
  }

  async readLeaseState(repoId: RepoId): Promise<LeaseState> {
    try {
      return await this.call('readLeaseState', () => (this.runningGrant(repoId) === null ? 'idle' : 'held'));
    } catch {
      return 'unknown';
    }
  }

  // ReconcileStore

  beginReconcile(
    run: OngoingReconcile,
    ttlMs: number,
    isAllowed: (others: readonly OngoingReconcile[]) => boolean,
    section = 0,
  ): Promise<boolean> {
    return this.call('beginReconcile', () => {
      const now = this.clock.now();
      for (const [id, { until }] of this.runs) if (until <= now) this.runs.delete(id);
      const others = [...this.runs.values()].filter(
        (each) => each.section === section && each.run.id !== run.id,
      );
      if (!isAllowed(others.map((each) => each.run))) return false;
      this.runs.set(run.id, { run, section, until: now + ttlMs });
      return true;
    });
  }

  endReconcile(id: string): Promise<void> {
    return this.call('endReconcile', () => {
      this.runs.delete(id);
    });
  }

  forgetReconciles(section = 0): Promise<void> {
    return this.call('forgetReconciles', () => {
      for (const [id, each] of this.runs) if (each.section === section) this.runs.delete(id);
    });
  }

  // DispatchStore

  getRepo(repoId: RepoId): Promise<ManagedRepo | null> {
    return this.call('getRepo', () => this.readRepo(repoId, 'getRepo'));
  }

  getConnection(tenantId: TenantId, id: ConnectionId): Promise<Connection | null> {
    return this.call('getConnection', () => {
      this.refuseCorrupt('connection', id, 'getConnection');
      const connection = this.connections.get(id);
      return connection?.tenantId === tenantId ? connection : null;
    });
  }

  listDueRepos(now: EpochMs, limit: number): Promise<readonly RepoId[]> {
    return this.call('listDueRepos', () => {
      const visibleUntil = this.clock.now() - this.indexLagMs;
      const due: { id: RepoId; dueAt: EpochMs }[] = [];
      for (const [id, history] of this.dueHistory) {
        const dueAt = history.findLast((change) => change.at <= visibleUntil)?.dueAt ?? null;
        if (dueAt !== null && dueAt <= now) due.push({ id, dueAt });
      }
      due.sort((a, b) => a.dueAt - b.dueAt || (a.id < b.id ? -1 : 1));
      return due.slice(0, limit).map((entry) => entry.id);
    });
  }

  markDue(repoId: RepoId, dueAt: EpochMs): Promise<number | null> {
    return this.call('markDue', () => {
      const repo = this.repos.get(repoId);
      if (repo === undefined || !isAwake(repo)) return null;
      const wakeSeq = repo.wakeSeq + 1;
      this.putRepo({ ...repo, wakeSeq, dueAt: Math.min(repo.dueAt ?? dueAt, dueAt) });
      return wakeSeq;
    });
  }

  askStop(repoId: RepoId, until: EpochMs): Promise<number | null> {
    return this.call('askStop', () => {
      const repo = this.repos.get(repoId);
      if (repo === undefined || !isAwake(repo)) return null;
      const wakeSeq = repo.wakeSeq + 1;
      this.putRepo({ ...repo, wakeSeq, dueAt: this.clock.now(), stopUntil: until });
      return wakeSeq;
    });
  }

  noteHeard(repoId: RepoId, kind: HeardKind, at: EpochMs): Promise<void> {
    return this.call('noteHeard', () => {
      const repo = this.repos.get(repoId);
      if (repo === undefined || !isHeardNoteDue(repo.heard?.[kind], at)) return;
      this.putRepo({ ...repo, heard: { ...repo.heard, [kind]: at } });
    });
  }

  settleDue(repoId: RepoId, wakeSeqSeen: number, nextDueAt: EpochMs): Promise<boolean> {
    return this.call('settleDue', () => {
      const repo = this.repos.get(repoId);
      if (repo === undefined || !isAwake(repo)) return true;
      if (repo.wakeSeq !== wakeSeqSeen) return false;
      this.putRepo({ ...repo, dueAt: nextDueAt });
      return true;
    });
  }

  settleOff(repo: Pick<ManagedRepo, 'id' | 'tenantId'>, wakeSeqSeen: number): Promise<boolean> {
    return this.call('settleOff', () => {
      const stored = this.repos.get(repo.id);
      if (stored === undefined || stored.tenantId !== repo.tenantId || isWakeable(stored)) return false;
      if (!isAwake(stored) || stored.wakeSeq !== wakeSeqSeen) return false;
      this.putRepo({ ...stored, dueAt: null });
      return true;
    });
  }

  loadReport(repoId: RepoId): Promise<EngineReport | null> {
    return this.call('loadReport', () => {
      this.refuseCorrupt('report', repoId, 'loadReport');
      return this.reports.get(repoId) ?? null;
    });
  }

  saveReconcileOutcome(repo: ManagedRepo, outcome: ReconcileOutcome): Promise<void> {
    return this.call('saveReconcileOutcome', () => {
      if (!this.repos.has(repo.id)) return;
      const stored = this.outcomes.get(repo.id);
      const aheadMs = (stored?.ranAt ?? outcome.ranAt) - outcome.ranAt;
      if (aheadMs > 0 && aheadMs <= CLOCKS_DIFFER_MS_MAX) return;
      const { rule, forge, lastGoodAt, sight, settingsSeen } = stored ?? {};
      this.outcomes.set(repo.id, {
        ...(rule === undefined ? {} : { rule }),
        ...(forge === undefined ? {} : { forge }),
        ...(lastGoodAt === undefined ? {} : { lastGoodAt }),
        ...(sight === undefined ? {} : { sight }),
        ...(settingsSeen === undefined ? {} : { settingsSeen }),
        ...withLastGood(outcome),
      });
      this.damaged.delete(`outcome ${repo.id}`);
    });
  }

  loadReconcileOutcome(repo: Pick<ManagedRepo, 'id' | 'tenantId'>): Promise<ReconcileOutcome | null> {
    return this.call('loadReconcileOutcome', () => {
      this.refuseCorrupt('outcome', repo.id, 'loadReconcileOutcome');
      return this.outcomes.get(repo.id) ?? null;
    });
  }

  recordTick(at: EpochMs): Promise<void> {
    return this.call('recordTick', () => {
      const last = this.tickedAt ?? at;
      this.tickedAt = last > at + CLOCKS_DIFFER_MS_MAX ? at : Math.max(last, at);
    });
  }

  findRepoForHook(
    key: { readonly hookId: string } | { readonly instanceUrl: string; readonly slug: string },
  ): Promise<ManagedRepo | null> {
    return this.call('findRepoForHook', () => {
      if (!('hookId' in key)) {
        const repos = this.reposAt(key.instanceUrl, key.slug);
        return repos.find(({ webhookSecret }) => webhookSecret !== null) ?? repos[0] ?? null;
      }
      for (const repo of this.repos.values()) if (repo.hookId === key.hookId) return repo;
      return null;
    });
  }

  listReposAt(address: ForgeAddress): Promise<readonly ManagedRepo[]> {
    return this.call('listReposAt', () => this.reposAt(address.instanceUrl, address.slug));
  }

  claimDelivery(repoId: RepoId, deliveryId: string): Promise<boolean> {
    return this.call('claimDelivery', () => {
      const key = JSON.stringify([repoId, deliveryId]);
      const now = this.clock.now();
      if ((this.deliveries.get(key) ?? 0) > now) return false;
      this.deliveries.set(key, now + DELIVERY_ID_KEPT_MS);
      return true;
    });
  }

  isDeliveryClaimed(repoId: RepoId, deliveryId: string): Promise<boolean> {
    return this.call('isDeliveryClaimed', () => {
      const key = JSON.stringify([repoId, deliveryId]);
      return (this.deliveries.get(key) ?? 0) > this.clock.now();
    });
  }
}

export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  return new MemoryStore(options);
}
