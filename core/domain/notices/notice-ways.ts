/** The chats that a notice can go to (D-87): name on the page, exact hosts, and the path under which each takes messages. */
export const CHATS = {
  slack: { label: 'Slack', hosts: ['hooks.slack.com'], pathPrefix: '/services/' },
  discord: { label: 'Discord', hosts: ['discord.com', 'discordapp.com'], pathPrefix: '/api/webhooks/' },
} as const;
export type Chat = keyof typeof CHATS;
export const CHAT_NAMES = Object.keys(CHATS) as readonly Chat[];

/** Ways whose host is the owner's choice: stored as that host's origin, a space and the secret part (`secretOf`). */
export const NAMED_WAYS = ['matrix', 'webhook'] as const;
export type NamedWay = (typeof NAMED_WAYS)[number];
/** Ways whose targets hold a secret, which is sealed. */
export const SECRET_WAYS = [...CHAT_NAMES, ...NAMED_WAYS] as const;
export type SecretWay = (typeof SECRET_WAYS)[number];

/** A mailbox gets notices only while it is `confirmed`. */
export const MAILBOX_STATES = ['waiting', 'confirmed', 'unsubscribed'] as const;
export type MailboxState = (typeof MAILBOX_STATES)[number];

/** Where notices go; null = not there. Write-only on the routes: the chat URLs are credentials. */
export type NotificationTargets = { readonly email: string | null } & {
  readonly [W in SecretWay]: string | null;
};

export function noSecretWays(): Readonly<Record<SecretWay, null>> {
  return Object.fromEntries(SECRET_WAYS.map((way) => [way, null])) as Record<SecretWay, null>;
}

function isNamed(way: SecretWay): way is NamedWay {
  return (NAMED_WAYS as readonly string[]).includes(way);
}

/** The part of a target that is a secret. */
export function secretOf(way: SecretWay, target: string): string {
  return isNamed(way) ? target.slice(target.indexOf(' ') + 1) : target;
}

/** The target with another text in place of its secret, such as the sealed one. */
export function withSecret(way: SecretWay, target: string, secret: string): string {
  return isNamed(way) ? `${target.slice(0, target.indexOf(' '))} ${secret}` : secret;
}

/** Host of a stored target, as `https://host`. */
export function originOf(way: NamedWay, target: string): string {
  return withSecret(way, target, '').trimEnd();
}

/** A room of Matrix, and the account that sends there. */
export interface MatrixRoom {
  /** Origin of the homeserver's client API. */
  readonly homeserver: string;
  readonly room: string;
  readonly token: string;
}

export function formatMatrix({ homeserver, room, token }: MatrixRoom): string {
  return `${homeserver} ${JSON.stringify([room, token])}`;
}

/** Null: the target is damaged. */
export function parseMatrix(target: string): MatrixRoom | null {
  const [room, token] = parseTexts('matrix', target);
  if (room === undefined || token === undefined) return null;
  return { homeserver: originOf('matrix', target), room, token };
}

/** An address of the owner's own, and the secret that its requests are signed with. */
export interface NoticeWebhook {
  readonly url: string;
  readonly secret: string;
}

/** Beginning of a webhook's secret; the rest is the key in base64. */
export const WEBHOOK_SECRET_PREFIX = 'whsec_';

export function formatWebhook({ url, secret }: NoticeWebhook): string {
  return `${/^https:\/\/[^/]+/.exec(url)?.[0] ?? ''} ${JSON.stringify([url, secret])}`;
}

/** Null: the target is damaged. */
export function parseWebhook(target: string): NoticeWebhook | null {
  const [url, secret] = parseTexts('webhook', target);
  return url === undefined || secret === undefined ? null : { url, secret };
}

function parseTexts(way: NamedWay, target: string): readonly string[] {
  try {
    const texts: unknown = JSON.parse(secretOf(way, target));
    return Array.isArray(texts) && texts.every((text) => typeof text === 'string') ? texts : [];
  } catch {
    return [];
  }
}

/** The other places are replaced as a whole; the webhook has calls of its own. */
export function keepWebhook(
  next: NotificationTargets | null,
  stored: NotificationTargets | null,
): NotificationTargets | null {
  const webhook = stored?.webhook ?? null;
  return webhook === null ? next : withWebhook(next, webhook);
}

/** Null: no place is left. */
export function withWebhook(
  targets: NotificationTargets | null,
  webhook: string | null,
): NotificationTargets | null {
  const next = { ...(targets ?? { email: null, ...noSecretWays() }), webhook };
  return next.email === null && SECRET_WAYS.every((way) => next[way] === null) ? null : next;
}

/** One value for each chat. */
export function mapChats<T>(toValue: (chat: Chat) => T): Record<Chat, T> {
  return Object.fromEntries(CHAT_NAMES.map((chat) => [chat, toValue(chat)])) as Record<Chat, T>;
}

/**
 * An address of exactly that service: https, default port, no userinfo, query or fragment (A82). Strict on the spelling,
 * because what a URL parser repairs no honest person types.
 */
export const CHAT_URL_PATTERNS: Readonly<Record<Chat, RegExp>> = mapChats((chat) => urlPattern(CHATS[chat]));

function urlPattern(chat: { readonly hosts: readonly string[]; readonly pathPrefix: string }): RegExp {
  const hosts = chat.hosts.map((host) => host.replaceAll('.', '\\.')).join('|');
  return new RegExp(`^https://(?:${hosts})(?!.*/\\.{1,2}(?:/|$))${chat.pathPrefix}[A-Za-z0-9/_.~-]+$`);
}

/** True for an address of exactly that service. */
export function isChatUrl(chat: Chat, text: string): boolean {
  return CHAT_URL_PATTERNS[chat].test(text);
}
