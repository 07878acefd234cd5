import * as z from 'zod';
import {
  type Allowance,
  PAID_TIERS,
  PLAN_LIMITS,
  type PlanLimits,
  type PlanLimitsTable,
  TIERS,
  type Tier,
} from '../../domain/tenants/billing.ts';
import { FLAT_KIND, type PriceBook } from '../../domain/tenants/subscription.ts';

/** The configuration as an operator writes it; an error says in a sentence what is wrong. */
type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: string };

const PRICE = /^(pro|team)\.([a-z][a-z_]{0,31})=([A-Za-z0-9_]{1,255})$/;
const LIMIT = /^(free|pro|team)\.(connections|repos)=(\d{1,6}|none)\/(\d{1,6}|none)$/;

function listEntries(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/**
 * `pro.flat=price_1,team.flat=price_2[,pro.<kind>=…,team.<kind>=…]`: the price ids of each tier by what they charge for.
 * Empty: no prices, so nothing is sold.
 */
export function parsePriceBook(text: string): Parsed<PriceBook | null> {
  const book: Record<(typeof PAID_TIERS)[number], Record<string, string>> = { pro: {}, team: {} };
  const entries = listEntries(text);
  if (entries.length === 0) return { ok: true, value: null };
  const seen = new Set<string>();
  for (const entry of entries) {
    const [, tier, kind = '', priceId = ''] = PRICE.exec(entry) ?? [];
    const set = PAID_TIERS.find((each) => each === tier);
    if (set === undefined) return { ok: false, fault: `${entry}: must look like pro.flat=price_123` };
    if (seen.has(priceId) || book[set][kind] !== undefined) {
      return { ok: false, fault: `${entry}: each kind and each price may stand once` };
    }
    seen.add(priceId);
    book[set][kind] = priceId;
  }
  for (const kind of new Set([FLAT_KIND, ...PAID_TIERS.flatMap((tier) => Object.keys(book[tier]))])) {
    const missing = PAID_TIERS.find((tier) => book[tier][kind] === undefined);
    // A tier without this kind could be neither left nor reached by a change of plan.
    if (missing !== undefined) return { ok: false, fault: `${missing}.${kind} has no price` };
  }
  return { ok: true, value: book };
}

/** Prices as a deployment may have them: what a kind beside the flat one charges for is not counted and reported here. */
export function parseSoldPrices(text: string): Parsed<PriceBook | null> {
  const parsed = parsePriceBook(text);
  if (!parsed.ok || parsed.value === null) return parsed;
  const counted = Object.keys(parsed.value.pro).find((kind) => kind !== FLAT_KIND);
  return counted === undefined
    ? parsed
    : {
        ok: false,
        fault: `pro.${counted}: is charged by usage, which is not metered here; only flat prices are sold`,
      };
}

/** `pro.repos=10/50,team.connections=10/none`: included and ceiling, over the defaults (D-53). */
export function parsePlanLimits(text: string): Parsed<PlanLimitsTable> {
  const table: Record<Tier, PlanLimits> = { ...PLAN_LIMITS };
  for (const entry of listEntries(text)) {
    const [, tierText, resource, included, ceiling] = LIMIT.exec(entry) ?? [];
    const tier = TIERS.find((each) => each === tierText);
    if (tier === undefined || (resource !== 'connections' && resource !== 'repos')) {
      return { ok: false, fault: `${entry}: must look like pro.repos=10/50 or team.repos=50/none` };
    }
    const low = readAmount(included);
    const high = readAmount(ceiling);
    if (high !== null && (low === null || low > high)) {
      return { ok: false, fault: `${entry}: more is included than the ceiling allows` };
    }
    table[tier] = {
      included: withAmount(table[tier].included, resource, low),
      ceiling: withAmount(table[tier].ceiling, resource, high),
    };
  }
  return { ok: true, value: table };
}

function readAmount(text: string | undefined): number | null {
  return text === undefined || text === 'none' ? null : Number(text);
}

function withAmount(old: Allowance, resource: keyof Allowance, amount: number | null): Allowance {
  return { ...old, [resource]: amount };
}

function parsedBy<T>(parse: (text: string) => Parsed<T>) {
  return z.string().transform((text, context): T => {
    const parsed = parse(text);
    if (parsed.ok) return parsed.value;
    context.addIssue({ code: 'custom', message: parsed.fault });
    return z.NEVER;
  });
}

const EnvPriceBook = parsedBy(parsePriceBook);
/** For every function that knows ceilings or holds. */
export const PlanEnv = z.object({ PLAN_LIMITS: parsedBy(parsePlanLimits) });

/** Where the payment provider is and which prices it has; empty prices: no payments (contract, Billing). */
export const PaymentsEnv = z.object({
  PAYMENTS_API_URL: z.url(),
  PAYMENTS_PRICES: EnvPriceBook,
});
