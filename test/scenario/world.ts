import { LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS } from '#core/domain/limits.ts';
import type { ActivityEvent, NodeRow } from '#core/domain/queue/batch.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { HeldLease } from '#core/domain/wakes/lease.ts';
import { type EngineForge, ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import { type EngineReport, StoreError } from '#core/ports/store.ts';
import type { Log } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import type { QueueRecord } from '../../engine-container/src/queue/record/record.ts';
import { createReconciler } from '../../engine-container/src/reconcile/reconciler.ts';
import { parseRecord } from '../../engine-container/src/stored-record/record-codec.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { type AbstractForge, createAbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { CI_AUTHOR, CI_CONTEXTS } from '../fakes/abstract-forge/pipeline-statuses.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';
import type { ForgeControl } from '../support/forge-control.ts';
import { Crash, FORGE_WRITE_LABELS, forgeOn, type Machine, storeOn } from '../support/machine.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/** The whole queue around one repository: real engine, lease and record, a fake forge, virtual time. */
export interface World<Forge extends ForgeControl = ForgeControl> {
  readonly forge: Forge;
  readonly clock: VirtualClock;
  readonly store: ReturnType<typeof createMemoryStore>;
  readonly log: LogLine[];
  /** One reconcile under a fresh lease, as a worker would run it; null when the lease was held or nothing was left. */
  reconcile(): Promise<EngineReport | null>;
  /** Reconciles at every wake the engine asks for (and every tick) until it asks for none, or `maxMs` have passed. */
  drain(options?: DrainOptions): Promise<void>;
  /** Before its next status post the engine is frozen past the end of its lease, and another worker goes on meanwhile. */
  loseLease(): Promise<void>;
  /** Of a lasting engine: its process ends, and another one begins with the same store. */
  restartEngine(): void;
  /** Of lasting engines: the one of this name goes on from here. It begins with the first time. @default 'first' */
  switchEngine(name: string): void;
  /** The queue record is gone, as if it had never been. */
  loseRecord(): Promise<void>;
  settings(changes: Partial<ManagedRepo>): Promise<void>;
  rows(): Promise<readonly NodeRow[]>;
  events(): Promise<readonly ActivityEvent[]>;
  record(): Promise<QueueRecord>;
}

/** Address of the service, to which statuses link. */
export const SERVICE_URL = 'https://queue.test';

export interface DrainOptions {
  readonly maxMs?: number;
  /** Ends the drain; that it never comes is an error. */
  readonly until?: () => boolean | Promise<boolean>;
  /** Called after each reconcile; false = something is still to happen, so quiet does not mean the end. */
  readonly afterEach?: () => Promise<boolean>;
  /** How many events the forge has sent: another one wakes the queue at once. @default none ever arrives */
  readonly heard?: () => number;
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface WorldOptions {
  /** @default that of a deployment which sets none */
  readonly queueName?: string;
  readonly repo?: Partial<ManagedRepo>;
  /** Another CI is the gate and posts statuses. @default a workflow of the forge */
  readonly gate?: 'statuses';
  /** Wraps the forge as the engine sees it: to count, to crash, to let a person act between two calls. */
  readonly wrapForge?: (forge: EngineForge) => EngineForge;
  /** One engine for all reconciles, which remembers what it read; by default it is a new one each time. */
  readonly lastingEngine?: true;
  /** The engine takes a record that it finds for one of any earlier time. */
  readonly mayBeOlder?: true;
  /** The machine that the next reconcile runs on; by default one that nothing happens to. */
  readonly newMachine?: () => Machine;
  /** Called around each store call of any component; may throw. */
  readonly aroundStore?: {
    readonly before: (label: string) => void;
    readonly after: (label: string) => void;
  };
}

/** Settings of a gate by the statuses of the CI that the abstract forge has. */
export const STATUS_GATE = {
  gate: 'statuses',
  gateContexts: CI_CONTEXTS,
  gateAuthors: [CI_AUTHOR],
} as const satisfies Partial<ManagedRepo>;

const TICK_MS = 5 * 60_000;
const EVENT_WITHIN_MS = 1_000;
/** Each call counts as so many. */
export const CALL_BYTES = 10;

/** Over the abstract forge: no HTTP, no git, thousands of lives a minute. */
export async function createWorld(options: WorldOptions = {}): Promise<World<AbstractForge>> {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches: { ci: options.gate ?? 'actions' } });
  return createWorldOn(clock, forge, forge.forge, options);
}

