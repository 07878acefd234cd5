import { CommonEnv, EnvText, EnvUrl, FleetEnv } from '#core/contracts/internal/env.ts';
import { PlanEnv } from '#core/contracts/tenants/billing-config.ts';

export const TickEnv = CommonEnv.extend(FleetEnv.shape).extend(PlanEnv.shape).extend({
  TABLE_NAME: EnvText,
  WAKE_QUEUE_URL: EnvUrl,
  DEAD_WAKES_URL: EnvUrl,
});
