import { createHash } from 'node:crypto';

/** One installation is one tenant: the same id for the same forge, as the name-based UUID of RFC 9562. */
export function tenantOf(forgeUrl: string): string {
  const bytes = createHash('sha1')
    .update(`mergeyard ${new URL(forgeUrl).origin}`)
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
