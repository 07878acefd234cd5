import { BATCH_PULL_REQUESTS_MAX } from '#core/domain/limits.ts';
import type { OutcomeRate } from './record.ts';

/** Assumed share of bad pull requests before a repo has a history (design: start with 5 %), with the weight of this many outcomes. */
const PRIOR_BAD_RATE = 0.05;
const PRIOR_WEIGHT = 20;
/** Outcomes beyond this weight fade: the rate follows the repo's recent hundreds. */
const RATE_WEIGHT_MAX = 300;
/** With slots to spare, the largest batch that still passes at least this often. */
const PASS_CHANCE_MIN = 0.6;
/** Above this share of bad pull requests, testing one by one is optimal (Ungar 1960). */
const SINGLE_BAD_RATE = 0.382;

export function badRate(rate: OutcomeRate): number {
  return (PRIOR_BAD_RATE * PRIOR_WEIGHT + rate.bounced) / (PRIOR_WEIGHT + rate.landed + rate.bounced);
}

export function countOutcome(rate: OutcomeRate, outcome: 'landed' | 'bounced'): OutcomeRate {
  const next = { ...rate, [outcome]: rate[outcome] + 1 };
  const total = next.landed + next.bounced;
  if (total <= RATE_WEIGHT_MAX) return next;
  const scale = RATE_WEIGHT_MAX / total;
  return { landed: next.landed * scale, bounced: next.bounced * scale };
}

/**
 * How many pull requests to stage. One slot: the Golomb size, smallest m with q^m + q^(m+1) <= 1, which spends the
 * fewest runs (nested group testing). More slots: the largest m whose chance to pass stays above a bar, but never less than
 * the Golomb size while the backlog is larger than what the slots take.
 */
export function chooseBatchSize(options: {
  readonly ready: number;
  readonly rate: OutcomeRate;
  readonly fanout: number;
}): number {
  const bad = badRate(options.rate);
  const good = 1 - bad;
  let size = 1;
  if (bad < SINGLE_BAD_RATE) {
    const golomb = goldenSize(good);
    const likely = Math.max(1, Math.floor(Math.log(PASS_CHANCE_MIN) / Math.log(good)));
    size = options.fanout === 1 || options.ready > likely * 2 ? golomb : likely;
  }
  return Math.max(1, Math.min(size, options.ready, BATCH_PULL_REQUESTS_MAX));
}

function goldenSize(good: number): number {
  for (let size = 1; size < BATCH_PULL_REQUESTS_MAX; size += 1) {
    if (good ** size + good ** (size + 1) <= 1) return size;
  }
  return BATCH_PULL_REQUESTS_MAX;
}

/** Cut points strictly inside (low, high), evenly spaced; one cut is the half (D-97). */
export function chooseCuts(low: number, high: number, slots: number): number[] {
  const inside = high - low - 1;
  const count = Math.min(slots, inside);
  const cuts: number[] = [];
  for (let index = 1; index <= count; index += 1) {
    const cut = low + Math.round((index * (high - low)) / (count + 1));
    const previous = cuts.at(-1) ?? low;
    cuts.push(Math.min(Math.max(cut, previous + 1), high - 1 - (count - index)));
  }
  return cuts;
}
