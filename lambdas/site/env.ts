import * as z from 'zod';
import { CommonEnv, EdgeEnv, EnvFlag, EnvOptionalText } from '#core/contracts/internal/env.ts';

export const SiteEnv = CommonEnv.extend(EdgeEnv.shape).extend({
  SIGN_IN_KIND: z.enum(['gotrue', 'cognito']),
  /** Of GoTrue its base address, of Cognito the domain of its sign-in page. */
  SIGN_IN_URL: z.url(),
  /** Public key of a GoTrue provider. */
  SIGN_IN_API_KEY: EnvOptionalText,
  /** Public id of the page at Cognito. */
  SIGN_IN_CLIENT_ID: EnvOptionalText,
  /** Of Cognito: where a person's own account is changed; else nothing. */
  SIGN_IN_ENDPOINT: EnvOptionalText,
  SIGN_UP: z.enum(['open', 'closed']),
  /** Whether this deployment has a way to send mail. */
  SENDS_MAIL: EnvFlag,
});
