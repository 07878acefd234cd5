import { type Session, session, setSession } from './session.ts';
import { createWatchable } from './store.ts';

/** A tab that is open answers within this time. */
const ANSWERED_WITHIN_MS = 250;

/** When the service ended the session of this tab, epoch ms; null: it did not, or the person signed in since. */
export const endedAt = createWatchable<number | null>(null);

/** The service takes the token no more. */
export function expireSession(): void {
  if (session.read() === null) return;
  endedAt.set(Date.now());
  setSession(null);
}

const CHANNEL = 'mergeyard.session';

type Message =
  | { readonly kind: 'asked' }
  /** `after`: the token that it renews; null: it renews none. */
  | { readonly kind: 'has'; readonly session: Session; readonly after: string | null }
  | { readonly kind: 'ended'; readonly token: string };

/**
 * Tabs of one browser share a session: a link in a new tab needs no sign-in, and a sign-out ends all of them. The session goes from
 * tab to tab and is stored nowhere else. Resolves once another tab has answered, or none has.
 */
export function shareSession(): Promise<void> {
  if (!('BroadcastChannel' in globalThis)) return Promise.resolve();
  const channel = new BroadcastChannel(CHANNEL);
  const tell = (message: Message): void => channel.postMessage(message);
  let known = session.read();
  /** Token of the session that ended here last. */
  let ended: string | null = null;
  return new Promise((answered) => {
    const hear = (message: Message): void => {
      const own = session.read();
      if (message.kind === 'asked') {
        if (own !== null && own.expiresAt > Date.now()) tell({ kind: 'has', session: own, after: null });
      } else if (message.kind === 'ended') {
        if (own?.token === message.token) take(null);
      } else if (own === null && ended !== null && message.after === ended) {
        // The sign-out of this tab and the renewal of that one have crossed.
        tell({ kind: 'ended', token: message.session.token });
      } else if (own === null || isSame(own, message.session)) {
        take(message.session);
        answered();
      }
    };
    const take = (next: Session | null): void => {
      known = next;
      setSession(next);
    };
    channel.addEventListener('message', ({ data }: MessageEvent<Message>) => hear(data));
    session.watch(() => {
      const next = session.read();
      if (next !== null) endedAt.set(null);
      // What another tab told is told no further.
      if (next === known) return;
      if (next !== null) {
        const renews = known !== null && known.email === next.email;
        tell({ kind: 'has', session: next, after: renews ? (known?.token ?? null) : null });
      } else if (known !== null) {
        ended = known.token;
        tell({ kind: 'ended', token: known.token });
      }
      known = next;
    });
    if (known !== null) return answered();
    tell({ kind: 'asked' });
    setTimeout(answered, ANSWERED_WITHIN_MS);
  });
}

/** A session of the same person in the same account, and no older one. Two unknown persons are not the same. */
function isSame(own: Session, other: Session): boolean {
  const isOnePerson = own.email !== null && own.email === other.email;
  const isOfOne = isOnePerson && own.tenants?.chosen === other.tenants?.chosen;
  return isOfOne && other.token !== own.token && other.expiresAt >= own.expiresAt;
}
