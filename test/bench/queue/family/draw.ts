import { createSeededRandom, type SeededRandom } from '../../../support/seeded-random.ts';
import type { Scenario } from '../workload.ts';

const PULL_REQUESTS = 200;
const WINDOW = 16;
const RUNNERS = [3, 4, 6, 8, 12] as const;
const GATE_MINUTES = [5, 10, 15, 30, 45] as const;
const BURST_SIZES = [8, 16, 32, 64] as const;
/** Gate durations after which the author of a wrongly bounced pull request schedules it again. */
const REQUEUE_GATES = 2;

/** Seeds of workloads that the policy may be tuned on are even; odd ones are for reports alone. */
export const isForTuning = (seed: number): boolean => seed % 2 === 0;

/** So many seeds from `first` on: even ones, or for a report odd ones. */
export function drawSeeds(count: number, first: number, isReport: boolean): readonly number[] {
  const seeds: number[] = [];
  for (let seed = first; seeds.length < count; seed += 1)
    if (isForTuning(seed) !== isReport) seeds.push(seed);
  return seeds;
}

/** A random workload: the same one for the same seed, for ever. */
export function drawWorkload(seed: number): Scenario {
  const random = createSeededRandom(seed);
  // The first numbers of neighbouring seeds are alike.
  for (let each = 0; each < 8; each += 1) random.next();
  const D = random.pick(GATE_MINUTES);
  const rate = between(random, 0.3, 20);
  const arrivals = drawArrivals(random, rate);
  const p = between(random, 0.005, 0.25);
  const f = random.chance(0.5) ? 0 : random.next() * 0.06;
  const q = random.chance(0.6) ? 0 : between(random, 0.001, 0.006);
  const c = random.chance(0.6) ? 0 : between(random, 0.001, 0.006);
  const isFixed = random.chance(0.4);
  const sigma = 0.1 + random.next() * 0.7;
  const failing = random.chance(0.6) ? 1 : 0.3 + random.next() * 0.7;
  const isCapped = random.chance(0.3);
  const C = random.pick(RUNNERS);
  const ci = { D, ...(failing === 1 ? {} : { failing: rounded(failing) }) };
  return {
    name: `family-${seed}`,
    n: PULL_REQUESTS,
    arrivals,
    p: rounded(p),
    ...(f === 0 ? {} : { f: rounded(f), requeue: REQUEUE_GATES * D }),
    ...(q === 0 ? {} : { q: rounded(q) }),
    ...(c === 0 ? {} : { c: rounded(c) }),
    ...(q + c === 0 ? {} : { W: WINDOW }),
    ...(isCapped ? { C } : {}),
    ci: isFixed ? { kind: 'fixed', ...ci } : { kind: 'lognormal', ...ci, sigma: rounded(sigma) },
    wake: drawWake(random),
  };
}

function drawArrivals(random: SeededRandom, rate: number): Scenario['arrivals'] {
  const kind = random.pick(['poisson', 'burst', 'day']);
  const size = random.pick(BURST_SIZES);
  if (kind === 'burst') return { kind, size, every: rounded(size / rate) };
  return { kind: kind === 'day' ? 'day' : 'poisson', rate: rounded(rate) };
}

/** From 5 s after an event to a look every 5 minutes. */
function drawWake(random: SeededRandom): NonNullable<Scenario['wake']> {
  const isTicking = random.chance(0.4);
  const share = random.next();
  return isTicking
    ? { kind: 'tick', min: 1 + Math.floor(share * 5) }
    : { kind: 'delay', sec: Math.round(5 * 12 ** share) };
}

/** Evenly over the logarithm. */
function between(random: SeededRandom, low: number, high: number): number {
  return low * (high / low) ** random.next();
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/** A workload in a few words. */
export function describeWorkload(scenario: Scenario): string {
  const { arrivals, ci, wake } = scenario;
  const comes =
    arrivals.kind === 'once'
      ? 'once'
      : arrivals.kind === 'burst'
        ? `${arrivals.size} every ${arrivals.every}`
        : `${arrivals.kind} ${arrivals.rate}`;
  const gate = `${ci.D} min${ci.sigma === undefined ? '' : ` sigma ${ci.sigma}`}${ci.failing === undefined ? '' : ` failing x${ci.failing}`}`;
  const more = (['f', 'q', 'c', 'C'] as const).flatMap((key) =>
    scenario[key] === undefined ? [] : [`${key} ${scenario[key]}`],
  );
  const looks = wake?.kind === 'tick' ? `tick ${wake.min} min` : `wake ${wake?.sec ?? 5} s`;
  return [comes, `p ${scenario.p}`, gate, ...more, looks].join(', ');
}
