import { CommonEnv, EnvOptionalText, EnvText, EnvUrl } from '#core/contracts/env.ts';

export const NotifyEnv = CommonEnv.extend({
  TABLE_NAME: EnvText,
  /** Verified sender of mails; empty: none are sent. */
  NOTIFICATION_FROM: EnvOptionalText,
  /** Address of this service, for links. */
  PUBLIC_URL: EnvUrl,
});
