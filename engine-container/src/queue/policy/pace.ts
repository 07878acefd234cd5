import type { OutcomeRate, Pace } from './rate.ts';

/** A smoothed duration speaks of this many gate runs at most, and says something from this many on. */
const PACE_RUNS_MAX = 20;
const PACE_RUNS_MIN = 3;
/** Per gate run of another load: from full weight to none in about 250 of them. */
const PACE_FADE = 0.9925;
/** Gate runs that take this much longer than usual have waited for a runner. */
const CROWDED_FACTOR = 1.4;
/** So many standard errors longer: less is what durations of this spread do by chance. */
const CROWDED_ERRORS = 2.5;
const SMALL_SAMPLE = 2.7;

/**
 * Adds how long a gate run took that began with so many out: the mean and the variance of its logarithm. Other loads fade,
 * so that what was learned of them is tried again.
 */
export function countDuration(rate: OutcomeRate, load: number, ms: number): OutcomeRate {
  // The clock was set back meanwhile: nothing is known of this one.
  if (ms <= 0) return rate;
  const index = binOf(load);
  const paces = Array.from({ length: Math.max(rate.paces.length, index + 1) }, (_, at): Pace => {
    const pace = rate.paces[at] ?? { ms: 0, runs: 0 };
    return at === index ? withRun(pace, ms) : { ...pace, runs: pace.runs * PACE_FADE };
  });
  return { ...rate, paces };
}

function withRun(pace: Pace, ms: number): Pace {
  const runs = Math.min(pace.runs + 1, PACE_RUNS_MAX);
  if (runs <= 1 || pace.ms <= 0) return { ms, runs: Math.max(1, runs), spread: 0 };
  const share = 1 / runs;
  const off = Math.log(ms / pace.ms);
  const spread = (1 - share) * ((pace.spread ?? 0) + share * off ** 2);
  return { ms: Math.round(pace.ms * Math.exp(share * off)), runs, spread: Number(spread.toPrecision(4)) };
}

function binOf(load: number): number {
  return Math.ceil(Math.log2(Math.max(1, load)));
}

/** How long a gate run takes by itself: least among the loads of which enough recent ones speak. Null before the first. */
export function gateMsOf(rate: OutcomeRate): number | null {
  const known = rate.paces.filter(({ runs }) => runs > 0);
  const recent = known.filter(({ runs }) => runs >= PACE_RUNS_MIN);
  const told = (recent.length > 0 ? recent : known).map(({ ms }) => ms);
  return told.length === 0 ? null : Math.min(...told);
}

/**
 * Standard errors that are no chance, where the spread itself is known from so few gate runs: quantiles of Student's
 * distribution, to a tenth from four degrees of freedom on.
 */
function errorsNeeded(freedom: number): number {
  return CROWDED_ERRORS * (1 + SMALL_SAMPLE / Math.max(1, freedom));
}

/**
 * How many gate runs go on side by side on this repo's runners, as far as it shows: up to the load at which runs begin to
 * take clearly longer than those that began with fewer out. More would only wait in the runners' own line, where no
 * later insight can reach them. Where durations differ by themselves it takes more of them to show.
 */
export function runnersOf(rate: OutcomeRate): number {
  const fewer = { runs: 0, log: 0, spread: 0 };
  for (const [index, pace] of rate.paces.entries()) {
    if (pace.runs < PACE_RUNS_MIN) continue;
    const log = Math.log(Math.max(1, pace.ms));
    const spread = pace.spread ?? 0;
    const runs = fewer.runs + pace.runs;
    if (fewer.runs > 0) {
      const pooled = (fewer.spread * fewer.runs + spread * pace.runs) / runs;
      const error = Math.sqrt(pooled * (1 / fewer.runs + 1 / pace.runs));
      if (log - fewer.log > Math.max(Math.log(CROWDED_FACTOR), errorsNeeded(runs - 2) * error))
        return 2 ** (index - 1);
    }
    fewer.log = (fewer.log * fewer.runs + log * pace.runs) / runs;
    fewer.spread = (fewer.spread * fewer.runs + spread * pace.runs) / runs;
    fewer.runs = runs;
  }
  return Number.POSITIVE_INFINITY;
}
