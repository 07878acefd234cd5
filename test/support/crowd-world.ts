import type { RepoId } from '#core/domain/ids.ts';
import { FORGE_TIMEOUT_MS, RECONCILE_BUDGET_MS, TICK_INTERVAL_MS, WORKERS_MAX } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import type { EngineAnswer, WakeQueue } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { type DispatchDeps, dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { adoptLease } from '#core/services/wakes/lease.ts';
import { forwardDelayedWake, wakeDueRepos, wakeForEvent } from '#core/services/wakes/send-wakes.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';
import { SimClock } from './sim-clock.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Repositories that are alike, each of a tenant of its own unless `tenant` names one for all. */
export interface Kind {
  readonly name: string;
  readonly count: number;
  readonly tenant?: string;
  readonly host?: string;
  /** How long the engine works for one reconcile. */
  readonly workMs: number;
  /** `timeout`: the forge answered nothing in time. */
  readonly outcome: 'ok' | 'timeout';
  /** A webhook comes so often. */
  readonly eventEveryMs: number;
}

/** As long as a forge that answers nothing can hold a worker: the budget, and the read that began right before its end. */
export const DEAD_MS = RECONCILE_BUDGET_MS + FORGE_TIMEOUT_MS;

interface Message {
  readonly repoId: RepoId;
  readonly sentAt: number;
}

/** Real dispatch of wakes to so many workers in virtual time; queue, engine and forges are as fast as they are told. */
export class CrowdWorld {
  readonly clock = new SimClock();
  /** From a wake to the begin of its reconcile, by kind. */
  readonly waitsMs = new Map<string, number[]>();
  /** From enrolling to the begin of the first reconcile, of each repository that had one, by kind. */
  readonly firstWaitsMs = new Map<string, number[]>();
  /** Most workers that one kind held at the same time. */
  readonly heldMost = new Map<string, number>();
  readonly #store = createMemoryStore({ clock: this.clock });
  readonly #kinds = new Map<RepoId, Kind>();
  readonly #held = new Map<string, number>();
  /** When each was enrolled that had no reconcile yet. */
  readonly #newSince = new Map<RepoId, number>();
  readonly #waiting: Message[] = [];
  readonly #seen = new Set<string>();
  readonly #inFlight = new Set<RepoId>();
  readonly #queue: WakeQueue;
  readonly #deps: DispatchDeps;
  readonly #workers: number;
  #busy = 0;
  #nextId = 0;
  #since = 0;

  constructor(workers: number) {
    this.#workers = workers;
    const clock = { ...bind(this.clock), monotonic: () => this.clock.now() };
    this.#queue = {
      sendWake: async (repoId, wakeSeq) => this.#send(repoId, wakeSeq),
      // Its engines tell nothing that a glance could compare.
      sendGlance: async () => undefined,
      sendDelayedGlance: async () => undefined,
      sendDelayedWake: async (repoId, wakeSeq, delayMs) =>
        this.clock.after(delayMs, async () => {
          await forwardDelayedWake({ store: this.#store, queue: this.#queue, clock }, { repoId, wakeSeq });
        }),
    };
    this.#deps = {
      store: this.#store,
      leases: this.#store,
      queue: this.#queue,
      clock,
      log: silent,
      queueName: DEFAULT_SERVICE_NAME,
      planLimits: PLAN_LIMITS,
      workersMax: WORKERS_MAX,
      vault: { seal: () => Promise.reject(new Error('never')), open: async () => new Secret('token') },
      ids: { uuid: () => `id-${this.#nextId++}` },
      engine: {
        isHealthy: async () => true,
        reconcile: (request, { fence }) => this.#work(request.repoSlug.replace('acme/', ''), fence),
      },
    };
  }

  async enroll(kind: Kind): Promise<void> {
    for (let index = 0; index < kind.count; index += 1) {
      const id = `${kind.name}-${index}`;
      const tenantId = kind.tenant ?? `tenant-${id}`;
      const instanceUrl = `https://${kind.host ?? `${id}.example`}`;
      const connectionId = `connection-${id}`;
      await this.#store.createTenant(tenantId, 0);
      await this.#store.createConnection(
        givenConnection({ id: connectionId, tenantId, instanceUrl, botUsername: `bot-${id}` }),
      );
      await this.#store.createRepo(
        givenRepo({ id, tenantId, connectionId, instanceUrl, slug: `acme/${id}`, dueAt: this.clock.now() }),
        null,
      );
      this.#kinds.set(id, kind);
      this.#newSince.set(id, this.clock.now());
      const startMs = Math.round((kind.eventEveryMs * index) / kind.count);
      this.clock.after(startMs, () => this.#sendEvents(id, kind.eventEveryMs));
    }
  }

  /** Lets time pass; what is measured begins anew `warmUpMs` after now. */
  async run(warmUpMs: number, forMs: number): Promise<void> {
    const start = this.clock.now();
    for (let at = 0; at < warmUpMs + forMs; at += TICK_INTERVAL_MS) this.clock.after(at, () => this.#tick());
    await this.clock.runUntil(start + warmUpMs);
    this.#since = this.clock.now();
    await this.clock.runUntil(start + warmUpMs + forMs);
  }

  async #sendEvents(id: RepoId, everyMs: number): Promise<void> {
    this.clock.after(everyMs, () => this.#sendEvents(id, everyMs));
    await wakeForEvent({ store: this.#store, queue: this.#queue, clock: this.#deps.clock }, id);
  }

  async #tick(): Promise<void> {
    await wakeDueRepos({
      store: this.#store,
      queue: this.#queue,
      clock: this.#deps.clock,
      log: silent,
      planLimits: PLAN_LIMITS,
    });
  }

  #send(repoId: RepoId, wakeSeq: number): void {
    const key = `${repoId} ${wakeSeq}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#waiting.push({ repoId, sentAt: this.clock.now() });
    this.#deliver();
  }

  /** Oldest first, one message of a repository at a time, to as many workers as there are. */
  #deliver(): void {
    while (this.#busy < this.#workers) {
      const index = this.#waiting.findIndex(({ repoId }) => !this.#inFlight.has(repoId));
      const [message] = index === -1 ? [] : this.#waiting.splice(index, 1);
      if (message === undefined) return;
      this.#busy += 1;
      this.#inFlight.add(message.repoId);
      void this.#answer(message);
    }
  }

  async #answer({ repoId, sentAt }: Message): Promise<void> {
    this.#begunAt.delete(repoId);
    await dispatchReconcile(this.#deps, repoId);
    const begun = this.#begunAt.get(repoId);
    const kind = this.#kinds.get(repoId);
    if (begun !== undefined && kind !== undefined && sentAt >= this.#since) {
      push(this.waitsMs, kind.name, begun - sentAt);
    }
    this.#busy -= 1;
    this.#inFlight.delete(repoId);
    this.#deliver();
  }

  readonly #begunAt = new Map<RepoId, number>();

  async #work(repoId: RepoId, fence: number): Promise<EngineAnswer> {
    const kind = this.#kinds.get(repoId);
    if (kind === undefined) throw new Error(`no repository ${repoId}`);
    const held = await adoptLease({ leases: this.#store, clock: this.#deps.clock }, repoId, fence);
    if (held === null) throw new Error('the lease is not ours');
    this.#begunAt.set(repoId, this.clock.now());
    const newSince = this.#newSince.get(repoId);
    if (newSince !== undefined) {
      push(this.firstWaitsMs, kind.name, this.clock.now() - newSince);
      this.#newSince.delete(repoId);
    }
    this.#hold(kind.name, 1);
    await this.clock.sleep(kind.workMs);
    this.#hold(kind.name, -1);
    const isOk = kind.outcome === 'ok';
    const at = this.clock.now();
    await this.#store.saveReport(held, {
      fence,
      at,
      logTail: [],
      ...(isOk ? { errorCode: null, wakeAt: null } : { errorCode: 'timeout', wakeAt: at }),
    });
    return isOk ? 'ok' : 'failed';
  }

  #hold(name: string, change: 1 | -1): void {
    const held = (this.#held.get(name) ?? 0) + change;
    this.#held.set(name, held);
    this.heldMost.set(name, Math.max(held, this.heldMost.get(name) ?? 0));
  }
}

function push(byKind: Map<string, number[]>, name: string, value: number): void {
  byKind.set(name, [...(byKind.get(name) ?? []), value]);
}

function bind(clock: SimClock) {
  return { now: () => clock.now(), sleep: (ms: number) => clock.sleep(ms) };
}
