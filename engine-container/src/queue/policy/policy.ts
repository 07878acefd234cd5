import { BATCH_PULL_REQUESTS_MAX } from '#core/domain/limits.ts';
import type { OutcomeRate } from './rate.ts';

/** Assumed share of bad pull requests before a repo has a history (design: start with 5 %), with the weight of this many outcomes. */
const PRIOR_BAD_RATE = 0.05;
const PRIOR_WEIGHT = 20;
/** Assumed share of gate runs that fail though nothing is wrong, with the weight of this many. */
const PRIOR_FLAKE_RATE = 0.005;
const PRIOR_FLAKE_WEIGHT = 60;
/** Outcomes beyond this weight fade: the rate follows the repo's recent hundreds. */
const RATE_WEIGHT_MAX = 300;
/** A gate that fails by itself more often than this says nothing any more; the formulas stay sober. */
const FLAKE_RATE_MAX = 0.3;
/** Above this share of bad pull requests, testing one by one is optimal (Ungar 1960). */
const SINGLE_BAD_RATE = 0.382;
/**
 * Assumed chance to be good of one that passed already, on a base that has moved since, with the weight of this many outcomes:
 * it fails where two pull requests pass alone and not together, which repositories do more or less often.
 */
const STALE_PASS_GOOD_CHANCE = 0.995;
const STALE_PASS_WEIGHT = 100;
const NONE = { landed: 0, bounced: 0 };

export function badRate(rate: OutcomeRate): number {
  return (PRIOR_BAD_RATE * PRIOR_WEIGHT + rate.bounced) / (PRIOR_WEIGHT + rate.landed + rate.bounced);
}

export function flakeRate(rate: OutcomeRate): number {
  const share =
    (PRIOR_FLAKE_RATE * PRIOR_FLAKE_WEIGHT + rate.flaked) / (PRIOR_FLAKE_WEIGHT + rate.steady + rate.flaked);
  return Math.min(share, FLAKE_RATE_MAX);
}

/** Chance that a pull request of the queue passes. */
export function goodChance(
  rate: OutcomeRate,
  entry: { readonly passedOnStaleBase: boolean; readonly failureProbability: number | null },
): number {
  const good = 1 - (entry.failureProbability ?? badRate(rate));
  return entry.passedOnStaleBase ? Math.max(good, passedGoodChance(rate)) : good;
}

function passedGoodChance({ passedBefore = NONE }: OutcomeRate): number {
  const { landed, bounced } = passedBefore;
  return (STALE_PASS_GOOD_CHANCE * STALE_PASS_WEIGHT + landed) / (STALE_PASS_WEIGHT + landed + bounced);
}

export function countOutcome(
  rate: OutcomeRate,
  outcome: 'landed' | 'bounced',
  hadPassed = false,
): OutcomeRate {
  const counted = fade({ ...rate, [outcome]: rate[outcome] + 1 }, 'landed', 'bounced');
  if (!hadPassed) return counted;
  const before = rate.passedBefore ?? NONE;
  const passedBefore = { ...before, [outcome]: before[outcome] + 1 };
  const scale = Math.min(1, RATE_WEIGHT_MAX / (passedBefore.landed + passedBefore.bounced));
  return {
    ...counted,
    passedBefore: { landed: passedBefore.landed * scale, bounced: passedBefore.bounced * scale },
  };
}

export function countGateRun(rate: OutcomeRate, outcome: 'steady' | 'flaked', runs = 1): OutcomeRate {
  return fade({ ...rate, [outcome]: rate[outcome] + runs }, 'steady', 'flaked');
}

function fade(rate: OutcomeRate, one: 'landed' | 'steady', other: 'bounced' | 'flaked'): OutcomeRate {
  const total = rate[one] + rate[other];
  if (total <= RATE_WEIGHT_MAX) return rate;
  const scale = RATE_WEIGHT_MAX / total;
  return { ...rate, [one]: rate[one] * scale, [other]: rate[other] * scale };
}

/** The policy behind `bisect_fanout`: from thrift at 1 to speed at 16. */
export interface SpeculationPolicy {
  /** Batches of the pipeline whose verdict is out at the same time. */
  readonly depth: number;
  /** With slots to spare, a batch is as large as still passes this often. */
  readonly passChance: number;
  /** A batch is built on others only while all of them pass at least this often. */
  readonly aheadChance: number;
  /** Cuts of one failed batch that are gated at the same time. */
  readonly cuts: number;
  /** A failure that is more likely than this a flake is looked at once more, and the pipeline waits for that. */
  readonly rerunChance: number;
  /** So many batches of the pipeline start at once, and those after them evenly over a gate run; half of its places at most. */
  readonly promptPlaces: number;
  readonly pieces: PolicyPieces;
}

