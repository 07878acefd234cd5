/** Where a bounce is announced; null = not there. Write-only on the routes: the chat URLs are credentials. */
export interface NotificationTargets {
  readonly email: string | null;
  readonly chatA: string | null;
  readonly chatB: string | null;
}

/** The two chat services (D-87): exact hosts, and the path under which each takes messages. */
export const CHAT_DESTINATIONS = {
  chatA: { hosts: ['hooks.slack.com'], pathPrefix: '/services/' },
  chatB: { hosts: ['discord.com', 'discordapp.com'], pathPrefix: '/api/webhooks/' },
} as const;
export type ChatDestination = keyof typeof CHAT_DESTINATIONS;

/**
 * An address of exactly that service: https, default port, no userinfo, query or fragment (A82). Strict on the spelling,
 * because what a URL parser repairs no honest person types.
 */
export const CHAT_URL_PATTERNS: Readonly<Record<ChatDestination, RegExp>> = {
  chatA: urlPattern(CHAT_DESTINATIONS.chatA),
  chatB: urlPattern(CHAT_DESTINATIONS.chatB),
};

function urlPattern(destination: { readonly hosts: readonly string[]; readonly pathPrefix: string }): RegExp {
  const hosts = destination.hosts.map((host) => host.replaceAll('.', '\\.')).join('|');
  return new RegExp(`^https://(?:${hosts})(?!.*/\\.{1,2}(?:/|$))${destination.pathPrefix}[A-Za-z0-9/_.~-]+$`);
}

/** True for an address of exactly that service. */
export function isChatUrl(destination: ChatDestination, text: string): boolean {
  return CHAT_URL_PATTERNS[destination].test(text);
}
