import { EnvOptionalText, SurfaceEnv } from '#core/contracts/internal/env.ts';

export const PublicEnv = SurfaceEnv.extend({
  /** Public key of the analytics service; empty: no telemetry. */
  ANALYTICS_API_KEY: EnvOptionalText,
});
