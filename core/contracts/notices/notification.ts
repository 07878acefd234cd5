import * as z from 'zod';
import {
  CHAT_URL_CHARS_MAX,
  EMAIL_CHARS_MAX,
  MATRIX_ROOM_CHARS_MAX,
  TOKEN_CHARS_MAX,
} from '../../domain/api-limits.ts';
import {
  CHAT_NAMES,
  CHAT_URL_PATTERNS,
  CHATS,
  type Chat,
  formatMatrix,
  MAILBOX_STATES,
  type MailboxState,
  mapChats,
  type NotificationTargets,
  originOf,
} from '../../domain/notices/notice-ways.ts';
import { isSealed } from '../../domain/sealed-text.ts';
import { REDACTED } from '../tenants/redacted.ts';
import { CHAT_FIELDS, type ChatField } from './chat-fields.ts';

/** One value for each chat, by its name in the contract. */
function mapFields<T>(toValue: (chat: Chat) => T): Record<ChatField, T> {
  return Object.fromEntries(CHAT_NAMES.map((chat) => [CHAT_FIELDS[chat], toValue(chat)])) as Record<
    ChatField,
    T
  >;
}

export const Email = z
  .string()
  .max(EMAIL_CHARS_MAX)
  .regex(/^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/);
/** A room and the access token of an account that is in it, at any homeserver that the guard of outbound calls lets pass. */
const Matrix = z.object({
  homeserver: z
    .string()
    .max(CHAT_URL_CHARS_MAX)
    .regex(/^https:\/\/([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/),
  room: z
    .string()
    .max(MATRIX_ROOM_CHARS_MAX)
    .regex(/^![!-~]+$/),
  token: z
    .string()
    .min(1)
    .max(TOKEN_CHARS_MAX)
    .regex(/^[!-~]+$/),
});
/** Unrecognised keys are dropped, not stored. */
export const Notification = z.object({
  email: Email.optional(),
  ...mapFields((chat) => z.string().max(CHAT_URL_CHARS_MAX).regex(CHAT_URL_PATTERNS[chat]).optional()),
  matrix: Matrix.optional(),
});
export type Notification = z.infer<typeof Notification>;

export function toTargets(notification: Notification | null): NotificationTargets | null {
  if (notification === null) return null;
  return {
    email: notification.email ?? null,
    ...mapChats((chat) => notification[CHAT_FIELDS[chat]] ?? null),
    matrix: notification.matrix === undefined ? null : formatMatrix(notification.matrix),
    // Set by a call of its own, which shows its secret.
    webhook: null,
  };
}

/** In an export the chat addresses are redacted: they are credentials. */
export const ExportedNotification = z.object({
  email: z.string().nullable(),
  ...mapFields(() => z.literal(REDACTED).nullable()),
  matrix: z.literal(REDACTED).nullable(),
  webhook: z.literal(REDACTED).nullable(),
});

export function toExportedNotification(targets: NotificationTargets): z.infer<typeof ExportedNotification> {
  return {
    email: targets.email,
    ...mapFields((chat) => (targets[chat] === null ? null : REDACTED)),
    matrix: targets.matrix === null ? null : REDACTED,
    webhook: targets.webhook === null ? null : REDACTED,
  };
}

/** The stored channel as the page shows it: a chat address names its host alone, because its path is the credential. */
export const MaskedNotification = z.object({
  email: z.string().nullable(),
  /** Null: there is no address, or its state could not be read. */
  email_state: z.enum(MAILBOX_STATES).nullable(),
  ...mapFields(() => z.string().nullable()),
  matrix: z.string().nullable(),
  webhook: z.string().nullable(),
});

export function toMaskedNotification(
  targets: NotificationTargets | null,
  mailbox: MailboxState | null,
): z.infer<typeof MaskedNotification> | null {
  if (targets === null) return null;
  const { email } = targets;
  return {
    email: email === null ? null : `${email.slice(0, 1)}…${email.slice(email.lastIndexOf('@'))}`,
    email_state: email === null ? null : mailbox,
    ...mapFields((chat) => maskUrl(chat, targets[chat])),
    matrix: targets.matrix === null ? null : `${originOf('matrix', targets.matrix)}/…`,
    webhook: targets.webhook === null ? null : `${originOf('webhook', targets.webhook)}/…`,
  };
}

/** A sealed address is of the chat's first host, as far as the page can tell. */
function maskUrl(chat: Chat, url: string | null): string | null {
  if (url === null) return null;
  return isSealed(url) ? `https://${CHATS[chat].hosts[0]}/…` : `${new URL(url).origin}/…`;
}
