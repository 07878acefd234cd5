import { CommonEnv, EnvUrl } from '#core/contracts/env.ts';

export const ContainerHealthEnv = CommonEnv.extend({ ENGINE_URL: EnvUrl });
