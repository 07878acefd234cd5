/** What a sealed text of a repository is for. Rights to open are granted for each. */
export type SecretPurpose = 'webhook-secret' | 'chat-url';

/** What a sealed text begins with. No webhook secret and no address of a chat does. */
export const SEALED_PREFIX = 'sealed:';

/** False: the text of a row that was written before such texts were sealed. */
export function isSealed(stored: string): boolean {
  return stored.startsWith(SEALED_PREFIX);
}
