import type { RepoId, TenantId } from '../domain/ids.ts';
import type { SecretPurpose } from '../domain/sealed-text.ts';
import type { Secret } from '../secret.ts';

/** Which row a text belongs to; bound to what is sealed. */
export interface SecretOwner {
  readonly tenantId: TenantId;
  readonly repoId: RepoId;
  readonly purpose: SecretPurpose;
}

/** Secrets of a repository as its row holds them. Rejects with `VaultError`. */
export interface SecretBox {
  /** The text to store. One that is sealed already is returned as it is. */
  seal(owner: SecretOwner, text: string): Promise<string>;
  /** Of a row from before texts were sealed, the text itself. */
  open(owner: SecretOwner, stored: string): Promise<Secret<string>>;
}
