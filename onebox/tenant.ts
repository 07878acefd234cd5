import { createHash } from 'node:crypto';

/**
 * Id of the tenant that an installation is, or that one organization of its forge is: the same for the same forge and
 * number, as the name-based UUID of RFC 9562.
 */
export function tenantOf(forgeUrl: string, organizationId?: number): string {
  return formatTenant(new URL(forgeUrl).origin, organizationId);
}

/** As `tenantOf`, for an origin that is parsed already. */
export function formatTenant(origin: string, organizationId?: number): string {
  const name =
    organizationId === undefined
      ? `mergeyard ${origin}`
      : `mergeyard ${origin} organization ${organizationId}`;
  const bytes = createHash('sha1').update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
