import { NOTICE_NOT_DELIVERED } from '../../contracts/realtime/realtime.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { NoticeWay } from '../../domain/notices/notice-topics.ts';
import type { SendResult } from '../../ports/notifier.ts';
import type { Log } from '../../ports/system.ts';

/** Fields of the lines that the log has of a notice. */
export type NoticeFields = Readonly<Record<string, unknown>> & { readonly tenant_id: TenantId };

/** One send, and the line that says how it went. Never throws. */
export async function tell(
  { log }: { readonly log: Log },
  fields: NoticeFields & { readonly way: NoticeWay },
  run: () => Promise<SendResult>,
): Promise<void> {
  let result: SendResult;
  try {
    result = await run();
  } catch (error) {
    log.error('a notification could not be made', { way: fields.way, error });
    result = 'failed';
  }
  report(log, result, fields);
}

/** Never the address: a chat URL is a credential, a mailbox is a person. */
function report(log: Log, result: SendResult, fields: Readonly<Record<string, unknown>>): void {
  switch (result) {
    case 'sent':
      return log.info('notification sent', fields);
    case 'off':
      return log.info('this deployment sends no mail: the e-mail was skipped', fields);
    case 'later':
      return log.warn('the mail server took nothing for now: the e-mail is tried again', fields);
    case 'refused':
    case 'failed':
      return log.warn(NOTICE_NOT_DELIVERED, { ...fields, result });
  }
}
