import { randomBytes } from 'node:crypto';
import { DecryptCommand, GenerateDataKeyCommand, type ReEncryptCommand } from '@aws-sdk/client-kms';
import { DATA_KEY_BYTES, type KeyService } from '../kms-vault/data-key.ts';
import type { Keyring } from './keyring.ts';

type Command = GenerateDataKeyCommand | DecryptCommand | ReEncryptCommand;

/** The calls of KMS that vault and rewrap make, answered with the keys of a file. */
export function createKeyFileService(keyring: Keyring): KeyService {
  async function send(command: Command): Promise<{ Plaintext?: Uint8Array; CiphertextBlob?: Uint8Array }> {
    if (command instanceof GenerateDataKeyCommand) {
      const { KeyId = '', EncryptionContext: context = {} } = command.input;
      const plaintext = randomBytes(DATA_KEY_BYTES);
      return { Plaintext: plaintext, CiphertextBlob: keyring.encrypt(KeyId, plaintext, context) };
    }
    if (command instanceof DecryptCommand) {
      const { CiphertextBlob: blob = new Uint8Array(), EncryptionContext: context = {} } = command.input;
      return { Plaintext: keyring.decrypt(blob, context, null).plaintext };
    }
    const { CiphertextBlob: blob = new Uint8Array(), DestinationKeyId = '' } = command.input;
    const { SourceEncryptionContext = {}, DestinationEncryptionContext = {} } = command.input;
    const { plaintext } = keyring.decrypt(blob, SourceEncryptionContext, null);
    try {
      return { CiphertextBlob: keyring.encrypt(DestinationKeyId, plaintext, DestinationEncryptionContext) };
    } finally {
      plaintext.fill(0);
    }
  }
  return { send };
}
