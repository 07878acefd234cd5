import * as z from 'zod';
import { MAILBOX_STATES } from '../../domain/notices/notice-ways.ts';
import type { MailboxLink } from '../../ports/mailbox-store.ts';
import { Uuid } from '../fields.ts';

/** A page with one button, or what came of it. No script is in it, and of the request only the link, which has a shape. */
export const MAIL_PAGE = { mediaType: 'text/html; charset=utf-8' } as const;
/** Letters and digits of the random text in a link. */
export const MAIL_KEY_CHARS = 32;

/** The query of a link in a mail. */
export const MailboxQuery = z.object({
  tenant: Uuid,
  box: z.string().regex(/^[0-9a-f]{64}$/),
  key: z
    .string()
    .length(MAIL_KEY_CHARS)
    .regex(/^[A-Za-z0-9]+$/),
});

export const UNSUBSCRIBE_PATH = '/api/v1/mail/unsubscribe';
export const SUBSCRIBE_PATH = '/api/v1/mail/subscribe';
export const CONFIRM_PATH = '/api/v1/mail/confirm';

/** `serviceUrl`: address of this service without a slash at its end, or nothing for an address on the same host. */
export function mailUrl(
  serviceUrl: string,
  path: typeof UNSUBSCRIBE_PATH | typeof SUBSCRIBE_PATH | typeof CONFIRM_PATH,
  { tenantId, box, key }: MailboxLink,
): string {
  return `${serviceUrl}${path}?${new URLSearchParams({ tenant: tenantId, box, key })}`;
}

/** After the mail was asked for; `confirmed` and `unsubscribed` get none. */
export const MailboxAsked = z.object({ email_state: z.enum(MAILBOX_STATES) });

export function toMailboxLink({ tenant, box, key }: z.infer<typeof MailboxQuery>): MailboxLink {
  return { tenantId: tenant, box, key };
}
