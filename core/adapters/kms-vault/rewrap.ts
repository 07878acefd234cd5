import { type KMSClient, ReEncryptCommand } from '@aws-sdk/client-kms';
import type { Rewrapper } from '../../ports/rewrapper.ts';
import { VaultError } from '../../ports/system.ts';
import { contextOf, contextOfRow } from './vault.ts';

export interface KmsRewrapperConfig {
  readonly client: KMSClient;
  /** Id or ARN of the key that wraps from now on. */
  readonly keyId: string;
  readonly keyVersion: number;
}

/** Errors of KMS that say something about this one row. */
const ROW_ERRORS: ReadonlySet<string> = new Set(['InvalidCiphertextException', 'IncorrectKeyException']);

/** KMS opens and closes the data key in one call of its own: nothing of it comes here. */
export function createKmsRewrapper({ client, keyId, keyVersion }: KmsRewrapperConfig): Rewrapper {
  return {
    keyVersion,
    async rewrap(owner, sealed) {
      if (sealed.format !== 'v3' || sealed.encryptedDek === null) throw new VaultError('undecryptable');
      const blob = Buffer.from(sealed.encryptedDek, 'base64');
      const rewrapFrom = async (source: Record<string, string>): Promise<Uint8Array | undefined> => {
        const command = new ReEncryptCommand({
          CiphertextBlob: blob,
          SourceEncryptionContext: source,
          DestinationEncryptionContext: contextOf(owner),
          DestinationKeyId: keyId,
        });
        return (await client.send(command)).CiphertextBlob;
      };
      let wrapped: Uint8Array | undefined;
      try {
        // What was sealed before the forge was part of it is bound to its forge from now on.
        wrapped = await rewrapFrom(contextOf(owner)).catch((error: unknown) => {
          if (!isOfRow(error)) throw error;
          return rewrapFrom(contextOfRow(owner));
        });
      } catch (error) {
        // The SDK's error is dropped whole: it holds the request (A95).
        throw new VaultError(isOfRow(error) ? 'undecryptable' : 'unavailable');
      }
      if (wrapped === undefined) throw new VaultError('unavailable');
      return { ...sealed, keyVersion, encryptedDek: Buffer.from(wrapped).toString('base64') };
    },
  };
}

function isOfRow(error: unknown): boolean {
  return error instanceof Error && ROW_ERRORS.has(error.name);
}
