import type { ForgePerson } from '#core/adapters/identity-forge/forge-oauth.ts';
import type { SessionPerson } from '#core/adapters/identity-forge/sessions.ts';
import { isAmong, type OneboxConfig } from './config.ts';
import { tenantOf } from './tenant.ts';

/**
 * The rights of a person of the forge, as the configuration gives them; null: none. Where organizations are tenants, a
 * person sees those in which they may write, and changes those that they own; administrators change what they see.
 */
export function createAdmission({ sign_in: { allow, administrators }, forge, tenants }: OneboxConfig) {
  return (person: ForgePerson): SessionPerson | null => {
    const { account, login, email } = person;
    const isAdmin = isAmong(administrators, person);
    if (!isAdmin && allow !== undefined && !isAmong(allow, person)) return null;
    if (tenants === 'installation') return { tenantId: tenantOf(forge.url), account, login, email, isAdmin };
    const own = (person.organizations ?? []).map(({ id, name, isOwner }) => ({
      id: tenantOf(forge.url, id),
      name,
      mayChange: isOwner || isAdmin,
    }));
    const [first] = own;
    return first === undefined ? null : { tenantId: first.id, account, login, email, isAdmin, tenants: own };
  };
}
