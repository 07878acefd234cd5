import { CommonEnv, EnvUrl, FleetEnv } from '#core/contracts/env.ts';

export const ContainerHealthEnv = CommonEnv.extend(FleetEnv.shape).extend({ ENGINE_URL: EnvUrl });
