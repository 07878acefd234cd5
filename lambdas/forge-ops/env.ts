import * as z from 'zod';
import { PlanEnv } from '#core/contracts/billing-config.ts';
import { EnvCount, EnvText, EnvUrl, OutboundEnv, SurfaceEnv } from '#core/contracts/env.ts';

export const ForgeOpsEnv = SurfaceEnv.extend(OutboundEnv.shape).extend(PlanEnv.shape).extend({
  CREDENTIAL_KEY_ID: EnvText,
  CREDENTIAL_KEY_VERSION: EnvCount,
  WAKE_QUEUE_URL: EnvUrl,
  QUEUE_NAME: EnvText,
  /** Where forges are told to send their events; empty: the address this function is called at. */
  WEBHOOK_URL: z.string(),
});
