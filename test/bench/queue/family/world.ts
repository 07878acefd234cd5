import type { SeededRandom } from '../../../support/seeded-random.ts';
import {
  ciDurationMs,
  drawRunMs,
  type PlannedPullRequest as PullRequest,
  type Scenario,
  wakeAfter,
} from '../workload.ts';

/** One gate run of a modelled queue: the base of its start with these pull requests on it. */
export interface ModelRun {
  readonly list: readonly PullRequest[];
  /** The tree: equal for equal sets. */
  readonly tree: string;
  state: 'waiting' | 'out' | 'passed' | 'failed' | 'cancelled';
}

interface TimedRun extends ModelRun {
  endsAt: number;
  verdict: 'success' | 'failure';
}

/** A queue other than ours, as a rule: what it starts, lands and bounces when it is woken. */
export interface ModelQueue {
  readonly name: string;
  step(world: ModelWorld): void;
}

const MINUTE_MS = 60_000;

export const isOut = (run: ModelRun): boolean => run.state === 'out' || run.state === 'waiting';

/** The world of a modelled queue: pull requests, runners and the truth, in milliseconds of virtual time. */
export class ModelWorld {
  /** Pull requests that wait, in order of arrival. */
  line: PullRequest[] = [];
  /** Runs that ended since the last step, in the order of their ends. */
  ended: ModelRun[] = [];
  readonly landedAt = new Map<number, number>();
  readonly bouncedAt = new Map<number, number>();
  readonly scheduledAt = new Map<number, number>();
  readonly passedTrees = new Set<string>();
  readonly gateMs: number;
  readonly runners: number;
  now = 0;
  begun = 0;
  wrongBounces = 0;
  unproven = 0;
  red = 0;
  #wakeAt = Number.POSITIVE_INFINITY;
  #out: TimedRun[] = [];
  #waiting: TimedRun[] = [];
  #again: { readonly pr: PullRequest; readonly at: number }[] = [];
  #arrived = 0;
  #base = { high: 0, low: 0 };
  readonly #scenario: Scenario;
  readonly #random: SeededRandom;
  readonly #planned: readonly PullRequest[];

  constructor(scenario: Scenario, planned: readonly PullRequest[], random: SeededRandom) {
    this.#scenario = scenario;
    this.#planned = planned;
    this.#random = random;
    this.gateMs = ciDurationMs(scenario);
    this.runners = scenario.C ?? Number.POSITIVE_INFINITY;
  }