/**
 * Over any forge that shares the clock. `client`: one for all reconciles, or what makes one for each, as the engine does: the
 * real client may read so much in its life (`FORGE_READS_MAX`), which is one reconcile.
 */
export async function createWorldOn<Forge extends ForgeControl>(
  clock: VirtualClock,
  forge: Forge,
  client: EngineForge | (() => EngineForge),
  options: WorldOptions,
  settle: () => Promise<void> = async () => undefined,
): Promise<World<Forge>> {
  const around = options.aroundStore;
  const store = createMemoryStore(
    around === undefined ? { clock } : { clock, beforeCall: around.before, afterCall: around.after },
  );
  const log: LogLine[] = [];
  const write =
    (level: string): Log['info'] =>
    (message, fields = {}) => {
      log.push({ level, message, fields });
    };
  const repo = givenRepo({
    dueAt: clock.now(),
    ...(options.gate === undefined ? {} : STATUS_GATE),
    ...options.repo,
  });
  await store.createTenant(repo.tenantId, clock.now());
  await store.createConnection(givenConnection());
  await store.createRepo(repo, null);
  let nextId = 0;
  const ids = {
    uuid: () => {
      nextId += 1;
      return `${nextId.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
    },
  };
  const { port, renew } = renewable(client);
  const engineForge = options.wrapForge?.(port) ?? port;
  let pauseNextPost = false;
  /** The engine's client on this machine: it may be frozen before a call is sent, and looks at its deadline when it thaws. */
  function clientOf(
    machineForge: EngineForge,
    held: HeldLease,
    mayRead: () => boolean,
    onCall: (bytes: number) => void,
  ): EngineForge {
    return new Proxy(machineForge, {
      get(target, name) {
        const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
        return async (...values: unknown[]) => {
          if (pauseNextPost && name === 'postStatus') {
            pauseNextPost = false;
            await clock.advance(LEASE_TTL_MS + LEASE_TAKEOVER_GRACE_MS + 1_000);
            await reconcile();
          }
          if (held.isPastDeadline()) throw new ForgeError('unreachable', String(name), null);
          if (!FORGE_WRITE_LABELS.includes(`forge ${String(name)}`) && !mayRead())
            throw new ReadNotBegun(String(name));
          onCall(CALL_BYTES);
          return call.apply(target, values);
        };
      },
    });
  }
  const startEngine = (ownStore: typeof store | ReturnType<typeof storeOn>, ownForge: EngineForge) =>
    createReconciler({
      store: ownStore,
      clock,
      ids,
      log: { info: write('info'), warn: write('warn'), error: write('error') },
      serviceUrl: SERVICE_URL,
      ...(options.mayBeOlder ? { mayBeOlder: true } : {}),
      forgeFor: (_request, held, mayRead, onCall) => clientOf(ownForge, held, mayRead, onCall),
    });
  let lasting = options.lastingEngine ? startEngine(store, engineForge) : null;
  const engines = new Map(lasting === null ? [] : [['first', lasting]]);

  async function reconcile(): Promise<EngineReport | null> {
    const machine = options.newMachine?.() ?? null;
    if (machine === null) return reconcileOn(null);
    try {
      return await reconcileOn(machine);
    } catch (error) {
      // The worker died, or its store did not answer before anything began: the next wake comes.
      if (error instanceof Crash || error instanceof StoreError) return null;
      throw error;
    }
  }

  async function reconcileOn(machine: Machine | null): Promise<EngineReport | null> {
    renew();
    const ownStore = machine === null ? store : storeOn(machine, store);
    const ownForge = machine === null ? engineForge : forgeOn(machine, engineForge);
    const reconciler = lasting ?? startEngine(ownStore, ownForge);
    const result = await withLease(
      { leases: ownStore, clock, ids },
      repo.id,
      'test',
      LEASE_TTL_MS,
      async (held: HeldLease) => {
        const request = {
          tenantId: repo.tenantId,
          repoSlug: repo.slug,
          baseBranch: repo.baseBranch,
          queueName: options.queueName ?? DEFAULT_SERVICE_NAME,
          instanceUrl: repo.instanceUrl,
          token: new Secret('token'),
        };
        await reconciler(request, { fence: held.fence, command: 'reconcile' });
        const report = await ownStore.loadReport(repo.id);
        // One under another fence tells of an earlier reconcile.
        return report?.fence === held.fence ? report : null;
      },
    );
    return result.kind === 'skipped' ? null : result.value;
  }

  return {
    forge,
    clock,
    store,
    log,
    reconcile,
    drain: drainBy({ clock, reconcile, settle }),
    async settings(changes) {
      const current = await store.getRepo(repo.id);
      if (current === null) throw new Error('repo is gone');
      await store.updateRepo({ ...current, ...changes });
    },
    async loseRecord() {
      await withLease({ leases: store, clock, ids }, repo.id, 'test', LEASE_TTL_MS, (held) =>
        store.quarantineQueueRecord(held),
      );
    },
    restartEngine() {
      lasting = startEngine(store, engineForge);
    },
    switchEngine(name) {
      lasting = engines.get(name) ?? startEngine(store, engineForge);
      engines.set(name, lasting);
    },
    async loseLease() {
      pauseNextPost = true;
    },
    rows: () => store.listBatches(repo.tenantId, 500),
    events: () => store.listEvents(repo.tenantId, 5_000),
    async record() {
      const stored = await store.loadQueueRecord(repo.id);
      const parsed = stored === null ? null : parseRecord(stored.document);
      if (parsed === null) throw new Error('no queue record yet');
      return parsed.record;
    },
  };
}

/** A port that calls the newest client, so that a wrapper around the port goes on with its count. */
function renewable(client: EngineForge | (() => EngineForge)) {
  if (typeof client !== 'function') return { port: client, renew: () => undefined };
  let newest = client();
  const port = new Proxy(newest, { get: (_first, name) => Reflect.get(newest, name) });
  return {
    port,
    renew: () => {
      newest = client();
    },
  };
}

/** Reconciles at every wake that the engine asks for, and at every tick, until two of them find nothing to do. */
export function drainBy({
  clock,
  reconcile,
  settle,
}: {
  readonly clock: VirtualClock;
  readonly reconcile: World['reconcile'];
  readonly settle: () => Promise<void>;
}): World['drain'] {
  return async ({ maxMs = 6 * 60 * 60_000, until, afterEach, heard } = {}) => {
    const end = clock.now() + maxMs;
    let quietTicks = 0;
    while (clock.now() < end) {
      const report = await reconcile();
      if (until !== undefined && (await until())) return;
      const mayEnd = afterEach === undefined || (await afterEach());
      // No report at all may also mean that a worker died: that alone is no sign of rest.
      const quiet = report === null ? 0.4 : 1;
      quietTicks = report?.wakeAt == null && mayEnd ? quietTicks + quiet : 0;
      if (quietTicks >= 2 && until === undefined) return;
      const tickAt = clock.now() + TICK_MS;
      const next = Math.min(report?.wakeAt ?? tickAt, tickAt);
      const heardBefore = heard?.();
      const stepMs = heard === undefined ? Number.POSITIVE_INFINITY : EVENT_WITHIN_MS;
      do {
        await clock.advance(Math.min(Math.max(next - clock.now(), 1_000), stepMs));
        await settle();
      } while (clock.now() < next && heard?.() === heardBefore);
    }
    if (until !== undefined) throw new Error('drain: the awaited state never came');
  };
}
