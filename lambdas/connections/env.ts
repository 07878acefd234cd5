import { EnvFlag, OutboundEnv, SurfaceEnv, VaultEnv } from '#core/contracts/internal/env.ts';
import { PlanEnv } from '#core/contracts/tenants/billing-config.ts';

export const ConnectionsEnv = SurfaceEnv.extend(OutboundEnv.shape)
  .extend(PlanEnv.shape)
  .extend(VaultEnv.shape)
  .extend({
    /** Turns on the listing without authentication (D-21). */
    LEGACY_FORGE_REPOS: EnvFlag,
  });
