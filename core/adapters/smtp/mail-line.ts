import { NOTICE_NOT_DELIVERED } from '../../contracts/realtime/realtime.ts';
import { MAIL_RETRY_WAITS_MS, MAILS_WAITING_MAX } from '../../domain/api-limits.ts';
import type { Log } from '../../ports/system.ts';
import type { Mail, SendMail } from '../email-chat/mail.ts';
import type { Smtp, SmtpAnswer } from './smtp.ts';

export interface MailLineParts {
  readonly smtp: Smtp;
  readonly log: Log;
  /** Counts each try by its answer. */
  readonly count: (answer: SmtpAnswer) => void;
  /** Waits before each further try, in ms. @default `MAIL_RETRY_WAITS_MS` */
  readonly waitsMs?: readonly number[];
}

export interface MailLine {
  readonly send: SendMail;
  /** Mails that wait for another try. */
  readonly size: number;
  /** Gives up the mails that wait, and logs how many there were. */
  stop(): void;
}

/**
 * Mails that a server did not take for now are tried again, in the memory of this process. One that the server may have
 * (`lost`) is not: a notice is never sent twice.
 */
export function createMailLine({ smtp, log, count, waitsMs = MAIL_RETRY_WAITS_MS }: MailLineParts): MailLine {
  const waiting = new Set<NodeJS.Timeout>();
  let isStopped = false;
  const attempt = async (mail: Mail): Promise<SmtpAnswer> => {
    const answer = await smtp.send(mail);
    count(answer);
    return answer;
  };
  const wait = (mail: Mail, tries: number): boolean => {
    const waitMs = waitsMs[tries - 1];
    if (isStopped || waitMs === undefined || waiting.size >= MAILS_WAITING_MAX) return false;
    const timer = setTimeout(() => {
      waiting.delete(timer);
      void again(mail, tries + 1);
    }, waitMs);
    timer.unref();
    waiting.add(timer);
    return true;
  };
  const again = async (mail: Mail, tries: number): Promise<void> => {
    const answer = await attempt(mail);
    if (answer === 'sent') log.info('an e-mail was sent at a later try', { way: 'email', tries });
    else if (!isForNow(answer) || !wait(mail, tries)) {
      log.warn(NOTICE_NOT_DELIVERED, { way: 'email', reason: answer, tries });
    }
  };
  return {
    async send(mail) {
      const answer = await attempt(mail);
      if (answer === 'sent' || answer === 'refused') return answer;
      if (isForNow(answer) && wait(mail, 1)) return 'later';
      log.warn('the mail server took no mail', { reason: answer });
      return answer === 'login_refused' ? 'refused' : 'failed';
    },
    get size() {
      return waiting.size;
    },
    stop() {
      isStopped = true;
      for (const timer of waiting) clearTimeout(timer);
      if (waiting.size > 0)
        log.warn('mails that waited for another try were given up', { mails: waiting.size });
      waiting.clear();
    },
  };
}

/** Whether a later try may succeed: nothing was taken, and the server may come back, or get a new certificate. */
const isForNow = (answer: SmtpAnswer): boolean => answer === 'away' || answer === 'untrusted';
