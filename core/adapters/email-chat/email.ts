import { type SESv2Client, SESv2ServiceException, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { NOTICE_TIMEOUT_MS } from '../../domain/api-limits.ts';
import { type Notice, toPlainLine } from '../../domain/notice.ts';
import type { Notifier } from '../../ports/notifier.ts';

export interface EmailConfig {
  /** Made with one attempt: a notice is never sent twice. */
  readonly client: Pick<SESv2Client, 'send'>;
  /** A verified sender; empty: this deployment sends no mail. */
  readonly from: string;
}

/** Errors that the same mail would meet again. */
const FINAL_ERRORS: ReadonlySet<string> = new Set([
  'BadRequestException',
  'MessageRejected',
  'MailFromDomainNotVerifiedException',
  'NotFoundException',
  'AccountSuspendedException',
  'AccessDeniedException',
]);

/** Plain text only: there is no markup that an author's title could break out of. */
export function createEmailSender(config: EmailConfig): Pick<Notifier, 'sendEmail'> {
  return {
    async sendEmail(to, notice) {
      if (config.from === '') return 'off';
      const text = (data: string) => ({ Data: data, Charset: 'UTF-8' });
      const command = new SendEmailCommand({
        FromEmailAddress: config.from,
        Destination: { ToAddresses: [to] },
        Content: {
          // One line: a line break here would begin a header of the author's choosing.
          Simple: { Subject: text(toPlainLine(notice.subject)), Body: { Text: text(renderText(notice)) } },
        },
      });
      try {
        await config.client.send(command, { abortSignal: AbortSignal.timeout(NOTICE_TIMEOUT_MS) });
        return 'sent';
      } catch (error) {
        return error instanceof SESv2ServiceException && FINAL_ERRORS.has(error.name) ? 'refused' : 'failed';
      }
    },
  };
}

export function renderText(notice: Notice): string {
  const links = notice.links.map(({ label, url }) => `${label}: ${url}`);
  return `${[...notice.lines, '', ...links].join('\n')}\n`;
}
