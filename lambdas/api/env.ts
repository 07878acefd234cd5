import { EnvText, EnvUrl, SurfaceEnv } from '#core/contracts/env.ts';

export const ApiEnv = SurfaceEnv.extend({
  WAKE_QUEUE_URL: EnvUrl,
  /** `queue_name` of answers, and the prefix of the gate file (D-91). */
  QUEUE_NAME: EnvText,
});
