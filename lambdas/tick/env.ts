import { CommonEnv, EnvText, EnvUrl } from '#core/contracts/env.ts';

export const TickEnv = CommonEnv.extend({ TABLE_NAME: EnvText, WAKE_QUEUE_URL: EnvUrl });
