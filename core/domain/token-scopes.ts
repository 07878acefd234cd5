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

/** "The forge refused the stored token: it lacks the scope write:issue." Null without a scope that is known. */
export function describeMissingScopes(scopes: readonly TokenScope[]): string | null {
  if (scopes.length === 0) return null;
  return `The forge refused the stored token: it lacks the scope ${scopes.join(' or ')}.`;
}
