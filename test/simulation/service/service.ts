import type { RepoId } from '#core/domain/ids.ts';
import { TICK_INTERVAL_MS, WORKERS_MAX } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import type { Log } from '#core/ports/system.ts';
import { wishBackports } from '#core/services/pulls/backport.ts';
import { wishRepairs } from '#core/services/set-up/repair-setup.ts';
import { dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { wakeDueRepos } from '#core/services/wakes/send-wakes.ts';
import { acceptForgeWebhook } from '#core/services/webhooks/accept-forge-webhook.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { FakeSecretBox } from '../../fakes/secret-box.ts';
import { storeOn, type WorkerStore } from '../../support/machine.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { SimClock } from '../../support/sim-clock.ts';
import type { Odds } from '../odds.ts';
import { WatchedStore } from '../sightings.ts';
import { Chores } from './chores.ts';
import { EngineHost } from './engine-host.ts';
import { Hosts, type Witness } from './hosts.ts';
import { openToken, type Parts, type Settled, settle } from './parts.ts';
import { type SignedText, Signer } from './signer.ts';
import { type Alarms, createSimLog } from './sim-log.ts';
import { WakeMessages } from './wake-messages.ts';

const THROTTLED_MS_MAX = 4 * 60_000;
const HIDDEN_MS_MAX = 15 * 60_000;
const FIRST_ID = 10_000_000;

/** Worker, engine, tick, delayed wakes and webhooks: the real code, on machines that fail. */
export class SimService {
  readonly store: WatchedStore;
  readonly forges = new Map<RepoId, AbstractForge>();
  /** Alarm, repo and pull request, as far as any was raised. */
  readonly alarms: Alarms = new Map();
  readonly hosts: Hosts;
  readonly engine: EngineHost;
  readonly #clock: SimClock;
  readonly #random: SeededRandom;
  readonly #witness: Witness;
  #nextId = 0;
  #nextDelivery = 0;
  readonly #log: Log;
  readonly #hiddenUntil = new Map<RepoId, number>();
  readonly #signer = new Signer();
  readonly #parts: Parts;
  readonly #messages: WakeMessages;
  readonly #chores: Chores;
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
    this.#log = createSimLog(witness, this.alarms, () => clock.now());
    const { store, forges, ids } = this;
    this.#parts = { clock, random, witness, hosts, store, forges, ids, log: this.#log };
    this.engine = new EngineHost(this.#parts);
    this.#messages = new WakeMessages(this.#parts, {
      looksIdle: this.#looksIdle,
      work: (repoId) => this.#work(repoId),
      glance: (glance) => this.#chores.glance(glance),
    });
    this.#chores = new Chores(this.#parts, (machine) => this.#messages.queueOn(machine));
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
    if (wakeSeq !== null) this.#messages.send(repoId, wakeSeq);
  }

  send(repoId: RepoId, wakeSeq: number): void {
    this.#messages.send(repoId, wakeSeq);
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

  /** The store as a request of the API has it. */
  storeOfApi(): WorkerStore {
    return storeOn(this.hosts.machineOn(this.hosts.newHost()), this.store);
  }

  /** A request of the API: a refusal, or a machine that dies, is no defect. */
  settle(run: () => Promise<unknown>): Promise<Settled> {
    return settle(this.#witness, run);
  }

  async #tick(): Promise<void> {
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    await settle(this.#witness, () =>
      wakeDueRepos({
        store: storeOn(machine, this.store),
        queue: this.#messages.queueOn(machine),
        clock: this.hosts.clockOf(host),
        log: this.#log,
        planLimits: PLAN_LIMITS,
      }),
    );
  }

  async #acceptHook(hook: SignedText & { type: string; deliveryId: string }): Promise<void> {
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    const store = storeOn(machine, this.store);
    await settle(this.#witness, async () => {
      const outcome = await acceptForgeWebhook(
        {
          store,
          leases: store,
          queue: this.#messages.queueOn(machine),
          clock: this.hosts.clockOf(host),
          secrets: new FakeSecretBox(),
          queueName: DEFAULT_SERVICE_NAME,
          planLimits: PLAN_LIMITS,
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

  async #work(repoId: RepoId): Promise<Settled> {
    const host = this.hosts.newHost();
    const machine = this.hosts.machineOn(host);
    const store = storeOn(machine, this.store);
    const engine = this.engine.portFor(repoId);
    let looked = false;
    const settled = await settle(this.#witness, async () => {
      const result = await dispatchReconcile(
        {
          store,
          leases: store,
          planLimits: PLAN_LIMITS,
          workersMax: WORKERS_MAX,
          vault: {
            seal: () => Promise.reject(new Error('nothing is sealed here')),
            open: (owner) => machine.io('vault open', async () => openToken(this.#parts, owner.tenantId)),
          },
          engine: this.#looksIdle ? this.#chores.lookingEngine(engine, repoId, host) : engine,
          queue: this.#messages.queueOn(machine),
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
      const repairs = { ask: async () => this.#clock.after(100, () => this.#chores.repair(repoId)) };
      await wishRepairs({ store, repairs, clock: this.hosts.clockOf(host), log: this.#log }, result.repo);
      const backports = { ask: async () => this.#clock.after(100, () => this.#chores.carry(repoId)) };
      await wishBackports({ store, backports, clock: this.hosts.clockOf(host), log: this.#log }, result.repo);
    });
    this.#witness.afterReconcile(repoId, looked);
    return settled;
  }
}
