import type { GoTrueSignIn } from '#core/contracts/internal/dashboard.ts';

/** Why something at the identity provider did not work, in words for the form. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
}

export type Answer = Readonly<Record<string, unknown>>;

const SILENT = 'The identity provider did not answer. Try again in a moment.';
const REFUSED = 'That did not work: wrong e-mail or password, or the link is used up.';

/** Refusal of a call with the session of a person who is signed in. */
export const REFUSED_SESSION = 'The identity provider refused that. Sign in again, then try once more.';
export const REFUSED_LINK =
  'No link was sent: the identity provider does not know this address, or sends no links.';

/** One call to the identity provider. An answer without a body is an empty object. */
export async function ask(url: string, init: RequestInit, refused = REFUSED): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(url, { method: 'POST', ...init });
  } catch {
    throw new SignInError(SILENT);
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.status >= 500) throw new SignInError(SILENT);
  if (!response.ok)
    throw new SignInError(response.status === 429 ? 'Too many tries; wait a moment.' : refused);
  return isRecord(body) ? body : {};
}

export function isRecord(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null;
}

export function goTrueHeaders(config: GoTrueSignIn, token?: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(config.api_key === '' ? {} : { apikey: config.api_key }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
}
