import { ReEncryptCommand } from '@aws-sdk/client-kms';
import { isSealed } from '../../domain/sealed-text.ts';
import type { Rewrapper, TextRewrapper } from '../../ports/rewrapper.ts';
import { VaultError } from '../../ports/system.ts';
import { type KeyService, readBase64 } from './data-key.ts';
import { contextOfSecret, formatEnvelope, parseEnvelope } from './secret-box.ts';
import { contextOf, contextOfRow } from './vault.ts';

export interface KmsRewrapperConfig {
  readonly client: KeyService;
  /** Id or ARN of the key that wraps from now on. */
  readonly keyId: string;
  readonly keyVersion: number;
}

/** Errors of KMS about this one row. */
const ROW_ERRORS: ReadonlySet<string> = new Set(['InvalidCiphertextException', 'IncorrectKeyException']);

/** Rewraps data keys. KMS decrypts and encrypts a data key in one call, so that the data key never comes here. */
export function createKmsRewrapper({
  client,
  keyId,
  keyVersion,
}: KmsRewrapperConfig): Rewrapper & TextRewrapper {
  async function rewrapKey(
    encryptedDek: string,
    [source, ...others]: readonly Record<string, string>[],
    target: Record<string, string>,
  ): Promise<string> {
    const command = new ReEncryptCommand({
      // One that is empty KMS calls an invalid request, which is no word about a row.
      CiphertextBlob: readBase64(encryptedDek),
      SourceEncryptionContext: source,
      DestinationEncryptionContext: target,
      DestinationKeyId: keyId,
    });
    let wrapped: Uint8Array | undefined;
    try {
      wrapped = (await client.send(command)).CiphertextBlob;
    } catch (error) {
      if (isOfRow(error) && others.length > 0) return rewrapKey(encryptedDek, others, target);
      // The SDK's error is dropped whole: it holds the request (A95).
      throw new VaultError(isOfRow(error) ? 'undecryptable' : 'unavailable');
    }
    if (wrapped === undefined) throw new VaultError('unavailable');
    return Buffer.from(wrapped).toString('base64');
  }
  return {
    keyVersion,
    async rewrap(owner, sealed) {
      if (sealed.format !== 'v3' || sealed.encryptedDek === null) throw new VaultError('undecryptable');
      // A credential that was sealed before the forge was part of it is bound to its forge from now on.
      const sources = [contextOf(owner), contextOfRow(owner)];
      return {
        ...sealed,
        keyVersion,
        encryptedDek: await rewrapKey(sealed.encryptedDek, sources, contextOf(owner)),
      };
    },
    async rewrapText(owner, stored) {
      if (!isSealed(stored)) return null;
      const envelope = parseEnvelope(stored);
      if (envelope.keyVersion === keyVersion) return null;
      const context = contextOfSecret(owner);
      const encryptedDek = await rewrapKey(envelope.encryptedDek, [context], context);
      return formatEnvelope({ ...envelope, keyVersion, encryptedDek });
    },
  };
}

function isOfRow(error: unknown): boolean {
  return error instanceof Error && ROW_ERRORS.has(error.name);
}
