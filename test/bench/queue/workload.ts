import { readFileSync } from 'node:fs';
import { createSeededRandom, type SeededRandom } from '../../support/seeded-random.ts';

/** One workload of `scenarios.json`; the letters are explained in its `about`. */
export interface Scenario {
  readonly name: string;
  readonly n: number;
  readonly arrivals:
    | { readonly kind: 'once' }
    | { readonly kind: 'poisson'; readonly rate: number }
    /** `size` at once, every `every` gate durations. */
    | { readonly kind: 'burst'; readonly size: number; readonly every: number }
    /** `rate` from nine to six, hardly any outside; the first day begins at nine. */
    | { readonly kind: 'day'; readonly rate: number };
  readonly p?: number;
  readonly culprits?: number;
  readonly f?: number;
  readonly q?: number;
  readonly c?: number;
  readonly W?: number;
  readonly C?: number;
  readonly requeue?: number;
  readonly u?: number;
  /** The own CI of heads: the share of bad and of good ones that it fails. Area under the curve: (1 + bad - good) / 2. */
  readonly signal?: { readonly bad: number; readonly good: number };
  /** Setting `bot_queued_max`; absent: no limit. */
  readonly botQueuedMax?: number;
  readonly ci: {
    readonly kind: 'fixed' | 'lognormal';
    readonly D: number;
    readonly sigma?: number;
    /** Duration of a failing run as a multiple of a passing one. */
    readonly failing?: number;
  };
  readonly wake?:
    | { readonly kind: 'tick'; readonly min: number }
    | { readonly kind: 'delay'; readonly sec: number };
}

/** One pull request with the truth about it, which only the judge knows. */
export interface PlannedPullRequest {
  readonly number: number;
  readonly arrivesAtMs: number;
  readonly bad: boolean;
  /** Numbers of earlier ones that it fails with, though each passes alone. */
  readonly clashes: readonly number[];
  /** Numbers of earlier ones that it conflicts with textually. */
  readonly conflicts: readonly number[];
  /** Its head is up to date when it is scheduled, and its own CI has passed on it. */
  readonly tested?: boolean;
  /** What its own CI said; absent: it has none. */
  readonly ownCi?: 'success' | 'failure';
  /** A named account put the label of an incident on. */
  readonly isIncident?: true;
  /** Login; absent: one person who is not told apart. */
  readonly author?: string;
}

const MINUTE_MS = 60_000;
const WEBHOOK_MS = 5_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const WORK_MS = 9 * 60 * MINUTE_MS;
/** Share of the daily rate at which pull requests come outside working hours. */
const NIGHT_SHARE = 0.05;

export function readScenarios(file: string): readonly Scenario[] {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  return Object.entries(document)
    .filter(([name]) => name !== 'about')
    .map(([name, scenario]) => ({ ...(scenario as Omit<Scenario, 'name'>), name }));
}

/** Those of the names, or all. A mistyped name would be measured as nothing, and well. */
export function chooseScenarios(
  all: readonly Scenario[],
  names: readonly string[] | undefined,
): readonly Scenario[] {
  const known = all.map(({ name }) => name);
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no workload ${unknown}; they are ${known.join(', ')}`);
  return all.filter(({ name }) => names?.includes(name) ?? true);
}

export function ciDurationMs(scenario: Scenario): number {
  return scenario.ci.D * MINUTE_MS;
}

/** Duration of one run; lognormal around the median D. */
export function drawRunMs(
  scenario: Scenario,
  random: SeededRandom,
  verdict: 'success' | 'failure' = 'success',
): number {
  const usual = ciDurationMs(scenario) * (verdict === 'failure' ? (scenario.ci.failing ?? 1) : 1);
  if (scenario.ci.kind === 'fixed') return usual;
  return usual * Math.exp((scenario.ci.sigma ?? 0) * drawNormal(random));
}

/** When the queue looks next, for something that happens at `at`. */
export function wakeAfter(scenario: Scenario, at: number): number {
  if (scenario.wake === undefined) return at + WEBHOOK_MS;
  if (scenario.wake.kind === 'delay') return at + scenario.wake.sec * 1000;
  const tick = scenario.wake.min * MINUTE_MS;
  return Math.ceil(at / tick) * tick;
}

export function planPullRequests(scenario: Scenario, seed: number): readonly PlannedPullRequest[] {
  const random = createSeededRandom(seed * 2_654_435_761 + scenario.name.length);
  // A stream of its own, so that no other workload is another one.
  const own = createSeededRandom(seed * 2_654_435_761 + 1_000_003);
  const culprits = new Set<number>();
  while (culprits.size < (scenario.culprits ?? 0)) culprits.add(1 + random.int(scenario.n));
  const planned: PlannedPullRequest[] = [];
  let at = 0;
  for (let number = 1; number <= scenario.n; number += 1) {
    if (scenario.arrivals.kind === 'poisson') {
      at += (-Math.log(1 - random.next()) / scenario.arrivals.rate) * ciDurationMs(scenario);
    }
    if (scenario.arrivals.kind === 'burst') {
      const burst = Math.floor((number - 1) / scenario.arrivals.size);
      at = burst * scenario.arrivals.every * ciDurationMs(scenario);
    }
    if (scenario.arrivals.kind === 'day') {
      const meanMs = ciDurationMs(scenario) / scenario.arrivals.rate;
      do at += -Math.log(1 - random.next()) * meanMs;
      while (at % DAY_MS >= WORK_MS && !random.chance(NIGHT_SHARE));
    }
    const tested = own.chance(scenario.u ?? 0);
    // No person schedules a head that its own CI has failed.
    const bad = (culprits.has(number) || random.chance(scenario.p ?? 0)) && !tested;
    const window = planned.slice(-(scenario.W ?? 0));
    planned.push({
      number,
      arrivesAtMs: Math.round(at),
      bad,
      clashes: window
        .filter((earlier) => !bad && !earlier.bad && random.chance(scenario.q ?? 0))
        .map(({ number: other }) => other),
      conflicts: window.filter(() => random.chance(scenario.c ?? 0)).map(({ number: other }) => other),
      tested,
      ...(scenario.signal === undefined
        ? {}
        : { ownCi: own.chance(bad ? scenario.signal.bad : scenario.signal.good) ? 'failure' : 'success' }),
    });
  }
  return planned;
}

/** The same plan with this share of it as incidents, drawn apart: all else about it stays as it is. */
export function withIncidents(
  planned: readonly PlannedPullRequest[],
  share: number,
  seed: number,
): readonly PlannedPullRequest[] {
  const random = createSeededRandom(seed * 40_503 + 9);
  return planned.map((each) => (random.chance(share) ? { ...each, isIncident: true } : each));
}

function drawNormal(random: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}
