import type { EpochMs, TenantId } from '../domain/ids.ts';
import type { Secret } from '../secret.ts';

/** A session from the sign-in on, through all tokens that renew it. */
export interface SessionFacts {
  /** A UUID that the provider gave; no credential. */
  readonly id: string;
  /** The sign-in. */
  readonly startedAt: EpochMs;
}

/**
 * Why a person with the role of administrators has no right of one. `no_factor`: the account has no second factor;
 * `not_in_session`: it has one, and this session was begun without it.
 */
export type AdminWithheld = 'no_factor' | 'not_in_session';

/** An account on a forge. */
export interface ForgeLogin {
  readonly instanceUrl: string;
  readonly login: string;
}

/** `unavailable`: no answer, or none that can be trusted; never to be taken for either of the others (A89). */
export type IdentityAnswer =
  | {
      readonly kind: 'user';
      readonly id: TenantId;
      readonly isAdmin: boolean;
      /** @default nothing is withheld */
      readonly adminWithheld?: AdminWithheld;
      /** False: may see everything of the tenant and change nothing. @default true */
      readonly mayChange?: boolean;
      /** @default the provider does not tell */
      readonly session?: SessionFacts;
      /** Name of the person, where several share the tenant. @default the tenant is the person */
      readonly person?: string;
      /** The provider is a forge, and this is the person's login there. @default it is none */
      readonly forge?: ForgeLogin;
    }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'unavailable'; readonly status: number | null };

/** The provider of sessions, asked on every use (A92). Never throws. */
export interface IdentityPort {
  /** Product name, shown as the dependency of the public health check. */
  readonly name: string;
  verify(token: Secret<string>): Promise<IdentityAnswer>;
  isReachable(): Promise<boolean>;
}
