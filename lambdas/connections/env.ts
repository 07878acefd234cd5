import { PlanEnv } from '#core/contracts/billing-config.ts';
import { EnvCount, EnvFlag, EnvText, OutboundEnv, SurfaceEnv } from '#core/contracts/env.ts';

export const ConnectionsEnv = SurfaceEnv.extend(OutboundEnv.shape).extend(PlanEnv.shape).extend({
  CREDENTIAL_KEY_ID: EnvText,
  CREDENTIAL_KEY_VERSION: EnvCount,
  /** Turns on the listing without authentication (D-21). */
  LEGACY_FORGE_REPOS: EnvFlag,
});
