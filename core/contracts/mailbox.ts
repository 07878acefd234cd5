import * as z from 'zod';
import type { MailboxLink } from '../ports/mailbox-store.ts';
import { Uuid } from './fields.ts';

/** A page with one button, or what came of it. No script and no text of the request is in it. */
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

/** `serviceUrl`: address of this service, without a slash at its end. */
export function unsubscribeUrl(serviceUrl: string, { tenantId, box, key }: MailboxLink): string {
  return `${serviceUrl}${UNSUBSCRIBE_PATH}?${new URLSearchParams({ tenant: tenantId, box, key })}`;
}

export function toMailboxLink({ tenant, box, key }: z.infer<typeof MailboxQuery>): MailboxLink {
  return { tenantId: tenant, box, key };
}
