import { FORGE_RIGHTS_MS } from '../../domain/api-limits.ts';
import type { IdentityPort } from '../../ports/identity.ts';
import type { Clock } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import type { ForgeOAuth, ForgePerson, ForgeSignIn } from './forge-oauth.ts';
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
  /**
   * Reads of rights under way, by account: the calls of one page come together, and a refresh token, which the sessions
   * of an account share, works once. A session of before is by itself.
   */
  const reading = new Map<number | string, Promise<Rights>>();

  async function askForge(id: string, account: number | null): Promise<ForgeSignIn> {
    const tokenOf = (): Secret<string> | null => sessions.readRights(id)?.refreshToken ?? null;
    const token = tokenOf();
    if (token === null) return 'refused';
    // By the account: this session may end meanwhile, and the others have no other token.
    const keep = (next: Secret<string>): void =>
      account === null ? sessions.keepToken(id, next) : sessions.keepTokenOf(account, next);
    const answer = await forge.readAgain(token, keep);
    const newest = tokenOf();
    // A sign-in of the same account ends the token that is under way.
    const isEnded = answer === 'refused' && newest !== null && newest.reveal() !== token.reveal();
    return isEnded ? forge.readAgain(newest, keep) : answer;
  }

  async function readAgain(id: string, account: number | null): Promise<Rights> {
    const answer = await askForge(id, account);
    if (answer === 'unreachable') return 'unknown';
    const person = answer === 'refused' ? null : config.admit(answer.person);
    if (person === null) {
      sessions.endById(id);
      return 'gone';
    }
    sessions.keepRights(id, person);
    return 'held';
  }

  async function readRights(id: string): Promise<Rights> {
    const known = sessions.readRights(id);
    if (known === null) return 'gone';
    // A time ahead is of a clock that has been set back since: the rights may be older than they seem.
    if (Math.abs(clock.now() - known.readAt) < FORGE_RIGHTS_MS) return 'held';
    const key = known.account ?? id;
    const under = reading.get(key) ?? readAgain(id, known.account).finally(() => reading.delete(key));
    reading.set(key, under);
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
