import type { PaymentsWorld } from './world.ts';

/**
 * As a person at the provider's own console. Its subscriptions end at once, nothing is done for it any more, and it can still
 * be read: as `deleted` (https://docs.stripe.com/api/customers/delete).
 */
export function deleteCustomer(world: PaymentsWorld, id: string): void {
  const customer = world.customer(id);
  for (const subscription of world.listSubscriptions(id, null)) world.cancel(subscription.id);
  world.state.customers[id] = { ...customer, deleted: true };
}
