import { PlanEnv } from '#core/contracts/billing-config.ts';
import { EnvFlag, OutboundEnv, SurfaceEnv, VaultEnv } from '#core/contracts/env.ts';

export const ConnectionsEnv = SurfaceEnv.extend(OutboundEnv.shape)
  .extend(PlanEnv.shape)
  .extend(VaultEnv.shape)
  .extend({
    /** Turns on the listing without authentication (D-21). */
    LEGACY_FORGE_REPOS: EnvFlag,
  });