/** Parts of the policy that can be taken away. In production all are there; the bench takes them away to see what each is worth. */
export interface PolicyPieces {
  /** The pipeline goes on while suspects are searched beside it. */
  readonly isolation: boolean;
  /** Batches are tried beside a pipeline that is too risky to build on. */
  readonly trials: boolean;
  /** Batches grow under a backlog. */
  readonly growth: boolean;
  /** A failure may have no cause among the members. */
  readonly flakes: boolean;
  /** Rates follow the repo's history. */
  readonly learning: boolean;
  /** A repo whose gate runs are known not to fail by themselves needs no second failing one. */
  readonly trust: boolean;
  /** Suspects whose base has moved go on in the queue when no other waits there. */
  readonly rejoining: boolean;
  /** Nothing is built on a batch of the pipeline that has failed already and only waits for those below it. */
  readonly foresight: boolean;
  /** Cuts take only the slots that other suspects and the queue leave. */
  readonly sharing: boolean;
  /** Facts that are known of a pull request before its gate run size batches and place cuts. */
  readonly forecasts: boolean;
}

const ALL_PIECES: PolicyPieces = {
  isolation: true,
  trials: true,
  growth: true,
  flakes: true,
  learning: true,
  trust: true,
  rejoining: true,
  foresight: true,
  sharing: true,
  forecasts: true,
};

interface Preset extends Omit<SpeculationPolicy, 'pieces'> {
  readonly fanout: number;
}

const PRESETS: readonly [Preset, ...Preset[]] = [
  { fanout: 1, depth: 1, passChance: 0.5, aheadChance: 1, cuts: 1, rerunChance: 0.4, promptPlaces: 1 },
  { fanout: 4, depth: 1, passChance: 0.6, aheadChance: 0.55, cuts: 1, rerunChance: 0.5, promptPlaces: 1 },
  { fanout: 8, depth: 3, passChance: 0.82, aheadChance: 0.5, cuts: 4, rerunChance: 0.55, promptPlaces: 1 },
  { fanout: 16, depth: 16, passChance: 0.9, aheadChance: 0.5, cuts: 6, rerunChance: 0.5, promptPlaces: 8 },
];

/** Between the four presets the speculation policy runs evenly over the logarithm of the fan-out. */
export function policyOf(fanout: number): SpeculationPolicy {
  const upper = PRESETS.find((preset) => preset.fanout >= fanout) ?? PRESETS[0];
  const lower = PRESETS.findLast((preset) => preset.fanout < fanout) ?? PRESETS[0];
  const span = Math.log2(upper.fanout / lower.fanout);
  const share = span === 0 ? 1 : Math.log2(fanout / lower.fanout) / span;
  const between = (from: number, to: number) => from + (to - from) * share;
  return {
    depth: Math.floor(between(lower.depth, upper.depth)),
    passChance: between(lower.passChance, upper.passChance),
    aheadChance: between(lower.aheadChance, upper.aheadChance),
    cuts: Math.floor(between(lower.cuts, upper.cuts)),
    rerunChance: between(lower.rerunChance, upper.rerunChance),
    promptPlaces: Math.floor(between(lower.promptPlaces, upper.promptPlaces)),
    pieces: ALL_PIECES,
  };
}

/** Largest batch, from the front, that passes at least this often; never less than one. */
export function likelySize(good: readonly number[], passChance: number): number {
  let chance = 1;
  let size = 0;
  for (const each of good.slice(0, BATCH_PULL_REQUESTS_MAX)) {
    chance *= each;
    if (chance < passChance - 1e-9) break;
    size += 1;
  }
  return Math.max(1, size);
}

/**
 * The size that spends the fewest gate runs (nested group testing): smallest m with P(m pass) + P(m + 1 pass) <= 1, the
 * Golomb size where all are alike.
 */
export function thriftySize(good: readonly number[]): number {
  if ((good[0] ?? 0) < 1 - SINGLE_BAD_RATE) return 1;
  let chance = 1;
  for (let size = 1; size < BATCH_PULL_REQUESTS_MAX; size += 1) {
    chance *= good[size - 1] ?? 0;
    const next = good[size] ?? good.at(-1) ?? 0;
    if (chance * (1 + next) <= 1) return size;
  }
  return BATCH_PULL_REQUESTS_MAX;
}

/**
 * How many of the queue to stage: as many as pass with the speculation policy's chance; more, up to the thrifty size,
 * when what waits is more than the free slots take at that size.
 */
