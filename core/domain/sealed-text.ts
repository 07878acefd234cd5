/** The purpose of a sealed text of a repository. Rights to open are granted for each. */
export type SecretPurpose = 'webhook-secret' | 'chat-url';

/** The first characters of a sealed text. No webhook secret and no address of a chat begins with them. */
export const SEALED_PREFIX = 'sealed:';

/** False: the text of a row that was written before such texts were sealed. */
export function isSealed(stored: string): boolean {
  return stored.startsWith(SEALED_PREFIX);
}
