import type { ConnectionId, EpochMs, TenantId } from '#core/domain/ids.ts';
import { LEFT_HEADS_KEPT_MS } from '#core/domain/limits.ts';
import { type ActivityEvent, closeRow, type NodeRow, OPEN_OUTCOMES } from '#core/domain/queue/batch.ts';
import type { LeftHeads } from '#core/domain/queue/obligations.ts';
import { findBranchConflict } from '#core/domain/repos/managed-branch.ts';
import type { Connection, ManagedRepo } from '#core/domain/repos/repo.ts';
import { normalizeInstanceUrl } from '#core/domain/url.ts';
import type { EnrollmentStore } from '#core/ports/store.ts';
import { StoreError } from '#core/ports/store.ts';
import { addressOf, byId, identityOf, isWakeable, MemoryRows, newest } from './memory-rows.ts';

/** Enrollment over the memory rows. */
export class MemoryEnrollment extends MemoryRows implements EnrollmentStore {
  createTenant(tenantId: TenantId, at: EpochMs): Promise<void> {
    return this.call('createTenant', () => {
      if (this.tenants.has(tenantId)) return;
      this.tenants.set(tenantId, { createdAt: at, connections: 0, repos: 0, deleting: false });
      const organization = { id: tenantId, ownerTenantId: tenantId, name: 'Personal', createdAt: at };
      this.organizations.set(tenantId, organization);
    });
  }

  createConnection(
    connection: Connection,
    connectionsMax: number | null = null,
  ): Promise<'created' | 'limit_reached' | { readonly takenBy: TenantId; readonly id: ConnectionId }> {
    return this.call('createConnection', () => {
      const identity = identityOf(connection);
      const takenId = this.identities.get(identity);
      const taken = takenId === undefined ? undefined : this.connections.get(takenId);
      if (taken !== undefined) return { takenBy: taken.tenantId, id: taken.id };
      const tenant = this.tenants.get(connection.tenantId);
      if (tenant === undefined || tenant.deleting || this.connections.has(connection.id)) {
        throw new StoreError('lost_race', 'createConnection');
      }
      if (connectionsMax !== null && tenant.connections >= connectionsMax) return 'limit_reached' as const;
      this.identities.set(identity, connection.id);
      this.connections.set(connection.id, { ...connection });
      tenant.connections += 1;
      return 'created' as const;
    });
  }

  findConnection(instanceUrl: string, botUsername: string): Promise<Connection | null> {
    return this.call('findConnection', () => {
      const id = this.identities.get(`${normalizeInstanceUrl(instanceUrl)} ${botUsername.toLowerCase()}`);
      return this.connections.get(id ?? '') ?? null;
    });
  }

  listConnections(tenantId: TenantId): Promise<readonly Connection[]> {
    return this.call('listConnections', () =>
      [...this.connections.values()].filter((connection) => connection.tenantId === tenantId).sort(byId),
    );
  }

  updateConnection(
    previous: Connection,
    next: Connection,
  ): Promise<'updated' | { readonly takenBy: TenantId; readonly id: ConnectionId }> {
    return this.call('updateConnection', () => {
      if (
        previous.id !== next.id ||
        previous.tenantId !== next.tenantId ||
        normalizeInstanceUrl(previous.instanceUrl) !== normalizeInstanceUrl(next.instanceUrl)
      ) {
        throw new RangeError('the id, tenant and instance of a connection cannot change');
      }
      const stored = this.connections.get(previous.id);
      if (
        stored?.tenantId !== previous.tenantId ||
        stored.deleting ||
        stored.updatedAt !== previous.updatedAt ||
        stored.credential.encryptedToken !== previous.credential.encryptedToken ||
        stored.credential.encryptedDek !== previous.credential.encryptedDek
      ) {
        throw new StoreError('lost_race', 'updateConnection');
      }
      const taken = this.connections.get(this.identities.get(identityOf(next)) ?? '');
      if (taken !== undefined && taken.id !== next.id) return { takenBy: taken.tenantId, id: taken.id };
      this.identities.delete(identityOf(stored));
      this.identities.set(identityOf(next), next.id);
      this.connections.set(next.id, { ...next });
      this.damaged.delete(`connection ${next.id}`);
      return 'updated' as const;
    });
  }

