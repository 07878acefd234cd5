import * as z from 'zod';
import type { EpochMs } from '../../domain/ids.ts';
import { PULL_TOPICS } from '../../domain/notices/notice-topics.ts';
import { MAILBOX_STATES, type MailboxState } from '../../domain/notices/notice-ways.ts';
import type { AuthorNotices } from '../../ports/author-store.ts';
import type { ForgeLogin } from '../../ports/identity.ts';
import { formatTime, InstanceUrl, Time } from '../fields.ts';
import { Email } from './notification.ts';

const Topics = z
  .array(z.enum(PULL_TOPICS))
  .max(PULL_TOPICS.length)
  .refine((topics) => new Set(topics).size === topics.length)
  .meta({ uniqueItems: true })
  .readonly();

/** No topics end the mails. Without `instance_url`: the forge that the session is of. */
export const AuthorNoticesBody = z.object({
  instance_url: InstanceUrl.optional(),
  email: Email,
  topics: Topics,
});

export const AuthorNoticesView = z.object({
  /** The login that the session itself proves; null: it is of no forge. */
  signed_in_as: z.object({ instance_url: z.string(), login: z.string() }).nullable(),
  logins: z.array(
    z.object({
      instance_url: z.string(),
      login: z.string(),
      email: z.string(),
      email_state: z.enum(MAILBOX_STATES).nullable(),
      topics: z.array(z.enum(PULL_TOPICS)).readonly(),
      proven_at: Time,
      /** From then on nothing is mailed until the login is proven again. */
      ends_at: Time,
    }),
  ),
});
export type AuthorNoticesView = z.infer<typeof AuthorNoticesView>;

export const ExportedAuthorNotices = z.array(
  z.object({
    instance_url: z.string(),
    login: z.string(),
    email: z.string(),
    topics: z.array(z.enum(PULL_TOPICS)).readonly(),
    proven_at: Time,
  }),
);

/** With the end of the proof, and whether the mailbox is confirmed; null: that could not be read. */
export type ShownAuthorNotices = AuthorNotices & {
  readonly endsAt: EpochMs;
  readonly emailState: MailboxState | null;
};

export function toAuthorNoticesView(
  forge: ForgeLogin | null,
  logins: readonly ShownAuthorNotices[],
): AuthorNoticesView {
  return {
    signed_in_as: forge === null ? null : { instance_url: forge.instanceUrl, login: forge.login },
    logins: logins.map((each) => ({
      ...toExported(each),
      email_state: each.emailState,
      ends_at: formatTime(each.endsAt),
    })),
  };
}

export function toExportedAuthorNotices(
  logins: readonly AuthorNotices[],
): z.infer<typeof ExportedAuthorNotices> {
  return logins.map(toExported);
}

function toExported({ instanceUrl, login, email, topics, provenAt }: AuthorNotices) {
  return { instance_url: instanceUrl, login, email, topics, proven_at: formatTime(provenAt) };
}
