import { type Notice, toPlainLine, withoutLinks } from '../../domain/notices/notice.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { createApiMail } from './email-api.ts';
import { createSesMail } from './email-ses.ts';
import type { EmailConfig, SendMail } from './mail.ts';

export function createEmailSender(config: EmailConfig): Pick<Notifier, 'sendEmail'> {
  const send = chooseMail(config);
  return {
    sendEmail: (to, notice, unsubscribeUrl) =>
      send({
        to,
        unsubscribeUrl,
        subject: withoutLinks(toPlainLine(notice.subject)),
        text: renderText(notice, unsubscribeUrl),
      }),
  };
}

function chooseMail(config: EmailConfig): SendMail {
  switch (config.way) {
    case 'api':
      return createApiMail(config);
    case 'ses':
      return createSesMail(config);
    case 'smtp':
      return config.sendMail;
    case 'none':
      return async () => 'off';
  }
}

/** Plain text, in which the notice's own links are the only ones. */
function renderText(notice: Notice, unsubscribeUrl: string): string {
  const links = notice.links.map(({ label, url }) => `${label}: ${url}`);
  return `${[...notice.lines.map(withoutLinks), '', ...links, '', `No more of these mails: ${unsubscribeUrl}`].join('\n')}\n`;
}
