/** Scopes of an access token that the forge may ask for; no other word of its answer goes further (A95). */
export const TOKEN_SCOPES = [
  'read:repository',
  'write:repository',
  'read:issue',
  'write:issue',
  'read:user',
  'write:user',
  'read:organization',
  'write:organization',
] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/**
 * Scopes of the bot's token, and the calls that need them. The one table: page, documents and the checks of an installation say
 * this, and the fake forge gives the bot no more. Deleting a schedule and merging count as repository, timeline and
 * dependencies as issue, the account and its list of repositories as user (`routers/api/v1/api.go` of both forges).
 */
export const BOT_SCOPES = [
  {
    scope: 'write:repository',
    why: 'Stage branches, post the one commit status, open the setup pull request, add the webhook, edit the branch rule.',
  },
  {
    scope: 'read:issue',
    why: 'See who scheduled an auto-merge, on which commit, and what a pull request depends on.',
  },
  { scope: 'read:user', why: "Check that the token is this bot's, and list the repositories it reaches." },
] as const satisfies readonly { readonly scope: TokenScope; readonly why: string }[];
export type BotScope = (typeof BOT_SCOPES)[number]['scope'];

/** "The forge refused the token of the bot: it lacks the scope write:issue." Null without a scope that is known. */
export function describeMissingScopes(scopes: readonly TokenScope[]): string | null {
  if (scopes.length === 0) return null;
  return `The forge refused the token of the bot: it lacks the scope ${scopes.join(' or ')}.`;
}

/** "The token lacks read:issue and read:user: make one with …." All that it lacks at once. */
export function describeLackingToken(missing: readonly TokenScope[]): string {
  const all = BOT_SCOPES.map(({ scope }) => scope).join(', ');
  return `The token lacks ${missing.join(' and ')}. Make one for all repositories that its account reaches, with the scopes ${all}.`;
}
