import { type AccountStore, type AuditEntry, SESSION_STARTED } from '../ports/account-store.ts';
import type { Log } from '../ports/system.ts';
import type { Caller } from './api-call.ts';

export interface SignInDeps {
  readonly store: Pick<AccountStore, 'appendSignIn'>;
  readonly log: Log;
  /** Epoch ms. @default Date.now */
  readonly now?: () => number;
}

/** Notes the sign-in behind a caller, from where the first request of the session came. Never throws. */
export type NoteSignIn = (caller: Caller, network: string) => Promise<void>;

/** Sessions that an instance remembers; beyond it the oldest is forgotten, and its note is found in the store again. */
const REMEMBERED_MAX = 10_000;
/** A tenant that does not exist yet, and a store that fails, are asked again after this. */
const ASKED_AGAIN_MS = 60_000;

/** One for each instance of a function. The sign-in itself happens at the identity provider, which does not tell. */
export function createSignInNotes({ store, log, now = Date.now }: SignInDeps): NoteSignIn {
  /** When to ask again, by session. */
  const known = new Map<string, number>();
  return async (caller, network) => {
    if (caller.kind !== 'user' || caller.session === undefined) return;
    const { id: tenantId, session } = caller;
    if ((known.get(session.id) ?? Number.NEGATIVE_INFINITY) > now()) return;
    known.delete(session.id);
    // Before the first wait: requests of a page come together.
    known.set(session.id, now() + ASKED_AGAIN_MS);
    const [oldest] = known.keys();
    if (known.size > REMEMBERED_MAX && oldest !== undefined) known.delete(oldest);
    const entry: AuditEntry = {
      id: session.id,
      tenantId,
      at: session.startedAt,
      actor: caller.person ?? tenantId,
      from: network,
      action: SESSION_STARTED,
      target: tenantId,
      result: 'ok',
    };
    try {
      if (await store.appendSignIn(entry)) known.set(session.id, Number.POSITIVE_INFINITY);
    } catch (error) {
      log.warn('a sign-in could not be noted', { tenant_id: tenantId, error });
    }
  };
}
