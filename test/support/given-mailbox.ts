import type { Mailbox, MailboxStore } from '#core/ports/mailbox-store.ts';

/** The mailbox of a tenant that stays. */
export async function givenMailbox(
  store: Pick<MailboxStore, 'openMailbox'>,
  ...given: Parameters<MailboxStore['openMailbox']>
): Promise<Mailbox> {
  const mailbox = await store.openMailbox(...given);
  if (mailbox === null) throw new Error('the tenant is leaving or gone');
  return mailbox;
}
