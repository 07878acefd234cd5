import type { Log } from '#core/ports/system.ts';
import { ConfigError, type OneboxConfig } from './config.ts';
import { formatTenant, tenantOf } from './tenant.ts';

/**
 * Highest number of an organization that is tried. Forges number accounts and organizations together, and the largest
 * public ones have fewer; trying all takes seconds.
 */
const ORGANIZATION_NUMBER_MAX = 1_000_000;
/** Connections that are read at most, more than an installation has; the rest belongs to the same tenants as a rule. */
export const CONNECTIONS_READ_MAX = 10_000;

/** Tenant and forge of a stored connection. */
export interface HeldConnection {
  readonly tenantId: string;
  readonly instanceUrl: string;
}

type Forge = Pick<OneboxConfig, 'forge' | 'tenants'>;

/** Connections that no person who signs in would see, as words. `isAll`: no connection could be seen. */
export interface Lost {
  readonly words: string;
  readonly isAll: boolean;
}

/**
 * Finds connections of tenants that no sign-in leads to; null: there are none. The id of a tenant is made from the
 * origin of the forge that signs people in, so another `forge.url` or another value of `tenants` makes other tenants.
 * The forge of a connection says nothing about its tenant.
 * @param organizationMax the highest number of an organization that is tried
 */
export function findLost(
  config: Forge,
  held: readonly HeldConnection[],
  organizationMax = ORGANIZATION_NUMBER_MAX,
): Lost | null {
  const own = findOwn(config, new Set(held.map(({ tenantId }) => tenantId)), organizationMax);
  const lost = held.filter(({ tenantId }) => !own.has(tenantId));
  if (lost.length === 0) return null;
  const { origin } = new URL(config.forge.url);
  const others = [...new Set(lost.map(({ instanceUrl }) => new URL(instanceUrl).origin))].filter(
    (each) => each !== origin,
  );
  return { words: others.length > 0 ? sayOther(others, origin) : sayTenants(), isAll: own.size === 0 };
}

/** Refuses rows of which no person who signs in would see any, with a `ConfigError`; warns where some would be hidden. */
export function refuseLost(
  config: Forge,
  held: readonly HeldConnection[],
  log: Log,
  organizationMax = ORGANIZATION_NUMBER_MAX,
): void {
  const lost = findLost(config, held, organizationMax);
  if (lost === null) return;
  if (lost.isAll) throw new ConfigError(lost.words);
  log.warn('some repositories belong to no person who signs in here', { reason: lost.words });
}

const sayOther = (others: readonly string[], origin: string): string =>
  `forge.url: connections and repositories are there that were made with ${others.join(', ')} as the forge, and forge.url names ${origin}: no person who signs in would see them, and their queues would go on. Put the former address back, or name a new data_dir for this forge. Where the forge itself has moved, docs/onebox.md says what is possible.`;

const sayTenants = (): string =>
  'tenants: connections and repositories are there that no person who signs in would see: they were made with another value of tenants, or are imported without --tenant. Put the former value back, or export them and import them with --tenant (docs/onebox.md, Organizations).';

function findOwn(
  { forge, tenants }: Forge,
  ids: ReadonlySet<string>,
  organizationMax: number,
): ReadonlySet<string> {
  if (tenants === 'installation') return new Set([tenantOf(forge.url)].filter((id) => ids.has(id)));
  const [own, { origin }] = [new Set<string>(), new URL(forge.url)];
  for (let number = 1; own.size < ids.size && number <= organizationMax; number += 1) {
    const id = formatTenant(origin, number);
    if (ids.has(id)) own.add(id);
  }
  return own;
}
