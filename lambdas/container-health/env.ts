import { CommonEnv, EnvPort, FleetEnv, RateEnv } from '#core/contracts/internal/env.ts';

export const ContainerHealthEnv = CommonEnv.extend(FleetEnv.shape)
  .extend(RateEnv.shape)
  .extend({ ENGINE_PORT: EnvPort });
