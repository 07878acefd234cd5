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
    try {
      await config.client.send(command, { abortSignal: AbortSignal.timeout(NOTICE_TIMEOUT_MS) });
      return 'sent';
    } catch (error) {
      return error instanceof SESv2ServiceException && FINAL_ERRORS.has(error.name) ? 'refused' : 'failed';
    }
  };
}