export function chooseBatchSize(options: {
  /** Chance of each waiting pull request to be good, in order. */
  readonly good: readonly number[];
  readonly fanout: number;
  readonly policy: SpeculationPolicy;
  /** Batches of the usual size that may start now. */
  readonly slots: number;
}): number {
  const { good, fanout, policy } = options;
  const ready = good.length;
  const thrifty = thriftySize(padded(good));
  if (fanout === 1) return Math.max(1, Math.min(thrifty, ready, BATCH_PULL_REQUESTS_MAX));
  const likely = likelySize(padded(good), policy.passChance);
  const share = Math.ceil(ready / Math.max(1, options.slots));
  const size = policy.pieces.growth ? Math.max(likely, Math.min(thrifty, share)) : likely;
  return Math.max(1, Math.min(size, ready, BATCH_PULL_REQUESTS_MAX));
}

/** The queue goes on as its last one is: who has not come yet is a stranger too. */
function padded(good: readonly number[]): readonly number[] {
  const last = good.at(-1) ?? 1 - PRIOR_BAD_RATE;
  return [...good, ...Array.from({ length: Math.max(0, BATCH_PULL_REQUESTS_MAX - good.length) }, () => last)];
}

/** The knowledge of an interval that failed: the chance of each to be the first bad one, and that none is. */
export interface Suspicion {
  /** One weight per suspect, in order; with `none` they sum to 1. */
  readonly weights: readonly number[];
  readonly none: number;
}

/**
 * Posterior of "the i-th suspect is the first bad one" and of "none is": good chances multiply up to it, and each
 * failing run of a prefix that does not reach it was a flake.
 */
export function suspect(options: {
  /** Chance of each suspect to be good, before any of these runs. */
  readonly good: readonly number[];
  /** Failing runs by the number of suspects that they contained; those that contained more than all are left out. */
  readonly failures: readonly number[];
  readonly flake: number;
}): Suspicion {
  const { good, failures, flake } = options;
  const weights: number[] = [];
  let before = 1;
  for (const [index, each] of good.entries()) {
    const flakes = failures.filter((length) => length <= index).length;
    weights.push(before * (1 - each) * flake ** flakes);
    before *= each;
  }
  const none = before * flake ** failures.length;
  const total = weights.reduce((sum, weight) => sum + weight, none);
  if (total <= 0) return { weights: good.map(() => 1 / Math.max(1, good.length)), none: 0 };
  return { weights: weights.map((weight) => weight / total), none: none / total };
}

/**
 * Cut points strictly inside (low, high), for suspects with these weights. One cut: the first of the search tree with
 * the fewest expected runs (Knuth 1971; for equal chances the nested table of Sobel and Groll). Several: the quantiles.
 */
export function chooseCuts(low: number, weights: readonly number[], slots: number): number[] {
  const inside = weights.length - 1;
  const count = Math.min(slots, inside);
  if (count <= 0) return [];
  if (count === 1) return [low + bestCut(weights)];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const cuts: number[] = [];
  let passed = 0;
  let index = 0;
  for (let each = 1; each <= count; each += 1) {
    const wanted = (total * each) / (count + 1);
    while (index < weights.length && passed + (weights[index] ?? 0) / 2 < wanted) {
      passed += weights[index] ?? 0;
      index += 1;
    }
    const previous = cuts.at(-1) ?? low;
    cuts.push(Math.min(Math.max(low + index, previous + 1), low + inside - (count - each)));
  }
  return cuts;
}

/** Root of the optimal alphabetic search tree over the weights: expected runs until one suspect is left are least. */
function bestCut(weights: readonly number[]): number {
  const size = weights.length;
  const sums = [0];
  for (const weight of weights) sums.push((sums.at(-1) ?? 0) + weight);
  const cost = new Float64Array((size + 1) * (size + 1));
  const cut = new Int32Array((size + 1) * (size + 1));
  const at = (from: number, to: number) => from * (size + 1) + to;
  for (let from = 0; from < size; from += 1) cut[at(from, from + 1)] = from + 1;
  for (let length = 2; length <= size; length += 1) {
    for (let from = 0; from + length <= size; from += 1) {
      const to = from + length;
      let best = Number.POSITIVE_INFINITY;
      let where = from + 1;
      // A tie goes to the middle: fewer rounds for the same runs.
      for (let middle = from + 1; middle < to; middle += 1) {
        const sum = (cost[at(from, middle)] ?? 0) + (cost[at(middle, to)] ?? 0);
        const nearer = Math.abs(2 * middle - from - to) < Math.abs(2 * where - from - to);
        if (sum < best - 1e-12 || (sum <= best + 1e-12 && nearer)) {
          best = Math.min(best, sum);
          where = middle;
        }
      }
      cost[at(from, to)] = best + (sums[to] ?? 0) - (sums[from] ?? 0);
      cut[at(from, to)] = where;
    }
  }
  return cut[at(0, size)] ?? 1;
}