  markConnectionDeleting(tenantId: TenantId, id: ConnectionId): Promise<boolean> {
    return this.call('markConnectionDeleting', () => {
      const connection = this.connections.get(id);
      if (connection?.tenantId !== tenantId) return false;
      if (connection.deleting) return true;
      this.connections.set(id, { ...connection, deleting: true });
      this.identities.delete(identityOf(connection));
      const tenant = this.tenants.get(tenantId);
      if (tenant !== undefined) tenant.connections -= 1;
      return true;
    });
  }

  deleteConnection(tenantId: TenantId, id: ConnectionId): Promise<void> {
    return this.call('deleteConnection', () => {
      const connection = this.connections.get(id);
      if (connection?.tenantId !== tenantId) return;
      if (!connection.deleting) throw new StoreError('lost_race', 'deleteConnection');
      this.connections.delete(id);
    });
  }

  createRepo(repo: ManagedRepo, reposMax: number | null): ReturnType<EnrollmentStore['createRepo']> {
    return this.call('createRepo', () => {
      const address = addressOf(repo.instanceUrl, repo.slug);
      if (address === null) throw new RangeError('a repo needs an address that has a normal form');
      const managed = this.reposAt(repo.instanceUrl, repo.slug);
      const first = managed[0];
      if (first !== undefined && first.tenantId !== repo.tenantId)
        return { managedBy: first.tenantId, id: first.id };
      const conflict = findBranchConflict(managed, repo);
      if (conflict?.kind === 'branch') return { managedBy: repo.tenantId, id: conflict.id };
      if (conflict?.kind === 'context') return { contextOf: conflict.id };
      const connection = this.connections.get(repo.connectionId);
      if (connection === undefined || connection.tenantId !== repo.tenantId || connection.deleting) {
        return 'connection_gone' as const;
      }
      const tenant = this.tenants.get(repo.tenantId);
      if (tenant === undefined || tenant.deleting || this.repos.has(repo.id)) {
        throw new StoreError('lost_race', 'createRepo');
      }
      if (reposMax !== null && tenant.repos >= reposMax) return 'limit_reached' as const;
      tenant.repos += 1;
      this.addresses.set(address, [...(this.addresses.get(address) ?? []), repo.id]);
      this.putRepo({ ...repo, dueAt: isWakeable(repo) ? (repo.dueAt ?? this.clock.now()) : null });
      return 'created' as const;
    });
  }

  updateRepo(repo: ManagedRepo, options?: { readonly lastLook: boolean }): Promise<ManagedRepo> {
    return this.call('updateRepo', () => {
      const stored = this.readRepo(repo.id, 'updateRepo');
      if (stored === null || stored.version !== repo.version) throw new StoreError('lost_race', 'updateRepo');
      if (
        stored.tenantId !== repo.tenantId ||
        stored.connectionId !== repo.connectionId ||
        stored.baseBranch !== repo.baseBranch ||
        addressOf(stored.instanceUrl, stored.slug) !== addressOf(repo.instanceUrl, repo.slug)
      ) {
        throw new RangeError('the address, branch, tenant and connection of a repo cannot change');
      }
      if (findBranchConflict(this.reposAt(repo.instanceUrl, repo.slug), repo) !== null)
        throw new StoreError('lost_race', 'updateRepo');
      const now = this.clock.now();
      const off = options?.lastLook === true ? now : isWakeable(stored) ? null : stored.dueAt;
      const dueAt = isWakeable(repo) ? (stored.dueAt ?? repo.dueAt ?? now) : off;
      const { stopUntil: _asked, heard: _heard, ...settings } = repo;
      const isSwitched = isWakeable(stored) !== isWakeable(repo) || options?.lastLook === true;
      const next = {
        ...settings,
        version: repo.version + 1,
        wakeSeq: stored.wakeSeq,
        dueAt,
        ...(isSwitched || stored.stopUntil === undefined ? {} : { stopUntil: stored.stopUntil }),
        ...(stored.heard === undefined ? {} : { heard: stored.heard }),
      };
      this.putRepo(next);
      return next;
    });
  }

  buryRepo(repo: ManagedRepo): Promise<void> {
    return this.call('buryRepo', () => {
      const stored = this.readRepo(repo.id, 'buryRepo');
      const address = addressOf(repo.instanceUrl, repo.slug) ?? '';
      if (stored?.version !== repo.version || !this.addresses.get(address)?.includes(repo.id)) {
        throw new StoreError('lost_race', 'buryRepo');
      }
      const now = this.clock.now();
      this.putRepo({
        ...stored,
        tombstone: true,
        queueEnabled: false,
        hookId: null,
        webhookSecret: null,
        updatedAt: now,
        version: repo.version + 1,
        dueAt: now,
      });
      this.giveBack(stored);
      const waiting = this.windDowns.get(address) ?? [];
      const { tenantId, id, baseBranch, statusContext } = repo;
      this.windDowns.set(address, [...waiting, { tenantId, id, baseBranch, statusContext, at: now }]);
    });
  }

