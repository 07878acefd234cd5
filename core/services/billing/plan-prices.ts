import { toPlanList } from '../../contracts/tenants/billing.ts';
import { PAID_TIERS, type PaidTier, type PlanLimitsTable } from '../../domain/tenants/billing.ts';
import { PLAN_PRICE_KEPT_MS, PLAN_PRICE_RETRY_MS, type PlanPrice } from '../../domain/tenants/plan-price.ts';
import { FLAT_KIND, type PriceBook } from '../../domain/tenants/subscription.ts';
import { type OpenPayments, PaymentsError } from '../../ports/payments.ts';
import type { Clock, Log } from '../../ports/system.ts';

export interface PlanPriceDeps {
  readonly openPayments: OpenPayments;
  /** Null: nothing is sold. */
  readonly prices: PriceBook | null;
  readonly planLimits: PlanLimitsTable;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

interface Kept {
  readonly price: PlanPrice | null;
  readonly until: number;
}

/**
 * The plans that are sold, with their prices as the provider tells them. A price that cannot be read is null: the page of
 * the plans does not wait for the provider to be well. Kept for an hour, since the provider counts calls.
 */
export function createPlanReader(deps: PlanPriceDeps): () => Promise<ReturnType<typeof toPlanList>> {
  const kept = new Map<PaidTier, Kept>();

  async function priceOf(tier: PaidTier): Promise<PlanPrice | null> {
    const known = kept.get(tier);
    if (known !== undefined && known.until > deps.clock.now()) return known.price;
    const price = await askPrice(deps, tier);
    kept.set(tier, {
      price,
      until: deps.clock.now() + (price === null ? PLAN_PRICE_RETRY_MS : PLAN_PRICE_KEPT_MS),
    });
    return price;
  }

  return async () => {
    const found = await Promise.all(PAID_TIERS.map(async (tier) => [tier, await priceOf(tier)] as const));
    const prices = Object.fromEntries(found) as Record<PaidTier, PlanPrice | null>;
    return toPlanList(deps.planLimits, prices);
  };
}

async function askPrice(
  { openPayments, prices, log }: PlanPriceDeps,
  tier: PaidTier,
): Promise<PlanPrice | null> {
  const id = prices?.[tier][FLAT_KIND];
  if (id === undefined) return null;
  try {
    return (await (await openPayments())?.readPrice(id)) ?? null;
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error;
    log.warn('the price of a plan could not be read', { tier, kind: error.kind, status: error.status });
    return null;
  }
}
