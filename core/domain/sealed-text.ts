import type { RepoId, TenantId } from './ids.ts';

/** The purpose of a sealed text of a repository. Rights to open are granted for each. */
export type SecretPurpose = 'webhook-secret' | 'chat-url';

/** The first characters of a sealed text. No webhook secret and no address of a chat begins with them. */
export const SEALED_PREFIX = 'sealed:';

/** False: the text of a row that was written before such texts were sealed. */
export function isSealed(stored: string): boolean {
  return stored.startsWith(SEALED_PREFIX);
}

/** The names of a repository's row, as far as its secrets are bound to them. */
export interface SecretRow {
  readonly id: RepoId;
  readonly tenantId: TenantId;
  readonly webhookSecretOf?: RepoId | undefined;
}

/** A hook outlives the branch that it was made for, and its secret stays sealed to that one. */
export function webhookSecretOwner({ tenantId, id, webhookSecretOf }: SecretRow) {
  return { tenantId, repoId: webhookSecretOf ?? id, purpose: 'webhook-secret' } as const;
}

export function chatOwner({ tenantId, id }: SecretRow) {
  return { tenantId, repoId: id, purpose: 'chat-url' } as const;
}
