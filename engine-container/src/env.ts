import * as z from 'zod';
import { CommonEnv, EnvPort, EnvText } from '#core/contracts/env.ts';

export const EngineEnv = CommonEnv.extend({
  PORT: EnvPort,
  TABLE_NAME: EnvText,
  /** Injected by the platform from the secret store. */
  CONTAINER_SECRET: EnvText,
  /** `host` or `host:port` of forges that may be at a private address, separated by commas; empty = none. */
  FORGE_ALLOW_HOSTS: z.string(),
});
