import { CommonEnv, EnvText, EnvUrl } from '#core/contracts/env.ts';

export const ForgeWebhookEnv = CommonEnv.extend({
  TABLE_NAME: EnvText,
  WAKE_QUEUE_URL: EnvUrl,
  DELAYED_WAKE_QUEUE_URL: EnvUrl,
});
