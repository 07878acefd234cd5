import { randomBytes } from 'node:crypto';
import { DecryptCommand, GenerateDataKeyCommand, type ReEncryptCommand } from '@aws-sdk/client-kms';
import { DATA_KEY_BYTES, type KeyService } from '../kms-vault/data-key.ts';
import { type EncryptionContext, type Keyring, KmsError } from './keyring.ts';

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
      return { Plaintext: open(keyring, blob, context) };
    }
    const { CiphertextBlob: blob = new Uint8Array(), DestinationKeyId = '' } = command.input;
    const { SourceEncryptionContext = {}, DestinationEncryptionContext = {} } = command.input;
    const plaintext = open(keyring, blob, SourceEncryptionContext);
    try {
      return { CiphertextBlob: keyring.encrypt(DestinationKeyId, plaintext, DestinationEncryptionContext) };
    } finally {
      plaintext.fill(0);
    }
  }
  return { send };
}

/**
 * Opens a ciphertext. One of a key that the file does not hold is damaged for good: the file is read at the start alone,
 * so that no repetition finds the key, as it may find one of KMS.
 */
function open(keyring: Keyring, blob: Uint8Array, context: EncryptionContext): Buffer {
  try {
    return keyring.decrypt(blob, context, null).plaintext;
  } catch (error) {
    const isOfNoKey = error instanceof KmsError && error.name === 'NotFoundException';
    throw isOfNoKey ? new KmsError('InvalidCiphertextException', error.message) : error;
  }
}
