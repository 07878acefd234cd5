import type { ForgePerson } from '#core/adapters/identity-forge/forge-oauth.ts';
import type { SessionPerson } from '#core/adapters/identity-forge/sessions.ts';
import { isAmong, type OneboxConfig } from './config.ts';
import { tenantOf } from './tenant.ts';

/** The rights of a person of the forge, as the configuration gives them; null: none. */
export function createAdmission({ sign_in: { allow, administrators }, forge }: OneboxConfig) {
  const tenantId = tenantOf(forge.url);
  return (person: ForgePerson): SessionPerson | null => {
    const isAdmin = isAmong(administrators, person);
    if (!isAdmin && allow !== undefined && !isAmong(allow, person)) return null;
    return { tenantId, login: person.login, email: person.email, isAdmin };
  };
}
