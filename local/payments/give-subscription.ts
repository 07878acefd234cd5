import type { TenantId } from '#core/domain/ids.ts';
import type { PaidTier } from '#core/domain/tenants/billing.ts';
import type { BillingStore } from '#core/ports/billing-store.ts';
import type { EnrollmentStore } from '#core/ports/store.ts';
import type { LocalPayments } from './provider.ts';
import { CARDS } from './world.ts';

export interface Gift {
  readonly tenantId: TenantId;
  readonly tier: PaidTier;
  /** The card fails from the second charge on, and that charge falls due at once. @default false */
  readonly unpaid?: boolean;
}

/**
 * A tenant that has bought already, on both sides, without waiting for events: what checkout, payment and webhook would
 * have left. Nothing where the tenant has a plan from an earlier start.
 */
export async function giveSubscription(
  store: BillingStore & Pick<EnrollmentStore, 'createTenant'>,
  payments: LocalPayments,
  gift: Gift,
): Promise<void> {
  const { tenantId, tier, unpaid = false } = gift;
  if ((await store.loadBilling(tenantId)) !== null) return;
  const { world, deliveries } = payments;
  deliveries.hold();
  const customer = world.createCustomer({ tenant_id: tenantId });
  const session = world.createCheckout({
    customer: customer.id,
    mode: 'subscription',
    reference: tenantId,
    successUrl: '',
    cancelUrl: '',
    lines: [{ price: `price_local_${tier}`, quantity: 1 }],
    subscriptionMetadata: { tenant_id: tenantId, tier },
  });
  world.pay(session.id, unpaid ? CARDS.failsLater : CARDS.good);
  const subscriptionId = world.state.sessions[session.id]?.subscription ?? '';
  if (unpaid) world.renew(subscriptionId);
  deliveries.release();
  await store.createTenant(tenantId, Date.now());
  const status = unpaid ? 'past_due' : 'active';
  await store.saveBilling(tenantId, { tier, status, customerId: customer.id, subscriptionId }, null, null);
}
