import * as z from 'zod';
import {
  CommonEnv,
  EnvOptionalText,
  EnvPort,
  EnvText,
  EnvUrl,
  OutboundHostsEnv,
} from '#core/contracts/internal/env.ts';

export const EngineEnv = CommonEnv.extend(OutboundHostsEnv.shape).extend({
  PORT: EnvPort,
  /** Address to listen on: every one inside the container, loopback in a local run. */
  LISTEN_HOST: EnvText,
  TABLE_NAME: EnvText,
  /** Injected by the platform from the secret store. */
  CONTAINER_SECRET: EnvText,
  /** Who signs for private forges; injected by the platform from a parameter where there are any. */
  FORGE_CA_PEM: EnvOptionalText,
  /** Address of this service: statuses link to its pages. */
  PUBLIC_URL: EnvUrl,
  /** Name under which figures go to CloudWatch; empty: none do. */
  METRICS_DEPLOYMENT: EnvOptionalText,
  /** Whether each bounce needs a second failing gate run (D-08). */
  CONFIRM_BOUNCE: z.enum(['always', 'adaptive']),
});
