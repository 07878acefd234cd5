import { CommonEnv, EnvPort, FleetEnv, RateEnv } from '#core/contracts/env.ts';

export const ContainerHealthEnv = CommonEnv.extend(FleetEnv.shape)
  .extend(RateEnv.shape)
  .extend({ ENGINE_PORT: EnvPort });
