import { FORGE_TIMEOUT_MS } from '#core/domain/limits.ts';
import { StoreError } from '#core/ports/store.ts';
import type { Clock } from '#core/ports/system.ts';
import { EngineMemory } from '../../../engine-container/src/reconcile/engine-memory.ts';
import { Crash, type Machine } from '../../support/machine.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { SimClock } from '../../support/sim-clock.ts';
import { type Odds, SKEW_EXTREME_MS } from '../odds.ts';

/** Reports of the service to the life that it runs in. */
export interface Witness {
  note(line: string): void;
  violate(what: string): void;
  sometimes(what: string): void;
  /** A call was made; `struck` = it failed or was the last of its machine. */
  seen(label: string, struck: 'no' | 'fault' | 'crash'): void;
  /** `looked`: the engine was reached and went over it. */
  afterReconcile(repoId: string, looked: boolean): void;
  halted(repoId: string): void;
}

/** A Lambda or a container: it dies as a whole, and its clock may be wrong. */
export interface Host {
  dead: boolean;
  skewMs: number;
  /** The trees that an engine on this machine has read; gone with the machine. */
  readonly memory: EngineMemory;
}

/** The longest lives take a tenth of it; an engine that does the same thing again and again must not keep a run. */
const STEPS_MAX = 150_000;
/** With each look at a row that takes nothing, all of a crowd is read again. */
const STEPS_PER_PULL = 1_000;

/** A person or a program corrects a clock that is very wrong, before a call. */
const CLOCK_PUT_CHANCE = 0.002;

const THROTTLED_SHARE = 0.8;

const PATCH = 'forge applyPatch';

/** Calls that are made once in a long time would hardly ever be the last of a machine. */
const CRASHED_MORE_FACTOR = 20;
const CRASHED_MORE: ReadonlyMap<string, number> = new Map(
  [
    'store deleteRepo',
    'store deleteConnection',
    'store settleOff',
    'store listRepos',
    'store askStop',
    'store listRunningBatches',
    'store loadTenant',
    'store readObligations',
    'forge findRefInTheWay',
    'forge listMergedPullRequests',
    'forge listChangedFiles',
    'forge countDependencies',
    'store quarantineQueueRecord',
    'forge probeSchedule',
    'forge readBlob',
    'forge writeFiles',
    'forge cancelGateRun',
  ].map((label) => [label, CRASHED_MORE_FACTOR]),
);

/** … and these once in the life of a tenant that leaves. */
const ERASING: ReadonlySet<string> = new Set([
  'store listConnections',
  'store markConnectionDeleting',
  'store keepAudit',
  'store deleteHistory',
  'store deletePlan',
  'store deleteOrganization',
  'store deleteTenant',
]);
const ERASING_FACTOR = 100;

function factorOf(label: string): number {
  return ERASING.has(label) ? ERASING_FACTOR : (CRASHED_MORE.get(label) ?? 1);
}

/** One for all: a trace of where it was thrown costs more than the rest of a crash, and no reader needs it. */
const CRASH = new Crash();

/** The machines that the service runs on, as bad as the odds in force make them. */
export class Hosts {
  steps = 0;
  /** How wrong the clock of the present caller of the store is, ms. */
  storeSkewMs = 0;
  odds: Odds;
  /** Until then the store refuses most calls. */
  throttledUntil = Number.NEGATIVE_INFINITY;
  readonly #clock: SimClock;
  readonly #random: SeededRandom;
  readonly #witness: Witness;
  readonly #stepsMax: number;

  constructor(clock: SimClock, random: SeededRandom, odds: Odds, witness: Witness) {
    this.#clock = clock;
    this.#random = random;
    this.odds = odds;
    this.#stepsMax = STEPS_MAX + odds.crowd * STEPS_PER_PULL;
    this.#witness = witness;
  }

  newHost(): Host {
    return { dead: false, skewMs: this.#drawSkew(), memory: new EngineMemory() };
  }

  #drawSkew(): number {
    const most = Math.floor(this.odds.skewMs);
    return most === 0 ? 0 : this.#random.int(2 * most + 1) - most;
  }

  machineOn(host: Host): Machine {
    return { io: (label, call) => this.#io(host, label, call) };
  }

  clockOf(host: Host): Clock {
    return {
      now: () => this.#clock.now() + host.skewMs,
      monotonic: () => this.#clock.now(),
      sleep: async (ms) => {
        await this.#clock.sleep(ms);
        if (host.dead) throw CRASH;
      },
    };
  }

  async #io<Result>(host: Host, label: string, call: () => Promise<Result>): Promise<Result> {
    if (host.dead) throw CRASH;
    this.steps += 1;
    if (this.steps === this.#stepsMax) {
      this.#witness.violate('calls without end');
      this.#clock.stop();
    }
    this.#witness.seen(label, 'no');
    const { odds } = this;
    const random = this.#random;
    if (odds.skewMs >= SKEW_EXTREME_MS && random.chance(CLOCK_PUT_CHANCE)) host.skewMs = this.#drawSkew();
    if (random.chance(odds.slowCall))
      await this.#waitOn(host, 20 + random.int(random.chance(0.05) ? 9_000 : 800));
    if (random.chance(odds.pause)) {
      this.#witness.note(`PAUSE at ${label}`);
      this.#witness.sometimes('frozen machine');
      await this.#waitOn(host, 60_000 + random.int(340_000));
    }
    this.#mayCrash(host, label);
    const isStore = label.startsWith('store');
    if (isStore && this.#isThrottled()) throw this.#storeFault(label, 'before');
    if (isStore && random.chance(odds.storeFails)) throw this.#storeFault(label, 'before');
    this.storeSkewMs = isStore ? host.skewMs : 0;
    const answer = call();
    this.storeSkewMs = 0;
    const result = await (label === PATCH && odds.slowPatches > 0 ? this.#timeOut(host, answer) : answer);
    if (isStore && random.chance(odds.storeFails)) throw this.#storeFault(label, 'after');
    this.#mayCrash(host, label);
    return result;
  }

  /** A patch that fails where patches are slow has taken the time of a call. */
  async #timeOut<Result>(host: Host, answer: Promise<Result>): Promise<Result> {
    try {
      return await answer;
    } catch (error) {
      await this.#waitOn(host, FORGE_TIMEOUT_MS);
      throw error;
    }
  }

  #isThrottled(): boolean {
    return this.#clock.now() < this.throttledUntil && this.#random.chance(THROTTLED_SHARE);
  }

  async #waitOn(host: Host, ms: number): Promise<void> {
    await this.#clock.sleep(ms);
    if (host.dead) throw CRASH;
  }

  #mayCrash(host: Host, label: string): void {
    if (!this.#random.chance(this.odds.crash * factorOf(label))) return;
    host.dead = true;
    this.#witness.seen(label, 'crash');
    this.#witness.note(`CRASH at ${label}`);
    throw CRASH;
  }

  #storeFault(label: string, when: string): StoreError {
    this.#witness.seen(label, 'fault');
    this.#witness.note(`store fault ${when} ${label}`);
    return new StoreError('unavailable', label);
  }
}
