import * as z from 'zod';
import {
  BILLING_STATUSES,
  entitledTier,
  needsPayment,
  PAID_TIERS,
  type Plan,
  type PlanLimitsTable,
  TIERS,
} from '../../domain/tenants/billing.ts';
import { type PlanPrice, PRICE_INTERVALS } from '../../domain/tenants/plan-price.ts';

/** Where a hold or a ceiling is lifted. */
export const BILLING_PORTAL_PATH = '/api/v1/billing/portal';
export const BILLING_CHECKOUT_PATH = '/api/v1/billing/checkout';

const Allowance = z.object({ connections: z.int().nullable(), repos: z.int().nullable() });
export const BillingSummary = z.object({
  tier: z.enum(TIERS),
  entitled_tier: z.enum(TIERS),
  status: z.enum(BILLING_STATUSES),
  payment_action_required: z.boolean(),
  connections: z.int(),
  repos: z.int(),
  limits: z.object({ included: Allowance, ceiling: Allowance }),
});

const Price = z.object({
  amount: z.string(),
  currency: z.string(),
  interval: z.enum(PRICE_INTERVALS),
  interval_count: z.int(),
});
export const PlanList = z.object({
  plans: z.array(
    z.object({
      tier: z.enum(PAID_TIERS),
      limits: z.object({ included: Allowance, ceiling: Allowance }),
      price: Price.nullable(),
    }),
  ),
});

export const TierBody = z.object({ tier: z.enum(PAID_TIERS) });
export const CheckoutStarted = z.object({ checkout_url: z.string() });
export const PlanChanged = z.object({ tier: z.enum(PAID_TIERS) });
export const PortalOpened = z.object({ portal_url: z.string() });
export const PaymentEventTaken = z.object({ received: z.literal(true) });

export function toBillingSummary(
  plan: Plan,
  used: { readonly connections: number; readonly repos: number },
  limits: PlanLimitsTable,
): z.infer<typeof BillingSummary> {
  const entitled = entitledTier(plan);
  return {
    tier: plan.tier,
    entitled_tier: entitled,
    status: plan.status,
    payment_action_required: needsPayment(plan),
    connections: used.connections,
    repos: used.repos,
    limits: limits[entitled],
  };
}

/** `prices`: null where a price is not known. */
export function toPlanList(
  limits: PlanLimitsTable,
  prices: Readonly<Record<(typeof PAID_TIERS)[number], PlanPrice | null>>,
): z.infer<typeof PlanList> {
  return { plans: PAID_TIERS.map((tier) => ({ tier, limits: limits[tier], price: toPrice(prices[tier]) })) };
}

function toPrice(price: PlanPrice | null): z.infer<typeof Price> | null {
  if (price === null) return null;
  const { amount, currency, interval, intervalCount } = price;
  return { amount, currency, interval, interval_count: intervalCount };
}
