import { CommonEnv, EnvOptionalText, EnvText, EnvUrl } from '#core/contracts/internal/env.ts';

export const NotifyEnv = CommonEnv.extend({
  TABLE_NAME: EnvText,
  /** Verified sender of mails; empty: none are sent. */
  NOTIFICATION_FROM: EnvOptionalText,
  /** Base address of the mail provider's API; empty: SES sends. */
  EMAIL_API_URL: EnvOptionalText,
  /** Secret that holds `EMAIL_API_KEY`; empty: SES sends. */
  EMAIL_API_KEY_SECRET_ID: EnvOptionalText,
  /** Address of this service, for links. */
  PUBLIC_URL: EnvUrl,
});
