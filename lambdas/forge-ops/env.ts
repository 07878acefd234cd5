import * as z from 'zod';
import { PlanEnv } from '#core/contracts/billing-config.ts';
import { EnvText, EnvUrl, OutboundEnv, SurfaceEnv, VaultEnv } from '#core/contracts/env.ts';

export const ForgeOpsEnv = SurfaceEnv.extend(OutboundEnv.shape)
  .extend(PlanEnv.shape)
  .extend(VaultEnv.shape)
  .extend({
    WAKE_QUEUE_URL: EnvUrl,
    QUEUE_NAME: EnvText,
    /** Where forges are told to send their events; empty: the address this function is called at. */
    WEBHOOK_URL: z.string(),
  });
