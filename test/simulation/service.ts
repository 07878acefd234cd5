import { AppError } from '#core/contracts/errors.ts';
import type { RepoId } from '#core/domain/ids.ts';
import {
  ENGINE_TIMEOUT_MS,
  GLANCE_TIMEOUT_MS,
  LOOK_TIMEOUT_MS,
  TICK_INTERVAL_MS,
  WAKE_HIDDEN_MS,
} from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { REPAIR_EVERY_MS, REPAIRS_A_DAY_MAX } from '#core/domain/set-up/repair.ts';
import type { HeldLease } from '#core/domain/wakes/lease.ts';
import { redeliverySeconds } from '#core/domain/wakes/wake-rule.ts';
import { type EngineForge, ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import type { GlanceAnswer, GlanceRequest, LookAnswer, LookRequest } from '#core/ports/idle-look.ts';
import { StoreError } from '#core/ports/store.ts';
import {
  type DueGlance,
  type EngineAnswer,
  type EnginePort,
  type Log,
  type ReconcileOrder,
  type ReconcileRequest,
  VaultError,
  type WakeQueue,
} from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { carryLandings, wishBackports } from '#core/services/pulls/backport.ts';
import { repairSetup, wishRepairs } from '#core/services/set-up/repair-setup.ts';
import { answerGlance } from '#core/services/wakes/answer-glance.ts';
import { dispatchReconcile, recordAbandonedWake } from '#core/services/wakes/dispatch-reconcile.ts';
import { createLookingEngine } from '#core/services/wakes/idle-look.ts';
import { forwardDelayedWake, wakeDueRepos } from '#core/services/wakes/send-wakes.ts';
import { acceptForgeWebhook } from '#core/services/webhooks/accept-forge-webhook.ts';
import { glanceAt } from '../../engine-container/src/idle/glance-at-forge.ts';
import { lookForWork } from '../../engine-container/src/idle/idle-look.ts';
import { EngineMemory } from '../../engine-container/src/reconcile/engine-memory.ts';
import { createReconciler } from '../../engine-container/src/reconcile/reconciler.ts';
import { openBackportPlanner } from '../../engine-container/src/staging/plan-backport.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { FakeSecretBox } from '../fakes/secret-box.ts';
import {
  Crash,
  FORGE_WRITE_LABELS,
  forgeOn,
  type Machine,
  storeOn,
  type WorkerStore,
} from '../support/machine.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { SimClock } from '../support/sim-clock.ts';
import { type Host, Hosts, type Witness } from './hosts.ts';
import { type Odds, SKEW_EXTREME_MS } from './odds.ts';
import { WatchedStore } from './sightings.ts';
import { type SignedText, Signer } from './signer.ts';
import { createSimLog } from './sim-log.ts';

const RECEIVES_MAX = 5;
const THROTTLED_MS_MAX = 4 * 60_000;
const HIDDEN_MS_MAX = 15 * 60_000;
const DEDUP_MS = 5 * 60_000;
const FIRST_ID = 10_000_000;
const WRITES: ReadonlySet<string> = new Set(FORGE_WRITE_LABELS);

/** Worker, engine, tick, delayed wakes and webhooks: the real code, on machines that fail. */
export class SimService {
  readonly store: WatchedStore;
  readonly forges = new Map<RepoId, AbstractForge>();
  readonly logText: string[] = [];
  /** Alarm, repo and pull request, as far as any was raised. */
  readonly alarms = new Set<string>();
  readonly hosts: Hosts;
  readonly #clock: SimClock;
  readonly #random: SeededRandom;
  readonly #witness: Witness;
  #container: Host = { dead: false, skewMs: 0, memory: new EngineMemory() };
  #nextId = 0;
  #nextDelivery = 0;
  readonly #log: Log;
  readonly #fences = new Map<RepoId, number>();
  /** Reconciles that an engine is at work on, by repo and fence. */
  readonly #hiddenUntil = new Map<RepoId, number>();
  readonly #atWork = new Set<string>();
  /** Under which the forge is being called right now. */
  #callFence = 0;
  readonly #waiting = new Map<RepoId, { receives: number; readonly glance: DueGlance | null }[]>();
  readonly #inFlight = new Set<RepoId>();
  readonly #sentAt = new Map<string, number>();
  readonly #signer = new Signer();
  /** As drawn: what heals is looked at as before. */
  readonly #looksIdle: boolean;

  constructor(clock: SimClock, random: SeededRandom, odds: Odds, witness: Witness) {
    this.#clock = clock;
    this.#random = random;
    this.#witness = witness;
    this.#looksIdle = odds.idleLooks > 0;
    const hosts = new Hosts(clock, random, odds, witness);
    this.hosts = hosts;
    this.store = new WatchedStore({ clock: { now: () => clock.now() + hosts.storeSkewMs } });
    this.store.indexLagMs = odds.indexLagMs;
    this.store.witness = witness;
    this.#log = createSimLog(witness, this.logText, this.alarms);
    this.store.onRelease = (repoId, fence) => {
      if (this.#atWork.has(`${repoId} ${fence}`))
        witness.violate(`the lease ${fence} of ${repoId} is given back while its engine is at work`);
    };
  }

  get odds(): Odds {
    return this.hosts.odds;
  }

  get steps(): number {
    return this.hosts.steps;
  }

  startTicks(): void {
    const jitterMs = this.#random.int(2_000) - 1_000;
    this.#clock.after(TICK_INTERVAL_MS + jitterMs, () => {
      this.startTicks();
      return this.#tick();
    });
  }

  readonly ids = {
    uuid: (): string => {
      this.#nextId += 1;
      // Eight digits, and by the dozen in every pass: so no padding.
      return `${FIRST_ID + this.#nextId}-0000-4000-8000-000000000000`;
    },
  };

  /** A delivery of the forge, which may be lost, late or doubled on its way. */
  deliver(repo: ManagedRepo, type: string, body: Readonly<Record<string, unknown>>): void {
    if (repo.wakeupMode !== 'webhook' || repo.webhookSecret === null) return;
    const { odds } = this;
    if (this.#random.chance(odds.hookLost)) return this.#witness.sometimes('webhook lost');
    const text = JSON.stringify({
      ...body,
      repository: { full_name: repo.slug, html_url: `${repo.instanceUrl}/${repo.slug}` },
    });
    const signed = this.#signer.sign(text, repo.webhookSecret);
    this.#nextDelivery += 1;
    const deliveryId = `delivery-${this.#nextDelivery}`;
    const copies = this.#random.chance(odds.hookTwice) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const late = this.#random.chance(odds.hookLate);
      const delayMs = late ? this.#random.int(30 * 60_000) : 50 + this.#random.int(500);
      this.#clock.after(delayMs, () => this.#acceptHook({ ...signed, type, deliveryId }));
    }
  }

  /** A wake from outside the queue's own code: enrollment, a switch in the settings. */
  async wakeNow(repoId: RepoId): Promise<void> {
    const wakeSeq = await this.store.markDue(repoId, this.#clock.now());
    if (wakeSeq !== null) this.#send(repoId, wakeSeq);
  }

  send(repoId: RepoId, wakeSeq: number): void {
    this.#send(repoId, wakeSeq);
  }

  /** The engine's next run is on a new container, with a clock as right as the odds in force make it. */
  replaceContainer(): void {
    this.#container = { ...this.#container, dead: true, skewMs: 0 };
  }

  /** For some minutes the store refuses most calls of every component. */
  throttleStore(): void {
    this.#witness.note('the store throttles');
    this.#witness.sometimes('the store throttles');
    this.hosts.throttledUntil = this.#clock.now() + 10_000 + this.#random.int(THROTTLED_MS_MAX);
  }

  /** For some minutes the bot may not see the repository. */
  hideRepo(id: RepoId): void {
    this.#witness.note(`${id} is hidden`);
    this.#witness.sometimes('the repository is hidden');
    this.#hiddenUntil.set(id, this.#clock.now() + this.#random.int(HIDDEN_MS_MAX));
  }

  isHidden(id: RepoId): boolean {
    return this.#clock.now() < (this.#hiddenUntil.get(id) ?? 0);
  }

  /** The engine's process dies in the middle of whatever it is at, for every repo. */
  killEngine(): void {
    if (this.#atWork.size > 1) this.#witness.sometimes('the engine dies with several reconciles');
    this.#witness.note('the engine dies');
    this.#container.dead = true;
  }

  /** The store as a request of the API has it. */
  storeOfApi(): WorkerStore {
    return storeOn(this.hosts.machineOn(this.hosts.newHost()), this.store);
  }

  /** A request of the API: a refusal, or a machine that dies, is no defect. */
  settle(run: () => Promise<unknown>): Promise<'done' | 'retry' | 'died'> {
    return this.#settle(run);
  }

  // Queues

  #queueOn(machine: Machine): WakeQueue {
    return {
      sendWake: (repoId, wakeSeq) => machine.io('queue sendWake', async () => this.#send(repoId, wakeSeq)),
      sendDelayedWake: (repoId, wakeSeq, delayMs) =>
        machine.io('queue sendDelayedWake', async () => this.#sendDelayed(repoId, wakeSeq, delayMs)),
      sendGlance: (glance) =>
        machine.io('queue sendGlance', async () => this.#send(glance.repoId, glance.wakeSeq, glance)),
      sendDelayedGlance: async (glance, delayMs) => {
        // Lives without idle looks are older than glances, and their seeds are kept.
        if (!this.#looksIdle) return;
        await machine.io('queue sendDelayedGlance', async () =>
          this.#sendDelayed(glance.repoId, glance.wakeSeq, delayMs, glance),
        );
      },
    };
  }

  #send(repoId: RepoId, wakeSeq: number, glance: DueGlance | null = null): void {
    const key = `${repoId} ${wakeSeq} ${glance?.step ?? 'wake'}`;
    const now = this.#clock.now();
    if (now - (this.#sentAt.get(key) ?? Number.NEGATIVE_INFINITY) < DEDUP_MS) return;
    this.#sentAt.set(key, now);
    const waiting = this.#waiting.get(repoId) ?? [];
    waiting.push({ receives: 0, glance });
    this.#waiting.set(repoId, waiting);
    this.#clock.after(30 + this.#random.int(200), () => this.#receive(repoId));
    if (this.#random.chance(this.odds.wakeTwice)) {
      this.#witness.sometimes('two workers from one message');
      this.#clock.after(this.#random.int(5_000), async () => {
        await (glance === null ? this.#work(repoId) : this.#glance(glance));
      });
    }
  }

  /** One message of a repo at a time; a failed one comes back before the next. */
  async #receive(repoId: RepoId): Promise<void> {
    const waiting = this.#waiting.get(repoId);
    const message = waiting?.[0];
    if (message === undefined || this.#inFlight.has(repoId)) return;
    this.#inFlight.add(repoId);
    message.receives += 1;
    const { glance } = message;
    const result = await (glance === null ? this.#work(repoId) : this.#glance(glance));
    const again = result !== 'done' && message.receives < RECEIVES_MAX;
    if (again)
      await this.#clock.sleep(
        result === 'died' ? WAKE_HIDDEN_MS : redeliverySeconds(message.receives) * 1000,
      );
    else {
      waiting?.shift();
      if (result !== 'done' && glance === null) await this.#writeOff(repoId);
    }
    this.#inFlight.delete(repoId);
    await this.#receive(repoId);
  }

  #sendDelayed(repoId: RepoId, wakeSeq: number, delayMs: number, glance: DueGlance | null = null): void {
    const waitMs = Math.ceil(delayMs / 1000) * 1000 + this.#random.int(500);
    this.#clock.after(waitMs, () => this.#forward(repoId, wakeSeq, 1, glance));
  }

  async #forward(repoId: RepoId, wakeSeq: number, receives: number, glance: DueGlance | null): Promise<void> {
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    const deps = {
      store: storeOn(machine, this.store),
      queue: this.#queueOn(machine),
      clock: this.hosts.clockOf(host),
    };
    const done = await this.#settle(() =>
      glance === null ? forwardDelayedWake(deps, { repoId, wakeSeq }) : deps.queue.sendGlance(glance),
    );
    if (done === 'done' || receives >= RECEIVES_MAX) return;
    this.#clock.after(60_000, () => this.#forward(repoId, wakeSeq, receives + 1, glance));
  }

  async #writeOff(repoId: RepoId): Promise<void> {
    this.#witness.sometimes('wake given up');
    const host = this.hosts.newHost();
    const store = storeOn(this.hosts.machineOn(host), this.store);
    await this.#settle(() => recordAbandonedWake({ store, clock: this.hosts.clockOf(host) }, repoId));
  }

  async #tick(): Promise<void> {
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    await this.#settle(() =>
      wakeDueRepos({
        store: storeOn(machine, this.store),
        queue: this.#queueOn(machine),
        clock: this.hosts.clockOf(host),
        log: this.#log,
      }),
    );
  }

  async #acceptHook(hook: SignedText & { type: string; deliveryId: string }): Promise<void> {
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    const store = storeOn(machine, this.store);
    await this.#settle(async () => {
      const outcome = await acceptForgeWebhook(
        {
          store,
          leases: store,
          queue: this.#queueOn(machine),
          clock: this.hosts.clockOf(host),
          secrets: new FakeSecretBox(),
          queueName: DEFAULT_SERVICE_NAME,
        },
        {
          body: hook.bytes,
          signature: hook.signature,
          eventType: hook.type,
          deliveryId: hook.deliveryId,
          hookId: undefined,
        },
      );
      this.#witness.sometimes(`webhook ${outcome}`);
    });
  }

  /** The result of a run of a function for the platform that called it. An unexpected one is a defect. */
  async #settle(run: () => Promise<unknown>): Promise<'done' | 'retry' | 'died'> {
    try {
      await run();
      return 'done';
    } catch (error) {
      if (error instanceof Crash) return 'died';
      if (error instanceof StoreError) return 'retry';
      if (error instanceof AppError) {
        this.#witness.sometimes(`refused ${error.code}`);
        return 'done';
      }
      this.#witness.violate(`threw ${error instanceof Error ? error.stack : 'not an error'}`);
      return 'done';
    }
  }

  // Worker and engine

  async #work(repoId: RepoId): Promise<'done' | 'retry' | 'died'> {
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    const store = storeOn(machine, this.store);
    let looked = false;
    const settled = await this.#settle(async () => {
      const result = await dispatchReconcile(
        {
          store,
          leases: store,
          vault: {
            seal: () => Promise.reject(new Error('nothing is sealed here')),
            open: (owner) => machine.io('vault open', async () => this.#openToken(owner.tenantId)),
          },
          engine: this.#looksIdle ? this.#lookingEngine(repoId, host) : this.#engine(repoId),
          queue: this.#queueOn(machine),
          clock: this.hosts.clockOf(host),
          ids: this.ids,
          log: this.#log,
          queueName: DEFAULT_SERVICE_NAME,
        },
        repoId,
      );
      this.#witness.sometimes(`dispatch ${result.kind}`);
      if (result.kind !== 'reconciled') return;
      looked = true;
      this.#witness.sometimes(`outcome code ${result.outcome.errorCode ?? 'none'}`);
      // There is one deployment in a life.
      if (result.outcome.errorCode === 'another_queue')
        this.#witness.violate(`${repoId}: another queue is seen`);
      this.#witness.note(`${repoId} reconciled: ${result.outcome.errorCode ?? 'ok'}`);
      const repairs = { ask: async () => this.#clock.after(100, () => this.#repair(repoId)) };
      await wishRepairs({ store, repairs, clock: this.hosts.clockOf(host), log: this.#log }, result.repo);
      const backports = { ask: async () => this.#clock.after(100, () => this.#carry(repoId)) };
      await wishBackports({ store, backports, clock: this.hosts.clockOf(host), log: this.#log }, result.repo);
    });
    this.#witness.afterReconcile(repoId, looked);
    return settled;
  }

  /** The function that sets repositories up; the platform tries one that died no second time here. */
  async #repair(repoId: RepoId): Promise<void> {
    const forge = this.forges.get(repoId);
    if (forge === undefined) return;
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    await this.#settle(async () => {
      const { store, ids } = this;
      const kinds = await repairSetup(
        {
          store,
          ids,
          log: this.#log,
          secrets: new FakeSecretBox(),
          clock: this.hosts.clockOf(host),
          webhookUrl: 'https://queue.example/hook',
          queueName: DEFAULT_SERVICE_NAME,
          queue: this.#queueOn(machine),
          openForge: async () => ({ kind: 'open', forge: onMachine(machine, forge.admin) }),
        },
        repoId,
      );
      const tries = (await store.getRepo(repoId))?.repairs ?? [];
      if (kinds.length > 0) this.#witness.sometimes(`a repair is ${tries.at(-1)?.result}`);
      const isHasty = tries.some(({ at }, index) => at - (tries[index - 1]?.at ?? 0) < REPAIR_EVERY_MS);
      if (isHasty || tries.length > REPAIRS_A_DAY_MAX) this.#witness.violate(`${repoId}: repaired too often`);
    });
  }

  /** The function that carries landings. Functions of several looks may be at work on one repository at once. */
  async #carry(repoId: RepoId): Promise<void> {
    const forge = this.forges.get(repoId);
    if (forge === undefined) return;
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    await this.#settle(async () => {
      const carried = await carryLandings(
        {
          store: this.store,
          log: this.#log,
          clock: this.hosts.clockOf(host),
          queueName: DEFAULT_SERVICE_NAME,
          openPlanner: openBackportPlanner,
          openBackports: async () => ({ kind: 'open', forge: onMachine(machine, forge.backports) }),
        },
        repoId,
      );
      for (const { result } of carried.flatMap(({ backports }) => backports))
        this.#witness.sometimes(`a backport ends as ${result}`);
    });
  }

  /** Of the same worker: two calls of the forge by the function of idle looks. */
  async #glance(glance: DueGlance): Promise<'done' | 'retry' | 'died'> {
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    const settled = await this.#settle(async () => {
      const result = await answerGlance(
        {
          store: storeOn(machine, this.store),
          vault: { open: (owner) => machine.io('vault open', async () => this.#openToken(owner.tenantId)) },
          looker: { glance: (request) => this.#glanceAt(glance.repoId, request) },
          queue: this.#queueOn(machine),
          clock: this.hosts.clockOf(host),
          log: this.#log,
        },
        glance,
      );
      this.#witness.sometimes(`glance ${result}`);
      this.#witness.note(`${glance.repoId} glance ${glance.step}: ${result}`);
    });
    return host.dead ? 'died' : settled;
  }

  async #glanceAt(repoId: RepoId, request: GlanceRequest): Promise<GlanceAnswer> {
    const forge = this.forges.get(repoId);
    if (forge === undefined || forge.slug !== request.repoSlug)
      throw new Error(`a glance at ${request.repoSlug} in the name of ${repoId}`);
    const late = this.#clock.sleep(GLANCE_TIMEOUT_MS).then((): GlanceAnswer => ({ kind: 'failed' }));
    const machine = this.hosts.machineOn(this.hosts.newHost());
    return Promise.race([glanceAt(forgeOn(machine, forge.forge), request), late]);
  }

  /** As the worker has it: a look by a function of its own before the engine is asked. */
  #lookingEngine(repoId: RepoId, host: Host): EnginePort {
    const machine = this.hosts.machineOn(host);
    const store = storeOn(machine, this.store);
    const engine = this.#engine(repoId);
    return createLookingEngine(
      {
        store,
        looker: { look: (request) => this.#lookIdle(repoId, request) },
        clock: this.hosts.clockOf(host),
        log: this.#log,
      },
      {
        ...engine,
        // A failed look is caught by the service; of a dead machine nothing is sent.
        reconcile: (request, order) =>
          host.dead ? Promise.reject(new Crash()) : engine.reconcile(request, order),
      },
      repoId,
    );
  }

  async #lookIdle(repoId: RepoId, request: LookRequest): Promise<LookAnswer> {
    const forge = this.forges.get(repoId);
    if (forge === undefined || forge.slug !== request.repoSlug)
      throw new Error(`an idle look at ${request.repoSlug} in the name of ${repoId}`);
    const host = this.hosts.newHost();
    const failed = async (afterMs: number): Promise<never> => {
      await this.#clock.sleep(afterMs);
      throw new Error('the idle look failed');
    };
    const answer = await Promise.race([
      lookForWork(forgeOn(this.hosts.machineOn(host), forge.forge), this.hosts.clockOf(host), request).catch(
        (error: unknown) => (error instanceof Crash ? failed(0) : Promise.reject(error)),
      ),
      failed(LOOK_TIMEOUT_MS),
    ]);
    this.#witness.sometimes(`idle look ${answer.kind}`);
    return answer;
  }

  #openToken(tenantId: string): Secret<string> {
    if (this.#random.chance(this.odds.storeFails)) throw new VaultError('unavailable');
    return new Secret(tokenOf(tenantId));
  }

  #engine(repoId: RepoId): EnginePort {
    return {
      isHealthy: async () => true,
      reconcile: async (request, order) => {
        if (this.#random.chance(this.odds.engineLost)) {
          if (this.#random.chance(0.5)) return 'unreachable';
          // The request is under way for longer than its sender waits: it must not act under a newer lease.
          this.#witness.sometimes('engine request late');
          const lateMs = ENGINE_TIMEOUT_MS + this.#random.int(180_000);
          this.#clock.after(lateMs, async () => {
            await this.#runEngine(repoId, request, order);
          });
          await this.#clock.sleep(ENGINE_TIMEOUT_MS);
          return 'lost';
        }
        return new Promise((resolve) => {
          this.#runEngine(repoId, request, order).then(resolve, () => resolve('failed'));
          this.#clock.sleep(ENGINE_TIMEOUT_MS).then(() => resolve('lost'));
        });
      },
    };
  }

  async #runEngine(repoId: RepoId, request: ReconcileRequest, order: ReconcileOrder): Promise<EngineAnswer> {
    const { fence } = order;
    if (this.#container.dead) {
      this.#container = this.hosts.newHost();
      if (this.store.isLanding(repoId)) this.#witness.sometimes('restart in the middle of a landing');
    }
    const container = this.#container;
    const machine = this.hosts.machineOn(container);
    const reconciler = createReconciler({
      store: storeOn(machine, this.store),
      clock: this.hosts.clockOf(container),
      ids: this.ids,
      log: this.#log,
      forgeFor: (asked, held, mayRead) => {
        if (held.fence !== fence)
          this.#witness.violate(`asked under fence ${fence}, the engine works under ${held.fence}`);
        return this.#forgeFor(machine, asked, held, mayRead);
      },
      memory: container.memory,
    });
    let answer: EngineAnswer = 'failed';
    this.#atWork.add(`${repoId} ${fence}`);
    const settled = await this.#settle(async () => {
      answer = await reconciler(request, order);
    });
    this.#atWork.delete(`${repoId} ${fence}`);
    if (container.dead) return 'lost';
    return settled === 'done' ? answer : 'failed';
  }

  #forgeFor(
    machine: Machine,
    request: ReconcileRequest,
    held: HeldLease,
    mayRead: () => boolean,
  ): EngineForge {
    const { repoId, fence } = held;
    const forge = this.forges.get(repoId);
    if (
      forge === undefined ||
      forge.slug !== request.repoSlug ||
      request.token.reveal() !== tokenOf(request.tenantId)
    ) {
      this.#witness.violate(
        `the engine asks for ${request.repoSlug} of ${request.tenantId} in the name of ${repoId}`,
      );
      throw new ForgeError('denied', 'sim', 401);
    }
    const guarded: Machine = {
      // The deadline is looked at when the call is sent, after whatever kept the machine until then.
      io: (label, call) =>
        machine.io(label, () => {
          if (held.isPastDeadline()) return Promise.reject(new ForgeError('unreachable', label, null));
          if (!WRITES.has(label) && !mayRead()) return Promise.reject(new ReadNotBegun(label));
          if (WRITES.has(label)) this.#watchFence(repoId, label, fence);
          this.#callFence = fence;
          return call();
        }),
    };
    return forgeOn(guarded, forge.forge);
  }

  /** The call under way is carried out only in `delayMs`: no holder that took the lease over may have written by then (E7). */
  watchLate(repoId: RepoId, delayMs: number): void {
    const fence = this.#callFence;
    this.#clock.after(delayMs, () => {
      const newest = this.#fences.get(repoId) ?? 0;
      const overtaken = fence < newest && !this.store.wasReleased(repoId, fence);
      if (overtaken && this.odds.skewMs < SKEW_EXTREME_MS)
        this.#witness.violate(`a late call under fence ${fence} comes after one under ${newest}`);
    });
  }

  /** A40, A41: once a newer owner has written to the forge, an older one sends nothing more. */
  #watchFence(repoId: RepoId, label: string, fence: number): void {
    const newest = this.#fences.get(repoId) ?? 0;
    if (fence < newest && this.odds.skewMs < SKEW_EXTREME_MS) {
      this.#witness.violate(`${label} under fence ${fence} after one under ${newest}`);
    }
    this.#fences.set(repoId, Math.max(newest, fence));
  }
}

export function tokenOf(tenantId: string): string {
  return `canary-token-of-${tenantId}`;
}

/** Each call of this client may be the last thing that its machine does. */
function onMachine<Port extends object>(machine: Machine, port: Port): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
      if (name === 'then') return undefined;
      return (...values: unknown[]) => machine.io(`forge ${String(name)}`, () => call.apply(target, values));
    },
  });
}
