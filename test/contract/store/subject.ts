import { randomUUID } from 'node:crypto';
import type { RepoId } from '#core/domain/ids.ts';
import type { Connection, ManagedRepo } from '#core/domain/repos/repo.ts';
import type { HeldLease } from '#core/domain/wakes/lease.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import type {
  AccountStore,
  AdminStore,
  HealthStore,
  RateStore,
  RealtimeStore,
} from '#core/ports/account-store.ts';
import type { AuthorStore } from '#core/ports/author-store.ts';
import type { BillingStore } from '#core/ports/billing-store.ts';
import type { LookStore } from '#core/ports/idle-look.ts';
import type { NoticeRequestStore } from '#core/ports/notifier.ts';
import type {
  DispatchStore,
  EngineStore,
  EnrollmentStore,
  LeaseStore,
  ReconcileStore,
} from '#core/ports/store.ts';
import { StoreError } from '#core/ports/store.ts';
import type { TokenStore } from '#core/ports/token-store.ts';
import { Secret } from '#core/secret.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import type { CorruptibleRow } from '../../fakes/memory-rows.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

export type AnyStore = EngineStore &
  LeaseStore &
  ReconcileStore &
  DispatchStore &
  EnrollmentStore &
  AccountStore &
  BillingStore &
  AdminStore &
  HealthStore &
  RateStore &
  RealtimeStore &
  LookStore &
  AuthorStore &
  NoticeRequestStore &
  TokenStore;

export interface Subject {
  readonly store: AnyStore;
  /** Damages one stored row behind the store's back. */
  corrupt(row: CorruptibleRow, owner: { readonly tenantId: string; readonly id: string }): Promise<void>;
  /** The stored mark of what ended a pull request; undefined when nothing did. */
  readTerminal(repoId: RepoId, pr: number): Promise<Readonly<Record<string, unknown>> | undefined>;
  close(): Promise<void>;
}

export type OpenSubject = (clock: VirtualClock) => Promise<Subject>;

/** Shared by the tests of one subject. Every test makes tenants of its own, so no test sees another's rows. */
export interface World {
  readonly clock: VirtualClock;
  store(): AnyStore;
  subject(): Subject;
  enroll(changes?: Partial<ManagedRepo>): Promise<{ repo: ManagedRepo; connection: Connection }>;
  hold(repoId: RepoId, ttlMs?: number): Promise<HeldLease>;
}

export const TTL_MS = 90_000;

export function useWorld(open: OpenSubject): World {
  const clock = new VirtualClock();
  let subject: Subject | null = null;
  const current = (): Subject => {
    if (subject === null) throw new Error('the subject is not open');
    return subject;
  };
  beforeAll(async () => {
    subject = await open(clock);
  });
  afterAll(async () => {
    await subject?.close();
  });
  const store = (): AnyStore => current().store;
  return {
    clock,
    store,
    subject: current,
    enroll: async (changes = {}) => {
      const { connection, repo } = freshPair(changes);
      await store().createTenant(repo.tenantId, clock.now());
      await store().createConnection(connection);
      expect(await store().createRepo(repo, null)).toBe('created');
      return { connection, repo };
    },
    hold: async (repoId, ttlMs = TTL_MS) => {
      const grant = await store().acquireLease(repoId, randomUUID(), 'reconcile', ttlMs);
      if (grant === 'held') throw new Error('another holder has the lease');
      return grantHeldLease(repoId, grant, () => clock.monotonic(), Number.POSITIVE_INFINITY);
    },
  };
}

const STORED_AT = Date.UTC(2026, 0, 1);

export function freshPair(changes: Partial<ManagedRepo> = {}): { repo: ManagedRepo; connection: Connection } {
  const id = randomUUID();
  const repo = givenRepo({
    id: `repo-${id}`,
    tenantId: `tenant-${id}`,
    connectionId: `connection-${id}`,
    instanceUrl: `https://${id}.example.org`,
    // Not the plain ones: what is stored must come back.
    pause: { kind: 'drain', reason: 'audit', since: 1_000, until: null },
    slug: 'acme/web',
    bisectFanout: 2,
    webhookSecret: new Secret('hook-secret-0001'),
    enabledAt: STORED_AT,
    dueAt: STORED_AT,
    createdAt: STORED_AT,
    updatedAt: STORED_AT,
    ...changes,
  });
  const { tenantId, connectionId, instanceUrl } = repo;
  return { repo, connection: givenConnection({ id: connectionId, tenantId, instanceUrl }) };
}

/** The kind of the `StoreError` that a call ends with; null when it succeeds. */
export async function kindOf(call: Promise<unknown>): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (error instanceof StoreError) return error.kind;
    throw error;
  }
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
