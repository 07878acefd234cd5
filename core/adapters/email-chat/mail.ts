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
      /** Reads `EMAIL_API_KEY`. Throws where it cannot be read. */
      readonly readKey: () => Promise<Secret<string>>;
      /** Sender address, of a domain that is verified at the provider. */
      readonly from: string;
    }
  | {
      readonly way: 'ses';
      /** Client with one attempt for each call: a notice is never sent twice. */
      readonly client: Pick<SESv2Client, 'send'>;
      /** Sender address that is verified in SES. */
      readonly from: string;
    }
  | {
      /** SMTP server of the installation. */
      readonly way: 'smtp';
      readonly sendMail: SendMail;
    }
  | { readonly way: 'none' };

/** A mail of plain text: without markup, a title of an author can break out of nothing. */
export interface Mail {
  readonly to: string;
  /** Subject, one line: a line break would begin a header of the author's choosing. */
  readonly subject: string;
  readonly text: string;
  /** Address to which a POST ends these mails. */
  readonly unsubscribeUrl: string;
}

/** Headers for the unsubscribe button of mail programs, which posts without opening a page (RFC 2369, RFC 8058). */
export function unsubscribeHeaders({ unsubscribeUrl }: Mail): Readonly<Record<string, string>> {
  return {
    'List-Unsubscribe': `<${unsubscribeUrl}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

export type SendMail = (mail: Mail) => Promise<SendResult>;
