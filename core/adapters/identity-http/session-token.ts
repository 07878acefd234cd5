import { SESSION_TOKEN_CHARS_MAX } from '#core/domain/api-limits.ts';
import { canonicalId } from '#core/domain/ids.ts';
import type { AdminWithheld, SessionFacts } from '#core/ports/identity.ts';

/**
 * Leeway for the expiry, in ms: clocks differ, and the provider decides, so only a token that is long over is refused
 * here.
 */
const EXPIRY_LEEWAY_MS = 5_000;

/**
 * Claims of a token that is worth asking the provider about: three parts, an object inside, an algorithm named, not long
 * expired (D-40). Null is junk. The claims prove nothing by themselves.
 */
export function readPlausibleClaims(token: string, nowMs: number): Readonly<Record<string, unknown>> | null {
  if (token.length > SESSION_TOKEN_CHARS_MAX) return null;
  const parts = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token);
  const header = readPart(parts?.[1]);
  const claims = readPart(parts?.[2]);
  if (header === null || claims === null) return null;
  if (typeof header.alg !== 'string' || header.alg.toLowerCase() === 'none') return null;
  const expiry = claims.exp;
  if (typeof expiry !== 'number' || expiry * 1000 + EXPIRY_LEEWAY_MS <= nowMs) return null;
  return claims;
}

function readPart(part: string | undefined): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

/**
 * Whether administrator rights apply: the account must have a second factor, and the session must have been begun with
 * it.
 */
export function judgeAdmin(
  hasRole: boolean,
  hasFactor: boolean,
  showedFactor: boolean,
): { readonly isAdmin: boolean; readonly adminWithheld?: AdminWithheld } {
  if (!hasRole || (hasFactor && showedFactor)) return { isAdmin: hasRole };
  return { isAdmin: false, adminWithheld: hasFactor ? 'not_in_session' : 'no_factor' };
}

/** The session behind a token that the provider has accepted, where its claims tell it. */
export function readSessionFacts(
  id: unknown,
  startedAtSeconds: unknown,
): { readonly session?: SessionFacts } {
  const known = typeof id === 'string' ? canonicalId(id) : null;
  if (known === null || !Number.isSafeInteger(startedAtSeconds)) return {};
  return { session: { id: known, startedAt: Number(startedAtSeconds) * 1000 } };
}
