import { NOTICE_TIMEOUT_MS } from '../../domain/api-limits.ts';
import { type EmailConfig, type SendMail, unsubscribeHeaders } from './mail.ts';
import { postNotice } from './post-notice.ts';

/**
 * Sends mails by `POST /emails` with a Bearer key, as Resend has it (resend.com/docs/api-reference/emails/send-email).
 */
export function createApiMail(config: Extract<EmailConfig, { readonly way: 'api' }>): SendMail {
  const url = `${config.url.replace(/\/+$/, '')}/emails`;
  return async (mail) => {
    const { to, subject, text } = mail;
    const key = await config.readKey();
    return postNotice(config.send, {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key.reveal()}` },
      body: JSON.stringify({ from: config.from, to: [to], subject, text, headers: unsubscribeHeaders(mail) }),
      timeoutMs: NOTICE_TIMEOUT_MS,
      bodyBytesMax: 0,
    });
  };
}
