import * as z from 'zod';
import { CommonEnv, EnvPort, EnvText } from '#core/contracts/env.ts';

export const EngineEnv = CommonEnv.extend({
  PORT: EnvPort,
  /** Address to listen on: every one inside the container, loopback in a local run. */
  LISTEN_HOST: EnvText,
  TABLE_NAME: EnvText,
  /** Injected by the platform from the secret store. */
  CONTAINER_SECRET: EnvText,
  /** `host` or `host:port` of forges that may be at a private address, separated by commas; empty = none. */
  FORGE_ALLOW_HOSTS: z.string(),
  /** PEM of a private authority, trusted for those hosts only; empty = none. */
  FORGE_CA_PEM: z.string(),
  /** Whether each bounce needs a second failing run (D-08). */
  CONFIRM_BOUNCE: z.enum(['always', 'adaptive']),
});
