import type { PlannedPullRequest as PullRequest, Scenario } from '../../workload.ts';

/** Outcomes of the same repository before the first arrival. */
const HISTORY = 200;
const FADE = 0.998;
const BAD_MIN = 0.001;
const BAD_MAX = 0.6;
const FLAKE_MIN = 1e-6;

/** Beta counts of bad ones, of runs that fail by themselves, and of bad ones among those that passed on an older base. */
export class Belief {
  readonly cleared = new Set<PullRequest>();
  #bad = 1;
  #good = 19;
  #flaked = 0.25;
  #steady = 50;
  #clearedBad = 0.2;
  #clearedGood = 100;

  constructor(scenario: Scenario) {
    const bad = scenario.culprits === undefined ? (scenario.p ?? 0) : 0.05;
    this.#bad += HISTORY * bad;
    this.#good += HISTORY * (1 - bad);
    this.#flaked += HISTORY * (scenario.f ?? 0);
    this.#steady += HISTORY * (1 - (scenario.f ?? 0));
  }

  /** Chance of a stranger to be bad. */
  get bad(): number {
    return Math.min(BAD_MAX, Math.max(BAD_MIN, this.#bad / (this.#bad + this.#good)));
  }

  get flake(): number {
    return Math.max(FLAKE_MIN, this.#flaked / (this.#flaked + this.#steady));
  }

  goodChance(pr: PullRequest): number {
    if (!this.cleared.has(pr)) return 1 - this.bad;
    return this.#clearedGood / (this.#clearedBad + this.#clearedGood);
  }

  passChance(list: readonly PullRequest[]): number {
    return list.reduce((product, pr) => product * this.goodChance(pr), 1);
  }

  noteLanded(pr: PullRequest): void {
    if (this.cleared.delete(pr)) {
      this.#clearedGood += 1;
      return;
    }
    this.#bad *= FADE;
    this.#good = this.#good * FADE + 1;
  }

  noteBounced(pr: PullRequest): void {
    if (this.cleared.delete(pr)) {
      this.#clearedBad += 1;
      return;
    }
    this.#bad = this.#bad * FADE + 1;
    this.#good *= FADE;
  }

  noteSteady(): void {
    this.#steady += 1;
  }

  noteFlaked(runs: number): void {
    this.#flaked += runs;
  }
}
