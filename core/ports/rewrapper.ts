import type { SealedCredential } from '../domain/repos/repo.ts';
import type { SecretOwner } from './secret-box.ts';
import type { CredentialOwner } from './system.ts';

/** Puts a data key under another key-encryption key without opening it. Rejects with `VaultError`. */
export interface Rewrapper {
  /** Counter of the key that it wraps with. */
  readonly keyVersion: number;
  /** The same token, nonce and format; another wrapped key and its version. */
  rewrap(owner: CredentialOwner, sealed: SealedCredential): Promise<SealedCredential>;
}

/** Puts the other secrets of a repository under another key-encryption key. Rejects with `VaultError`. */
export interface TextRewrapper {
  readonly keyVersion: number;
  /** Null: it is under that key already, or was never sealed. */
  rewrapText(owner: SecretOwner, stored: string): Promise<string | null>;
}
