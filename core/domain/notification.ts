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
 * True for an address of exactly that service: https, default port, no userinfo, query or fragment (A82). Strict on the
 * spelling, because what a URL parser repairs no honest person types.
 */
export function isChatUrl(destination: ChatDestination, text: string): boolean {
  const { hosts, pathPrefix } = CHAT_DESTINATIONS[destination];
  const found = /^https:\/\/([a-z.]+)(\/[A-Za-z0-9/_.~-]+)$/.exec(text);
  const [, host, path] = found ?? [];
  if (host === undefined || path === undefined) return false;
  if (!hosts.some((allowed) => allowed === host)) return false;
  return path.startsWith(pathPrefix) && path.length > pathPrefix.length && !/\/\.{1,2}(\/|$)/.test(path);
}
