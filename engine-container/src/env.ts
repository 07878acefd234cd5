import * as z from 'zod';
import { CommonEnv, EnvPort, EnvText, OutboundEnv } from '#core/contracts/env.ts';

export const EngineEnv = CommonEnv.extend(OutboundEnv.shape).extend({
  PORT: EnvPort,
  /** Address to listen on: every one inside the container, loopback in a local run. */
  LISTEN_HOST: EnvText,
  TABLE_NAME: EnvText,
  /** Injected by the platform from the secret store. */
  CONTAINER_SECRET: EnvText,
  /** Whether each bounce needs a second failing gate run (D-08). */
  CONFIRM_BOUNCE: z.enum(['always', 'adaptive']),
});
