import { EnvOptionalText, EnvUrl, SurfaceEnv } from '#core/contracts/internal/env.ts';
import { PaymentsEnv, PlanEnv } from '#core/contracts/tenants/billing-config.ts';

export const BillingEnv = SurfaceEnv.extend(PlanEnv.shape).extend(PaymentsEnv.shape).extend({
  /** Key that may write at the provider; empty: payments are off. */
  PAYMENTS_KEY_SECRET_ID: EnvOptionalText,
  WAKE_QUEUE_URL: EnvUrl,
  /** Where people come back to from the provider's pages (D-57). */
  BILLING_PAGE_URL: EnvUrl,
});