  /** Plays the queue until nothing is left to happen. */
  play(queue: ModelQueue): void {
    for (;;) {
      const next = this.#nextEvent();
      if (!Number.isFinite(next)) return;
      this.now = Math.max(this.now, wakeAfter(this.#scenario, next));
      if (this.#wakeAt <= this.now) this.#wakeAt = Number.POSITIVE_INFINITY;
      this.#arrive();
      this.#endRuns();
      queue.step(this);
      this.ended = [];
    }
  }

  treeOf(list: readonly PullRequest[]): string {
    let { high, low } = this.#base;
    for (const { number } of list) {
      high ^= mix(number, 0x9e3779b9);
      low ^= mix(number, 0x85ebca6b);
    }
    return `${high}:${low}`;
  }

  start(list: readonly PullRequest[]): ModelRun {
    const run: TimedRun = {
      list: [...list],
      tree: this.treeOf(list),
      state: 'waiting',
      endsAt: Number.POSITIVE_INFINITY,
      verdict: this.#isGreen(list) ? 'success' : 'failure',
    };
    this.#waiting.push(run);
    this.#fill(this.now);
    return run;
  }

  cancel(run: ModelRun): void {
    if (!isOut(run)) return;
    run.state = 'cancelled';
    this.#waiting = this.#waiting.filter((each) => each !== run);
    this.#out = this.#out.filter((each) => each !== run);
    this.#fill(this.now);
  }

  land(list: readonly PullRequest[]): void {
    if (!this.passedTrees.has(this.treeOf(list))) this.unproven += 1;
    if (!this.#isTrulyGreen(list)) this.red += 1;
    for (const pr of list) {
      this.landedAt.set(pr.number, this.now);
      this.#base = {
        high: this.#base.high ^ mix(pr.number, 0x9e3779b9),
        low: this.#base.low ^ mix(pr.number, 0x85ebca6b),
      };
    }
    this.line = this.line.filter((pr) => !list.includes(pr));
  }

  /** Out for a failing run; a good one that fails with nothing comes again where the workload says so. */
  bounce(pr: PullRequest, run: ModelRun): void {
    this.line = this.line.filter((each) => each !== pr);
    this.bouncedAt.set(pr.number, this.now);
    const isGuilty =
      pr.bad ||
      this.#planned.some(
        (other) =>
          (this.landedAt.has(other.number) || run.list.includes(other)) &&
          (pr.clashes.includes(other.number) || other.clashes.includes(pr.number)),
      );
    if (isGuilty) return;
    this.wrongBounces += 1;
    if (this.#scenario.requeue !== undefined)
      this.#again.push({ pr, at: this.now + this.#scenario.requeue * MINUTE_MS });
  }

  /** Out for a conflict with the base. */
  refuse(pr: PullRequest): void {
    this.line = this.line.filter((each) => each !== pr);
  }

  conflictsWithBase(pr: PullRequest): boolean {
    return pr.conflicts.some((other) => this.landedAt.has(other)) || this.#conflictsOfLater(pr);
  }

  conflictsWith(pr: PullRequest, list: readonly PullRequest[]): boolean {
    return list.some((other) => pr.conflicts.includes(other.number) || other.conflicts.includes(pr.number));
  }

  /** Another step at this time, besides those for arrivals and ends. */
  wakeAt(at: number): void {
    this.#wakeAt = Math.min(this.#wakeAt, Math.max(at, this.now));
  }

  #conflictsOfLater(pr: PullRequest): boolean {
    return this.#planned
      .slice(pr.number, pr.number + (this.#scenario.W ?? 0))
      .some((other) => other.conflicts.includes(pr.number) && this.landedAt.has(other.number));
  }

  #nextEvent(): number {
    const arrival = this.#planned[this.#arrived]?.arrivesAtMs ?? Number.POSITIVE_INFINITY;
    const others = [...this.#again.map((each) => each.at), ...this.#out.map((run) => run.endsAt)];
    return Math.min(arrival, this.#wakeAt, ...others);
  }

  #arrive(): void {
    for (;;) {
      const pr = this.#planned[this.#arrived];
      if (pr === undefined || pr.arrivesAtMs > this.now) break;
      this.line.push(pr);
      this.scheduledAt.set(pr.number, pr.arrivesAtMs);
      this.#arrived += 1;
    }
    for (const again of this.#again.filter((each) => each.at <= this.now)) {
      this.line.push(again.pr);
      this.scheduledAt.set(again.pr.number, again.at);
    }
    this.#again = this.#again.filter((each) => each.at > this.now);
  }

  /** A run that waits begins when another ends, not when the queue looks. */
  #endRuns(): void {
    for (;;) {
      const [first] = this.#out.filter((run) => run.endsAt <= this.now).sort((a, b) => a.endsAt - b.endsAt);
      if (first === undefined) return;
      this.#out = this.#out.filter((run) => run !== first);
      first.state = first.verdict === 'success' ? 'passed' : 'failed';
      if (first.state === 'passed') this.passedTrees.add(first.tree);
      this.ended.push(first);
      this.#fill(first.endsAt);
    }
  }

  #fill(at: number): void {
    while (this.#out.length < this.runners) {
      const run = this.#waiting.shift();
      if (run === undefined) return;
      run.state = 'out';
      run.endsAt = at + drawRunMs(this.#scenario, this.#random, run.verdict);
      this.#out.push(run);
      this.begun += 1;
    }
  }

  #isGreen(list: readonly PullRequest[]): boolean {
    const flake = this.#random.chance(this.#scenario.f ?? 0);
    return this.#isTrulyGreen(list) && !flake;
  }

  #isTrulyGreen(list: readonly PullRequest[]): boolean {
    const inside = new Set(list.map((pr) => pr.number));
    const isThere = (number: number) => inside.has(number) || this.landedAt.has(number);
    return list.every(
      (pr) =>
        !pr.bad &&
        !pr.clashes.some(isThere) &&
        !this.#planned
          .slice(pr.number, pr.number + (this.#scenario.W ?? 0))
          .some((other) => other.clashes.includes(pr.number) && isThere(other.number)),
    );
  }
}

function mix(number: number, salt: number): number {
  let mixed = Math.imul(number ^ salt, 0xcc9e2d51);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x27d4eb2f);
  return mixed ^ (mixed >>> 13);
}
