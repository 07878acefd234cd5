import type { EpochMs } from '#core/domain/ids.ts';
import { BISECT_FANOUT_MAX } from '#core/domain/limits.ts';
import type { ChosenFanout, FanoutReason } from '#core/domain/queue/auto-fanout.ts';

/** Kept while the engine chooses how many gate runs are out at once (`bisect_fanout: auto`). */
export interface AutoFanout {
  /** 1 to `BISECT_FANOUT_MAX`. */
  readonly inForce: number;
  readonly reason: FanoutReason;
  /** Gate runs that were counted; fades. */
  readonly runs: number;
  /** Gate runs that the landings meanwhile would take at `BASE_FANOUT` if each took one; fades. */
  readonly expected: number;
  /** Gate runs for each 100 landed pull requests that might be spent when it was chosen. */
  readonly budget: number;
  /** Since the number was chosen. */
  readonly since: { readonly runs: number; readonly landed: number };
  /** When the last pull request came into the queue, and the smoothed time between two; null: one was seen. Absent: none was. */
  readonly arrivals?: { readonly at: EpochMs; readonly gapMs: number | null };
}

/** Where it begins, and what the others are compared with. Two and three at once take more runs than four, and longer. */
export const BASE_FANOUT = 4;
const CANDIDATES: readonly number[] = [
  1,
  ...Array.from({ length: BISECT_FANOUT_MAX - BASE_FANOUT + 1 }, (_, index) => BASE_FANOUT + index),
];
/** One at a time takes this share of the gate runs that four at once take (bench, tuning seeds 4000 to 4020). */
const ONE_SHARE = 0.85;
/** Each doubling above four takes at most 2 to this more gate runs, where much arrives within a gate run (the same seeds). */
const GROWTH = 0.6;
/** Gate runs for each landed pull request at four at once, before any has landed, with the weight of this many. */
const PRIOR_RUNS = 0.6;
const PRIOR_WEIGHT = 4;
/** The number is chosen anew after this many landings. */
export const CHOSEN_AFTER_LANDED = 12;
/** The first time after fewer. */
const LEARNED_AFTER_LANDED = 6;
/** Weight of what was counted before the last choice. */
const KEPT = 0.85;
const GAP_WEIGHT = 1 / 32;
/** A longer time without schedules is a night. */
const GAP_MS_MAX = 60 * 60_000;
/** One at a time keeps up while its gate runs take less than this share of the time. */
const BUSY_SHARE_MAX = 0.9;

/** Before anything has landed: as if `PRIOR_RUNS` were what it takes. */
export function startAutoFanout(budget: number): AutoFanout {
  const none = { runs: 0, expected: 0, budget, since: { runs: 0, landed: 0 } };
  return choose({ ...none, inForce: BASE_FANOUT, reason: 'learning' }, null, 'learning');
}

export function countArrival(auto: AutoFanout, at: EpochMs): AutoFanout {
  const { arrivals } = auto;
  if (arrivals === undefined) return { ...auto, arrivals: { at, gapMs: null } };
  const gap = Math.min(GAP_MS_MAX, Math.max(0, at - arrivals.at));
  const gapMs = arrivals.gapMs === null ? gap : arrivals.gapMs + GAP_WEIGHT * (gap - arrivals.gapMs);
  return { ...auto, arrivals: { at: Math.max(at, arrivals.at), gapMs: Math.round(gapMs) } };
}

export interface FanoutFacts {
  /** How long a gate run takes; null: none has ended. */
  readonly gateMs: number | null;
  /** Gate runs for each 100 landed pull requests that may be spent. */
  readonly budget: number;
  /** Gate runs that are out: what they are for has not landed, so that they count for the next choice. */
  readonly out: number;
}

/**
 * The number for the pull requests that land next: the most gate runs at once whose cost stays within the budget. One at
 * a time is none of them where it would not keep up with what arrives. Chosen anew after `CHOSEN_AFTER_LANDED` landings,
 * and for another budget; it falls by half at most, because a few landings tell little.
 */
export function chooseAutoFanout(auto: AutoFanout, { gateMs, budget, out }: FanoutFacts): AutoFanout {
  const isLearning = auto.reason === 'learning';
  const isDue = auto.since.landed >= (isLearning ? LEARNED_AFTER_LANDED : CHOSEN_AFTER_LANDED);
  if (!isDue && auto.budget === budget) return auto;
  if (!isDue && isLearning) return { ...startAutoFanout(budget), since: auto.since, ...arrivalsOf(auto) };
  const within = arrivalsWithin(auto, gateMs);
  return choose({ ...auto, budget, ...(isDue ? learn(auto, within, out) : {}) }, within, null);
}

function choose(auto: AutoFanout, within: number | null, because: FanoutReason | null): AutoFanout {
  const cost = (fanout: number): number => runsPer100(auto, fanout, within);
  const keepsUp = within !== null && (within * cost(1)) / 100 <= BUSY_SHARE_MAX;
  const fewest = keepsUp ? 1 : BASE_FANOUT;
  const isHigh = auto.inForce > BASE_FANOUT;
  const least = isHigh ? Math.max(BASE_FANOUT, Math.ceil(auto.inForce / 2)) : fewest;
  const open = CANDIDATES.filter((fanout) => fanout >= least);
  const inForce = open.findLast((fanout) => cost(fanout) <= auto.budget) ?? open[0] ?? BASE_FANOUT;
  const above = isHigh ? 'falls' : inForce === 1 ? 'fewest' : 'keeps_up';
  const paid = inForce === BISECT_FANOUT_MAX ? 'most' : 'budget';
  return { ...auto, inForce, reason: because ?? (cost(inForce) <= auto.budget ? paid : above) };
}

function learn({ runs, expected, since, inForce }: AutoFanout, within: number | null, out: number) {
  const ended = Math.max(0, since.runs - out);
  return {
    runs: rounded(KEPT * runs + ended),
    expected: rounded(KEPT * expected + since.landed * growth(inForce, within)),
    since: { runs: since.runs - ended, landed: 0 },
  };
}

/** The choice as it is told. */
export function toChosenFanout(auto: AutoFanout, gateMs: number | null): ChosenFanout {
  const isKnown = auto.reason !== 'learning';
  const cost = runsPer100(auto, auto.inForce, arrivalsWithin(auto, gateMs));
  const { inForce, reason, budget } = auto;
  return { inForce, reason, runsPer100Landed: isKnown ? Math.round(cost) : null, budget };
}

/** Pull requests that are scheduled within the time of one gate run; null: not known. */
function arrivalsWithin({ arrivals }: AutoFanout, gateMs: number | null): number | null {
  const gapMs = arrivals?.gapMs ?? null;
  return gapMs === null || gateMs === null ? null : gateMs / Math.max(1, gapMs);
}

/** Gate runs of a pull request with so many at once, as a multiple of those with four. */
function growth(fanout: number, within: number | null): number {
  if (fanout < BASE_FANOUT) return ONE_SHARE;
  const share = within === null ? 1 : within / (within + 0.5);
  return (fanout / BASE_FANOUT) ** (GROWTH * share);
}

function runsPer100({ runs, expected }: AutoFanout, fanout: number, within: number | null): number {
  const each = (runs + PRIOR_WEIGHT * PRIOR_RUNS) / (expected + PRIOR_WEIGHT);
  return 100 * each * growth(fanout, within);
}

function arrivalsOf({ arrivals }: AutoFanout): Pick<AutoFanout, 'arrivals'> {
  return arrivals === undefined ? {} : { arrivals };
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;
