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

/**
 * The provider counts in hundredths but for these (https://docs.stripe.com/currencies, "Zero-decimal currencies" and
 * "Three-decimal currencies"). What the runtime knows of decimals is how money is written, which is another thing: none for
 * forints, pesos of Colombia or rupiahs, which the provider counts in hundredths.
 */
const COUNTED_WHOLE: readonly string[] = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(
  ' ',
);
const COUNTED_IN_THOUSANDTHS: readonly string[] = ['BHD', 'JOD', 'KWD', 'OMR', 'TND'];

/** `2900` of `usd` is `29.00`; `500` of `jpy` is `500`. Null: no such currency. */
export function toAmount(smallestUnits: number, currency: string): string | null {
  const code = currency.toUpperCase();
  if (!/^[A-Z]{3}$/.test(code)) return null;
  const decimals = COUNTED_WHOLE.includes(code) ? 0 : COUNTED_IN_THOUSANDTHS.includes(code) ? 3 : 2;
  return (smallestUnits / 10 ** decimals).toFixed(decimals);
}
