import { CommonEnv, EdgeEnv, EnvOptionalText, EnvText, EnvUrl } from '#core/contracts/internal/env.ts';
import { PaymentsEnv, PlanEnv } from '#core/contracts/tenants/billing-config.ts';

export const ForgeWebhookEnv = CommonEnv.extend(PlanEnv.shape).extend(EdgeEnv.shape).extend({
  /** As every function that limits by address has it. */
  EDGE_STAMP: EnvOptionalText,
  TABLE_NAME: EnvText,
  WAKE_QUEUE_URL: EnvUrl,
  DELAYED_WAKE_QUEUE_URL: EnvUrl,
  /** Whose branches the queue's own are (D-91). */
  QUEUE_NAME: EnvText,
});

export const PaymentsWebhookEnv = CommonEnv.extend(PaymentsEnv.shape).extend(EdgeEnv.shape).extend({
  TABLE_NAME: EnvText,
  /** Restricted key that may read subscriptions; empty: payments are off. */
  PAYMENTS_READ_KEY_SECRET_ID: EnvOptionalText,
  /** Signing secret of the endpoint; empty: every event is refused (D-60). */
  PAYMENTS_WEBHOOK_SECRET_ID: EnvOptionalText,
});
