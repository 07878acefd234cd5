import { CHAT_FIELDS } from '#core/contracts/notices/chat-fields.ts';
import type { InputFor, ResultOf } from '#core/contracts/routes/client.ts';
import type { NoticeTopic, NoticeWay } from '#core/domain/notices/notice-topics.ts';
import {
  CHAT_NAMES,
  CHATS,
  type Chat,
  type MailboxState,
  mapChats,
  NAMED_WAYS,
  type NamedWay,
} from '#core/domain/notices/notice-ways.ts';

type Notification = NonNullable<InputFor<'updateRepo'>['body']['notification']>;

/** The texts of the fields; empty: not there. */
export type NotificationDraft = { readonly email: string } & { readonly [C in Chat]: string } & {
  readonly [M in MatrixField]: string;
};

/** The three texts of a room in Matrix, with the names that the service gives them. */
export const MATRIX_FIELDS = {
  matrixHomeserver: 'homeserver',
  matrixRoom: 'room',
  matrixToken: 'token',
} as const;
export type MatrixField = keyof typeof MATRIX_FIELDS;
export const MATRIX_FIELD_NAMES = Object.keys(MATRIX_FIELDS) as readonly MatrixField[];

export const EMPTY_DRAFT: NotificationDraft = {
  email: '',
  matrixHomeserver: '',
  matrixRoom: '',
  matrixToken: '',
  ...mapChats(() => ''),
};

export function isFilled(draft: NotificationDraft): boolean {
  return ['email' as const, ...CHAT_NAMES, ...MATRIX_FIELD_NAMES].some((name) => draft[name] !== '');
}

export function toNotification(draft: NotificationDraft): Notification {
  const chats = CHAT_NAMES.filter((chat) => draft[chat] !== '');
  return {
    ...(draft.email === '' ? {} : { email: draft.email }),
    ...Object.fromEntries(chats.map((chat) => [CHAT_FIELDS[chat], draft[chat]])),
    ...(MATRIX_FIELD_NAMES.every((name) => draft[name] === '')
      ? {}
      : {
          matrix: {
            homeserver: draft.matrixHomeserver.trim().replace(/\/+$/, ''),
            room: draft.matrixRoom.trim(),
            token: draft.matrixToken.trim(),
          },
        }),
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
  'notification.matrix.homeserver':
    'The homeserver of Matrix has to be https and a host, with nothing behind it.',
  'notification.matrix.room': 'The id of a room in Matrix begins with an exclamation mark.',
  'notification.matrix.token': 'The access token of Matrix is missing or too long.',
};

const NAMES: Readonly<Record<NamedWay, string>> = { matrix: 'Matrix', webhook: 'Webhook' };

/** Name of a way on the page. */
export function nameWay(way: NoticeWay): string {
  if (way === 'email') return 'E-mail';
  return way in CHATS ? CHATS[way as Chat].label : NAMES[way as NamedWay];
}

type Stored = ResultOf<'readActivity'>['repos'][number]['notification'];

/** Who is told now, in the masked form that the service gives. */
export function sayDestinations(stored: Stored): string {
  const chats = CHAT_NAMES.flatMap((chat) => {
    const shown = stored?.[CHAT_FIELDS[chat]] ?? null;
    return shown === null ? [] : [`${CHATS[chat].label} (${shown})`];
  });
  const named = NAMED_WAYS.flatMap((way) => {
    const shown = stored?.[way] ?? null;
    return shown === null ? [] : [`${NAMES[way]} (${shown})`];
  });
  const all = [...(stored?.email == null ? [] : [stored.email]), ...chats, ...named];
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

const TOPICS: Readonly<Record<NoticeTopic, string>> = {
  bounced: 'bounced',
  refused: 'refused for now',
  landed: 'landed',
  stuck: 'the queue stands still',
  drift: 'the setup has changed',
};

export function nameTopic(topic: NoticeTopic): string {
  return TOPICS[topic];
}
