import * as z from 'zod';
import { PAID_TIERS } from '../../domain/tenants/billing.ts';
import { type PlanPrice, PRICE_INTERVALS, toAmount } from '../../domain/tenants/plan-price.ts';
import { readStatus, type Subscription } from '../../domain/tenants/subscription.ts';

/** Id of a reference, which is an id, or a whole object where the account's settings expand it. */
const Reference = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);

/** Fields of a subscription that are used. People can edit metadata, so a wrong value in it counts as absent. */
export const SubscriptionAnswer = z
  .object({
    id: z.string(),
    customer: Reference,
    status: z.string(),
    created: z.int(),
    items: z.object({ data: z.array(z.object({ id: z.string(), price: z.object({ id: z.string() }) })) }),
    metadata: z
      .object({
        tier: z.enum(PAID_TIERS).nullable().catch(null),
        tenant_id: z.uuid().nullable().catch(null),
      })
      .catch({ tier: null, tenant_id: null }),
  })
  .transform(
    (row): Subscription => ({
      id: row.id,
      customerId: row.customer,
      status: readStatus(row.status),
      items: row.items.data.map(({ id, price }) => ({ id, priceId: price.id })),
      tierNoted: row.metadata.tier,
      tenantNoted: row.metadata.tenant_id,
      createdAt: row.created * 1000,
    }),
  );

export const SubscriptionList = z.object({ data: z.array(SubscriptionAnswer) });

/** Fields of a price; one by tiers or by usage has no amount for a period. */
export const PriceAnswer = z
  .object({
    currency: z.string(),
    unit_amount: z.int().min(0),
    billing_scheme: z.literal('per_unit'),
    recurring: z.object({
      interval: z.enum(PRICE_INTERVALS),
      interval_count: z.int().min(1),
      usage_type: z.literal('licensed'),
    }),
  })
  .transform(({ currency, unit_amount, recurring }): PlanPrice | null => {
    const amount = toAmount(unit_amount, currency);
    const { interval, interval_count: intervalCount } = recurring;
    return amount === null ? null : { amount, currency: currency.toUpperCase(), interval, intervalCount };
  });
