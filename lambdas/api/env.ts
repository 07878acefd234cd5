import { EnvText, EnvUrl, SurfaceEnv } from '#core/contracts/internal/env.ts';
import { PlanEnv } from '#core/contracts/tenants/billing-config.ts';

export const ApiEnv = SurfaceEnv.extend(PlanEnv.shape).extend({
  WAKE_QUEUE_URL: EnvUrl,
  /** `queue_name` of answers, and the prefix of the gate file (D-91). */
  QUEUE_NAME: EnvText,
});
