import { FORGE_RIGHTS_MS } from '../../domain/api-limits.ts';
import type { IdentityPort } from '../../ports/identity.ts';
import type { Clock } from '../../ports/system.ts';
import type { ForgeOAuth, ForgePerson } from './forge-oauth.ts';
import type { SessionPerson, Sessions } from './sessions.ts';

export interface ForgeIdentityConfig {
  /** Base address of the forge. */
  readonly instanceUrl: string;
  readonly sessions: Sessions;
  readonly forge: Pick<ForgeOAuth, 'readAgain' | 'isReachable'>;
  /** Decides who is admitted; null: this person may not use the service. */
  readonly admit: (person: ForgePerson) => SessionPerson | null;
  readonly clock: Pick<Clock, 'now'>;
}

/** `unknown`: the forge gives no answer, so that a right may be gone. */
type Rights = 'held' | 'gone' | 'unknown';

/**
 * Verifies sessions of the forge's sign-in. Rights that are older than `FORGE_RIGHTS_MS` are read from the forge again
 * before anything is answered. A token speaks for one tenant, and the rights are those of its person in that one.
 */
export function createForgeIdentity(config: ForgeIdentityConfig): IdentityPort {
  const { sessions, forge, clock } = config;
  /** Reads of rights under way, by session: the calls of one page come together, and a refresh token works once. */
  const reading = new Map<string, Promise<Rights>>();

  async function readAgain(id: string): Promise<Rights> {
    const token = sessions.readRights(id)?.refreshToken ?? null;
    const answer = token === null ? 'refused' : await forge.readAgain(token);
    if (answer === 'unreachable') return 'unknown';
    const person = answer === 'refused' ? null : config.admit(answer.person);
    if (answer === 'refused' || person === null) {
      sessions.endById(id);
      return 'gone';
    }
    sessions.keepRights(id, person, answer.refreshToken);
    return 'held';
  }

  async function readRights(id: string): Promise<Rights> {
    const known = sessions.readRights(id);
    if (known === null) return 'gone';
    // A time ahead is of a clock that has been set back since: the rights may be older than they seem.
    if (Math.abs(clock.now() - known.readAt) < FORGE_RIGHTS_MS) return 'held';
    const under = reading.get(id) ?? readAgain(id).finally(() => reading.delete(id));
    reading.set(id, under);
    return under;
  }

  return {
    name: 'forge',
    async verify(token) {
      const begun = await sessions.readPerson(token.reveal());
      if (begun === null) return { kind: 'invalid' };
      const rights = await readRights(begun.session.id);
      if (rights === 'unknown') return { kind: 'unavailable', status: null };
      const person = rights === 'gone' ? null : await sessions.readPerson(token.reveal());
      if (person === null) return { kind: 'invalid' };
      const { tenantId: id, isAdmin, mayChange, session, login } = person;
      const forgeLogin = { instanceUrl: config.instanceUrl, login };
      return { kind: 'user', id, isAdmin, mayChange, session, person: login, forge: forgeLogin };
    },
    isReachable: () => forge.isReachable(),
  };
}
