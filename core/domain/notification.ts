/** The chats that a notice can go to (D-87): name on the page, exact hosts, and the path under which each takes messages. */
export const CHATS = {
  slack: { label: 'Slack', hosts: ['hooks.slack.com'], pathPrefix: '/services/' },
  discord: { label: 'Discord', hosts: ['discord.com', 'discordapp.com'], pathPrefix: '/api/webhooks/' },
} as const;
export type Chat = keyof typeof CHATS;
export const CHAT_NAMES = Object.keys(CHATS) as readonly Chat[];

/** A mailbox gets notices only while it is `confirmed`. */
export const MAILBOX_STATES = ['waiting', 'confirmed', 'unsubscribed'] as const;
export type MailboxState = (typeof MAILBOX_STATES)[number];

/** Where notices go; null = not there. Write-only on the routes: the chat URLs are credentials. */
export type NotificationTargets = { readonly email: string | null } & {
  readonly [C in Chat]: string | null;
};

export function noChats(): Readonly<Record<Chat, null>> {
  return mapChats(() => null);
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
