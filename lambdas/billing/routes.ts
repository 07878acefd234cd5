import type { ApiHandlers } from '#core/http/api-call.ts';
import {
  type BillingDeps,
  changePlan,
  openPortal,
  readBillingSummary,
  startCheckout,
} from '#core/services/billing/billing.ts';
import { createPlanReader } from '#core/services/billing/plan-prices.ts';
import { type OffboardDeps, offboardTenant } from '#core/services/tenants/offboard.ts';

export function createBillingRoutes(deps: BillingDeps & OffboardDeps): ApiHandlers<'billing'> {
  const readPlans = createPlanReader(deps);
  return {
    readPlans: async () => ({ status: 200, body: await readPlans() }),
    readBilling: async ({ tenantId }) => ({ status: 200, body: await readBillingSummary(deps, tenantId) }),
    startCheckout: async ({ tenantId, body }) => ({
      status: 200,
      body: { checkout_url: await startCheckout(deps, tenantId, body.tier) },
    }),
    changePlan: async ({ tenantId, body }) => ({
      status: 200,
      body: { tier: await changePlan(deps, tenantId, body.tier) },
    }),
    openPortal: async ({ tenantId }) => ({
      status: 200,
      body: { portal_url: await openPortal(deps, tenantId) },
    }),
    offboardTenant: async ({ tenantId, body }) => ({
      status: 200,
      body: await offboardTenant(deps, tenantId, body.confirm),
    }),
  };
}
