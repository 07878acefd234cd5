import { CommonEnv, EnvText, EnvUrl } from '#core/contracts/internal/env.ts';

export const WakeForwardEnv = CommonEnv.extend({ TABLE_NAME: EnvText, WAKE_QUEUE_URL: EnvUrl });
