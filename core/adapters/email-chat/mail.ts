import type { SESv2Client } from '@aws-sdk/client-sesv2';
import type { SendResult } from '../../ports/notifier.ts';
import type { Secret } from '../../secret.ts';
import type { HttpSend } from '../http-guard/http-send.ts';

/** The deployment's way to send mail: a provider's HTTP API, SES, or none (contract, Notification object). */
export type EmailConfig =
  | {
      readonly way: 'api';
      readonly send: HttpSend;
      /** Base address of the API. */
      readonly url: string;
      /** `EMAIL_API_KEY`. Throws when it cannot be read. */
      readonly readKey: () => Promise<Secret<string>>;
      /** A sender of a domain that is verified at the provider. */
      readonly from: string;
    }
  | {
      readonly way: 'ses';
      /** Made with one attempt: a notice is never sent twice. */
      readonly client: Pick<SESv2Client, 'send'>;
      /** A verified sender. */
      readonly from: string;
    }
  | {
      /** A mail server of the installation's own. */
      readonly way: 'smtp';
      readonly sendMail: SendMail;
    }
  | { readonly way: 'none' };

/** Plain text only: there is no markup that an author's title could break out of. */
export interface Mail {
  readonly to: string;
  /** One line: a line break here would begin a header of the author's choosing. */
  readonly subject: string;
  readonly text: string;
  /** Where a POST ends these mails. */
  readonly unsubscribeUrl: string;
}

/** A button of the mail program itself, which posts without opening a page (RFC 2369, RFC 8058). */
export function unsubscribeHeaders({ unsubscribeUrl }: Mail): Readonly<Record<string, string>> {
  return {
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

export type SendMail = (mail: Mail) => Promise<SendResult>;
