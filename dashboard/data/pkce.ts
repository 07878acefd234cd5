import { isRecord } from './ask-provider.ts';

/** A sign-in that left the page: what comes back counts only with what is kept here (RFC 7636). */
export interface Pending {
  readonly verifier: string;
  readonly state: string;
  readonly backTo: string;
}

export interface Challenge extends Pending {
  /** S256 of the verifier. */
  readonly challenge: string;
}

const PENDING_KEY = 'mergeyard.sign-in';

/** `place`: the tab alone, or all tabs of this browser, because a mailed link opens one of its own. */
export async function beginPending(place: Storage, backTo: string): Promise<Challenge> {
  const pending: Pending = { verifier: randomText(), state: randomText(), backTo };
  place.setItem(PENDING_KEY, JSON.stringify(pending));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier));
  return { ...pending, challenge: toBase64Url(new Uint8Array(digest)) };
}

/** Taken once: a second try with the same one is refused. */
export function takePending(place: Storage): Pending | null {
  const stored = place.getItem(PENDING_KEY);
  place.removeItem(PENDING_KEY);
  try {
    const value: unknown = JSON.parse(stored ?? 'null');
    return isPending(value) ? value : null;
  } catch {
    return null;
  }
}

function isPending(value: unknown): value is Pending {
  return (
    isRecord(value) && [value.verifier, value.state, value.backTo].every((each) => typeof each === 'string')
  );
}

function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
