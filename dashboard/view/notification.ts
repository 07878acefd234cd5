import { CHAT_FIELDS } from '#core/contracts/chat-fields.ts';
import type { InputFor, ResultOf } from '#core/contracts/client.ts';
import type { NoticeWay } from '#core/domain/notice-topics.ts';
import { CHAT_NAMES, CHATS, type Chat, type MailboxState, mapChats } from '#core/domain/notification.ts';

type Notification = NonNullable<InputFor<'updateRepo'>['body']['notification']>;

/** The texts of the fields; empty: not there. */
export type NotificationDraft = { readonly email: string } & { readonly [C in Chat]: string };

export const EMPTY_DRAFT: NotificationDraft = { email: '', ...mapChats(() => '') };

export function isFilled(draft: NotificationDraft): boolean {
  return draft.email !== '' || CHAT_NAMES.some((chat) => draft[chat] !== '');
}

export function toNotification(draft: NotificationDraft): Notification {
  const chats = CHAT_NAMES.filter((chat) => draft[chat] !== '');
  return {
    ...(draft.email === '' ? {} : { email: draft.email }),
    ...Object.fromEntries(chats.map((chat) => [CHAT_FIELDS[chat], draft[chat]])),
  };
}

/** The fault of one field of a notification, in words, by the name that the service gives it. */
export const NOTIFICATION_FAULTS: Readonly<Record<string, string>> = {
  'notification.email': 'The e-mail address is not one.',
  ...Object.fromEntries(
    CHAT_NAMES.map((chat) => [
      `notification.${CHAT_FIELDS[chat]}`,
      `The ${CHATS[chat].label} webhook is not an address of that service.`,
    ]),
  ),
};

/** Name of a way on the page. */
export function nameWay(way: NoticeWay): string {
  return way === 'email' ? 'E-mail' : CHATS[way].label;
}

type Stored = ResultOf<'readActivity'>['repos'][number]['notification'];

/** Who is told now, in the masked form that the service gives. */
export function sayDestinations(stored: Stored): string {
  const chats = CHAT_NAMES.flatMap((chat) => {
    const shown = stored?.[CHAT_FIELDS[chat]] ?? null;
    return shown === null ? [] : [`${CHATS[chat].label} (${shown})`];
  });
  const all = [...(stored?.email == null ? [] : [stored.email]), ...chats];
  return all.length === 0 ? 'Now: no notices are sent.' : `Now told: ${all.join(', ')}.`;
}

const MAILBOX_WORDS: Readonly<Record<MailboxState, string>> = {
  waiting:
    'The e-mail address waits for its reader to confirm it: a mail with a link was sent there. No notice goes there before.',
  confirmed: 'The reader of the e-mail address has confirmed it.',
  unsubscribed:
    'The reader of the e-mail address has unsubscribed. The link at the end of any of the mails is the way back.',
};

export function sayMailbox(state: MailboxState): string {
  return MAILBOX_WORDS[state];
}
