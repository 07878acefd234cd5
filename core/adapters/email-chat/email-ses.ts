import { setTimeout as pause } from 'node:timers/promises';
import { SESv2ServiceException, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { NOTICE_TIMEOUT_MS } from '../../domain/api-limits.ts';
import { type EmailConfig, type SendMail, unsubscribeHeaders } from './mail.ts';

/** Errors that the same mail would meet again. */
const FINAL_ERRORS: ReadonlySet<string> = new Set([
  'BadRequestException',
  'MessageRejected',
  'MailFromDomainNotVerifiedException',
  'NotFoundException',
  'AccountSuspendedException',
  'AccessDeniedException',
]);

/**
 * Errors of a mail beyond the rate of the account, one a second at first: SES has dropped it and asks to be tried again
 * (https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html). No other mail is sent a second time.
 */
const THROTTLED: ReadonlySet<string> = new Set(['TooManyRequestsException', 'ThrottlingException']);
/** Until a throttled mail is tried again; drawn between half of it and all, so that mails of one moment do not meet again. */
const THROTTLED_PAUSE_MS_MAX = 800;

export function createSesMail(config: Extract<EmailConfig, { readonly way: 'ses' }>): SendMail {
  const part = (data: string) => ({ Data: data, Charset: 'UTF-8' });
  return async (mail) => {
    const { to, subject, text } = mail;
    const headers = Object.entries(unsubscribeHeaders(mail));
    const command = new SendEmailCommand({
      FromEmailAddress: config.from,
      Destination: { ToAddresses: [to] },
      Content: {
        Simple: {
          Subject: part(subject),
          Body: { Text: part(text) },
          Headers: headers.map(([Name, Value]) => ({ Name, Value })),
        },
      },
    });
    const abortSignal = AbortSignal.timeout(NOTICE_TIMEOUT_MS);
    for (;;) {
      try {
        await config.client.send(command, { abortSignal });
        return 'sent';
      } catch (error) {
        if (!(error instanceof SESv2ServiceException)) return 'failed';
        if (FINAL_ERRORS.has(error.name)) return 'refused';
        if (!THROTTLED.has(error.name)) return 'failed';
      }
      const pauseMs = THROTTLED_PAUSE_MS_MAX * (0.5 + Math.random() / 2);
      await pause(pauseMs, undefined, { signal: abortSignal }).catch(() => undefined);
      if (abortSignal.aborted) return 'failed';
    }
  };
}
