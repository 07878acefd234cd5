import { SIGNALS, type Signal, type ToldForecast } from '#core/domain/queue/forecast.ts';

/** How often those with a signal landed and were bounced by the gate; counts fade. A logistic model with the logarithms of their ratios as weights. */
export interface Forecast {
  readonly landed: number;
  readonly bounced: number;
  /** By signal: how many of them had it; a signal that none had is absent. */
  readonly with: Readonly<Partial<Record<Signal, { readonly landed: number; readonly bounced: number }>>>;
}

/** Outcomes beyond this weight fade. */
const WEIGHT_MAX = 400;
/** A signal is held to say nothing with the weight of so many outcomes of each kind. */
const PRIOR_WEIGHT = 10;
/** Together signals change the odds by at most this factor: some tell the same twice. */
const FACTOR_MAX = 20;

const SHARE_MIN = 0.005;
/** A change of the odds by less than this is not told. */
const TOLD_FACTOR_MIN = 2;
/** Of each of these groups a pull request has one signal or none. */
const GROUPS: readonly (readonly Signal[])[] = [
  ['ci_failed', 'ci_passed'],
  ['bounced_before'],
  ['of_bot'],
  ['from_fork'],
];
const NONE = { landed: 0, bounced: 0 };

export const NO_FORECAST: Forecast = { landed: 0, bounced: 0, with: {} };

export function learnOutcome(
  forecast: Forecast,
  signals: readonly Signal[],
  outcome: 'landed' | 'bounced',
): Forecast {
  const total = forecast.landed + forecast.bounced + 1;
  const scale = total > WEIGHT_MAX ? WEIGHT_MAX / total : 1;
  const count = (before: { readonly landed: number; readonly bounced: number }, isOne: boolean) => {
    const now = isOne ? { ...before, [outcome]: before[outcome] + 1 } : before;
    return { landed: rounded(now.landed * scale), bounced: rounded(now.bounced * scale) };
  };
  const seen = SIGNALS.filter((signal) => signals.includes(signal) || forecast.with[signal] !== undefined);
  const withSignal = seen.map((signal) => {
    const before = forecast.with[signal] ?? NONE;
    return [signal, count(before, signals.includes(signal))] as const;
  });
  return { ...count(forecast, true), with: Object.fromEntries(withSignal) };
}

/** The factor by which what is known of a pull request changes its odds to be bad; 1: nothing does. */
export function factorOf(forecast: Forecast, signals: readonly Signal[]): number {
  const log = GROUPS.reduce((sum, group) => sum + Math.log(ratioOf(forecast, group, signals)), 0);
  return Math.exp(Math.max(-Math.log(FACTOR_MAX), Math.min(Math.log(FACTOR_MAX), log)));
}

/** Chance to be bad, with the usual chance and what the signals say. */
export function withSignals(usual: number, factor: number): number {
  const odds = (usual / (1 - usual)) * factor;
  return odds / (1 + odds);
}

/** Null: nothing moved it by much. */
export function tellForecast(
  forecast: Forecast,
  usual: number,
  signals: readonly Signal[],
): ToldForecast | null {
  const factor = factorOf(forecast, signals);
  if (Math.max(factor, 1 / factor) < TOLD_FACTOR_MIN) return null;
  const ratios = GROUPS.flatMap((group) => {
    const there = group.find((signal) => signals.includes(signal));
    return there === undefined ? [] : [{ signal: there, ratio: ratioOf(forecast, group, signals) }];
  });
  const because = ratios
    .map(({ signal, ratio }) => ({ signal, weight: factor > 1 ? ratio : 1 / ratio }))
    .filter(({ weight }) => weight > 1)
    .sort((one, other) => other.weight - one.weight)
    .map(({ signal }) => signal);
  const percent = (chance: number): number => Math.round(100 * chance);
  if (because.length === 0) return null;
  return { percent: percent(withSignals(usual, factor)), usualPercent: percent(usual), because };
}

/** How much more often bad ones have this signal of the group, or none of it, than good ones. */
function ratioOf(forecast: Forecast, group: readonly Signal[], signals: readonly Signal[]): number {
  const there = group.find((signal) => signals.includes(signal));
  const withThem = (there === undefined ? group : [there]).map((signal) => forecast.with[signal] ?? NONE);
  const sum = (kind: 'landed' | 'bounced') => withThem.reduce((total, each) => total + each[kind], 0);
  const share = (kind: 'landed' | 'bounced'): number => {
    const usual = (sum('landed') + sum('bounced') + 1) / (forecast.landed + forecast.bounced + 2);
    return (sum(kind) + PRIOR_WEIGHT * usual) / (forecast[kind] + PRIOR_WEIGHT);
  };
  const [bad, good] = [bounded(share('bounced')), bounded(share('landed'))];
  return there === undefined ? (1 - bad) / (1 - good) : bad / good;
}

/** A signal that all have, or none, says little: no ratio is without bounds. */
const bounded = (share: number): number => Math.min(1 - SHARE_MIN, Math.max(SHARE_MIN, share));
const rounded = (value: number): number => Math.round(value * 100) / 100;
