import type {
  AdminWithheld,
  ForgeLogin,
  IdentityAnswer,
  IdentityPort,
  SessionFacts,
} from '#core/ports/identity.ts';
import type { Secret } from '#core/secret.ts';

/** Sessions as a map; can be silent. */
export class FakeIdentity implements IdentityPort {
  readonly name = 'gotrue';
  available = true;
  /** How often a token was asked about. */
  asked = 0;
  /** How often it was asked whether it answers at all. */
  probed = 0;
  readonly #sessions = new Map<
    string,
    {
      readonly id: string;
      readonly isAdmin: boolean;
      readonly mayChange?: boolean;
      readonly session?: SessionFacts;
      readonly person?: string;
      readonly forge?: ForgeLogin;
      readonly adminWithheld?: AdminWithheld;
    }
  >();

  /** `session` of a second token is that of the first one when it was renewed. @default the provider tells none */
  signIn(token: string, id: string, isAdmin = false, session?: SessionFacts, person?: string): string {
    this.#sessions.set(token, {
      id,
      isAdmin,
      ...(session === undefined ? {} : { session }),
      ...(person === undefined ? {} : { person }),
    });
    return token;
  }

  /** A session of a forge itself, of one of several people of the tenant; a mere reader there. */
  signInByForge(token: string, id: string, forge: ForgeLogin): string {
    this.#sessions.set(token, { id, isAdmin: false, mayChange: false, person: forge.login, forge });
    return token;
  }

  /** A person who may see everything of the tenant and change nothing. */
  signInReader(token: string, id: string): string {
    this.#sessions.set(token, { id, isAdmin: false, mayChange: false });
    return token;
  }

  /** From now on the session of an administrator lacks the second factor. */
  withholdAdmin(token: string, why: AdminWithheld): void {
    const known = this.#sessions.get(token);
    if (known !== undefined) this.#sessions.set(token, { ...known, isAdmin: false, adminWithheld: why });
  }

  revoke(token: string): void {
    this.#sessions.delete(token);
  }

  async verify(token: Secret<string>): Promise<IdentityAnswer> {
    this.asked += 1;
    if (!this.available) return { kind: 'unavailable', status: 502 };
    const user = this.#sessions.get(token.reveal());
    return user === undefined ? { kind: 'invalid' } : { kind: 'user', ...user };
  }

  async isReachable(): Promise<boolean> {
    this.probed += 1;
    return this.available;
  }
}
