import { CONFIRM_PATH, mailUrl, UNSUBSCRIBE_PATH } from '../../contracts/notices/mailbox.ts';
import {
  DAY_MS,
  MAIL_CONFIRM_MS,
  MAIL_CONFIRMS_PER_DAY_MAX,
  MAILS_PER_DAY_MAX,
} from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { describeConfirmation, type Notice } from '../../domain/notices/notice.ts';
import type { RateStore } from '../../ports/account-store.ts';
import type { Mailbox, MailboxStore } from '../../ports/mailbox-store.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Clock, Log } from '../../ports/system.ts';
import { type NoticeFields, tell } from './tell.ts';

export interface MailDeps {
  readonly store: Pick<MailboxStore, 'openMailbox' | 'beginConfirmation'> & Pick<RateStore, 'takeToken'>;
  readonly notifier: Pick<Notifier, 'sendEmail'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** Address of this service, without a slash at its end. */
  readonly serviceUrl: string;
  /** 32 letters and digits that cannot be guessed. */
  readonly makeMailKey: () => string;
}

export interface MailTo {
  readonly address: string;
  /** The repository that a confirmation mail names; null: the payment provider gave the address, and mails there itself. */
  readonly slug: string | null;
}

/**
 * One notice to one mailbox. Any tenant may enter any address: one whose reader has not confirmed it gets no notice, and is
 * asked once. A mail that could not be unsubscribed from is not sent.
 */
export async function sendMail(
  deps: MailDeps,
  to: MailTo,
  notice: Notice,
  fields: NoticeFields,
): Promise<void> {
  const { log } = deps;
  const mailbox = await openMailbox(deps, to.address, fields);
  if (mailbox === null) return;
  if (mailbox.state === 'unsubscribed') {
    return log.info('the mailbox is unsubscribed: the e-mail was skipped', fields);
  }
  if (mailbox.state === 'waiting' && to.slug !== null) {
    log.info('the mailbox is not confirmed: the e-mail was skipped', fields);
    if (!mailbox.asked) await askReader(deps, mailbox, { ...to, slug: to.slug }, false, fields);
    return;
  }
  if (!(await mayMail(deps, fields.tenant_id, true))) {
    return log.warn('the mails of a day are used up: the e-mail was skipped', fields);
  }
  await send(deps, to.address, notice, mailbox, fields);
}

/** A confirmation mail that was asked for; `again`: also where one was sent before. */
export async function sendConfirmation(
  deps: MailDeps,
  to: MailTo & { readonly slug: string },
  again: boolean,
  fields: NoticeFields,
): Promise<void> {
  const mailbox = await openMailbox(deps, to.address, fields);
  if (mailbox?.state === 'waiting' && (again || !mailbox.asked)) {
    await askReader(deps, mailbox, to, again, fields);
  }
}

async function openMailbox(deps: MailDeps, address: string, fields: NoticeFields): Promise<Mailbox | null> {
  try {
    const mailbox = await deps.store.openMailbox(fields.tenant_id, address, deps.makeMailKey());
    if (mailbox === null) deps.log.info('the tenant leaves: the e-mail was skipped', fields);
    return mailbox;
  } catch (error) {
    deps.log.error('a mailbox could not be read: the e-mail was skipped', { ...fields, error });
    return null;
  }
}

async function askReader(
  deps: MailDeps,
  mailbox: Mailbox,
  to: MailTo & { readonly slug: string },
  again: boolean,
  fields: NoticeFields,
): Promise<void> {
  const { store, log } = deps;
  const key = deps.makeMailKey();
  try {
    const ofReader = await takeOfDay(
      store,
      `confirmations:${to.address.toLowerCase()}`,
      MAIL_CONFIRMS_PER_DAY_MAX,
    );
    if (!ofReader || !(await mayMail(deps, fields.tenant_id, false))) {
      return log.warn('the mails of a day are used up: the confirmation mail was skipped', fields);
    }
    const until = deps.clock.now() + MAIL_CONFIRM_MS;
    if (!(await store.beginConfirmation(mailbox.link, { key, until }, again))) return;
  } catch (error) {
    // Closed: the page has a button that asks again.
    return log.warn('a confirmation mail could not be prepared', { ...fields, error });
  }
  const url = mailUrl(deps.serviceUrl, CONFIRM_PATH, { ...mailbox.link, key });
  await send(deps, to.address, describeConfirmation(to.slug, url), mailbox, fields);
}

async function send(
  deps: MailDeps,
  address: string,
  notice: Notice,
  { link }: Mailbox,
  fields: NoticeFields,
): Promise<void> {
  const url = mailUrl(deps.serviceUrl, UNSUBSCRIBE_PATH, link);
  await tell(deps, { ...fields, way: 'email' }, () => deps.notifier.sendEmail(address, notice, url));
}

async function mayMail({ store, log }: MailDeps, tenantId: TenantId, whenUnknown: boolean): Promise<boolean> {
  try {
    return await takeOfDay(store, `mail:${tenantId}`, MAILS_PER_DAY_MAX);
  } catch (error) {
    // Open for a notice: it is claimed already, and a limiter that cannot count must not cost it.
    log.warn('the mails of a tenant could not be counted', { tenant_id: tenantId, error });
    return whenUnknown;
  }
}

/**
 * Half of a day's number at once, the other half over the day: a bucket that holds all of them fills up again within the same
 * day, and so lets twice the number pass.
 */
async function takeOfDay(store: MailDeps['store'], bucket: string, perDayMax: number): Promise<boolean> {
  const half = perDayMax / 2;
  return (await store.takeToken(bucket, DAY_MS / half, half)).allowed;
}
