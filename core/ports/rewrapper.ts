import type { SealedCredential } from '../domain/repo.ts';
import type { CredentialOwner } from './system.ts';

/** Puts a data key under another key-encryption key without opening it. Rejects with `VaultError`. */
export interface Rewrapper {
  /** Counter of the key that it wraps with. */
  readonly keyVersion: number;
  /** The same token, nonce and format; another wrapped key and its version. */
  rewrap(owner: CredentialOwner, sealed: SealedCredential): Promise<SealedCredential>;
}
