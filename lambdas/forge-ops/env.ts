import * as z from 'zod';
import { EnvText, EnvUrl, OutboundEnv, SurfaceEnv, VaultEnv } from '#core/contracts/internal/env.ts';
import { PlanEnv } from '#core/contracts/tenants/billing-config.ts';

export const ForgeOpsEnv = SurfaceEnv.extend(OutboundEnv.shape)
  .extend(PlanEnv.shape)
  .extend(VaultEnv.shape)
  .extend({
    WAKE_QUEUE_URL: EnvUrl,
    QUEUE_NAME: EnvText,
    /** Where forges are told to send their events; empty: the address this function is called at. */
    WEBHOOK_URL: z.string(),
  });
