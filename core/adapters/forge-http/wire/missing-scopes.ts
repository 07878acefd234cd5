import * as z from 'zod';
import { TOKEN_SCOPES, type TokenScope } from '#core/domain/forge/token-scopes.ts';

const Refusal = z.object({ message: z.string() });
/**
 * Forgejo: `required scope(s): [write:issue]`; Gitea: `required scope(s), required=[write:issue], token scope=…`. A list ends at the
 * next bracket of either kind: of lists that are not closed each would be read to the end of megabytes.
 */
const REQUIRED = /required scope\(s\)(?:: |, required=)\[([^[\]]*)\]/;

/** The scopes of which the token lacks all, as far as the forge's refusal names ones that we know. */
export function readMissingScopes(answer: {
  readonly status: number;
  readonly value: unknown;
}): readonly TokenScope[] {
  const told = Refusal.safeParse(answer.value);
  if (answer.status !== 403 || !told.success) return [];
  const named = (REQUIRED.exec(told.data.message)?.[1] ?? '').split(/[\s,]+/);
  return TOKEN_SCOPES.filter((scope) => named.includes(scope));
}