  /** Branch, hook and place, unless it gave them back before. */
  private giveBack(repo: ManagedRepo): void {
    const address = addressOf(repo.instanceUrl, repo.slug) ?? '';
    const ids = this.addresses.get(address) ?? [];
    if (!ids.includes(repo.id)) return;
    const left = ids.filter((id) => id !== repo.id);
    if (left.length === 0) this.addresses.delete(address);
    else this.addresses.set(address, left);
    this.handHookOver(repo);
    const tenant = this.tenants.get(repo.tenantId);
    if (tenant !== undefined) tenant.repos -= 1;
  }

  private handHookOver({ id, hookId, webhookSecret, webhookSecretOf, instanceUrl, slug }: ManagedRepo): void {
    const others = this.reposAt(instanceUrl, slug);
    const heir = others.find(({ wakeupMode }) => wakeupMode === 'webhook') ?? others[0];
    if (hookId === null || heir === undefined || others.some((other) => other.hookId !== null)) return;
    const handed = { hookId, webhookSecret, webhookSecretOf: webhookSecretOf ?? id };
    this.putRepo({ ...heir, ...handed, version: heir.version + 1 });
  }

  deleteRepo(repo: ManagedRepo, left?: LeftHeads): Promise<void> {
    return this.call('deleteRepo', () => {
      const stored = this.repos.get(repo.id);
      if (stored === undefined || stored.tenantId !== repo.tenantId) return;
      const lease = this.leases.get(repo.id);
      this.leases.set(repo.id, {
        fence: (lease?.fence ?? 0) + 1,
        running: false,
        owner: '',
        expiresAt: 0,
      });
      this.repos.delete(repo.id);
      this.giveBack(stored);
      const address = addressOf(stored.instanceUrl, stored.slug) ?? '';
      const waiting = (this.windDowns.get(address) ?? []).filter(({ id }) => id !== repo.id);
      if (waiting.length > 0) this.windDowns.set(address, waiting);
      else this.windDowns.delete(address);
      const now = this.clock.now();
      if (left !== undefined) {
        const entry = { expiresAt: now + LEFT_HEADS_KEPT_MS, left, baseBranch: repo.baseBranch };
        this.leftHeads.set(address, [...(this.leftHeads.get(address) ?? []), entry]);
      }
      for (const [key, row] of this.batches) {
        if (row.repoId !== repo.id || !OPEN_OUTCOMES.includes(row.outcome)) continue;
        this.batches.set(key, closeRow(row, now, 'repo_deleted'));
      }
      this.records.delete(repo.id);
      this.told.delete(repo.id);
      this.reports.delete(repo.id);
      this.looks.delete(repo.id);
      this.outcomes.delete(repo.id);
      for (const key of this.terminals.keys()) {
        if (key.startsWith(`${repo.id} `)) this.terminals.delete(key);
      }
      this.noteDue(repo.id, null);
    });
  }

  listRunningBatches(repo: Pick<ManagedRepo, 'id' | 'tenantId'>): Promise<readonly NodeRow[]> {
    return this.call('listRunningBatches', () =>
      [...this.batches.values()].filter(
        (row) => row.tenantId === repo.tenantId && row.repoId === repo.id && row.outcome === 'running',
      ),
    );
  }

  listRepos(tenantId: TenantId): Promise<readonly ManagedRepo[]> {
    return this.call('listRepos', () =>
      [...this.repos.values()]
        .filter((repo) => repo.tenantId === tenantId)
        .map((repo) => {
          this.refuseCorrupt('repo', repo.id, 'listRepos');
          return repo;
        })
        .sort(byId),
    );
  }

  listBatches(tenantId: TenantId, limit: number): Promise<readonly NodeRow[]> {
    return this.call('listBatches', () => newest(this.batches, tenantId, limit));
  }

  listEvents(tenantId: TenantId, limit: number): Promise<readonly ActivityEvent[]> {
    return this.call('listEvents', () => newest(this.events, tenantId, limit));
  }
}
