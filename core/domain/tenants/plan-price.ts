/** The price of a plan is asked for anew after this long; one that could not be read, sooner. */
export const PLAN_PRICE_KEPT_MS = 60 * 60_000;
export const PLAN_PRICE_RETRY_MS = 60_000;

/** Price of a plan for one period, as the payment provider tells it. */
export interface PlanPrice {
  /** In the currency's own unit, with its decimals: `29.00`. */
  readonly amount: string;
  /** ISO 4217, upper case. */
  readonly currency: string;
  readonly interval: PriceInterval;
  /** Intervals between two charges. */
  readonly intervalCount: number;
}

export const PRICE_INTERVALS = ['day', 'week', 'month', 'year'] as const;
export type PriceInterval = (typeof PRICE_INTERVALS)[number];

/** Currencies without decimals that the provider counts in hundredths all the same (its page "Supported currencies"). */
const COUNTED_IN_HUNDREDTHS: readonly string[] = ['ISK', 'UGX'];

/** `2900` of `usd` is `29.00`; `500` of `jpy` is `500`. Null: no such currency. */
export function toAmount(smallestUnits: number, currency: string): string | null {
  const code = currency.toUpperCase();
  const decimals = COUNTED_IN_HUNDREDTHS.includes(code) ? 2 : decimalsOf(code);
  return decimals === null ? null : (smallestUnits / 10 ** decimals).toFixed(decimals);
}

function decimalsOf(code: string): number | null {
  try {
    const { maximumFractionDigits } = new Intl.NumberFormat('en', {
      style: 'currency',
      currency: code,
    }).resolvedOptions();
    return maximumFractionDigits ?? null;
  } catch {
    return null;
  }
}
