import { join } from 'node:path';
import type { TextSeal } from '#core/adapters/identity-forge/sessions.ts';
import { createKeyFileService } from '#core/adapters/key-file/key-service.ts';
import { Keyring } from '#core/adapters/key-file/keyring.ts';
import { createKmsSecretBox } from '#core/adapters/kms-vault/secret-box.ts';
import { createKmsVault } from '#core/adapters/kms-vault/vault.ts';
import { KEYS_FILE, openOwn } from './own-files.ts';

/**
 * Opens the vault, the box and the seal of the key file in the data folder, and makes that file at the first start.
 * Throws `ConfigError` where it is damaged.
 */
export function openKeys(dataDir: string) {
  const keyring = openOwn(KEYS_FILE, () => new Keyring(join(dataDir, KEYS_FILE)));
  const { keyId, version } = keyring.newest();
  const client = createKeyFileService(keyring);
  return {
    vault: createKmsVault({ client, keyId, keyVersion: version }),
    secrets: createKmsSecretBox({ client, key: { id: keyId, version } }),
    sessionSeal: createTextSeal(keyring, keyId),
  };
}

/** Context of the forge tokens that sessions keep; they open for no other purpose. */
const OF_SESSIONS = { purpose: 'forge-session' };

function createTextSeal(keyring: Keyring, keyId: string): TextSeal {
  return {
    seal: (text) => keyring.encrypt(keyId, Buffer.from(text, 'utf8'), OF_SESSIONS).toString('base64'),
    open(sealed) {
      try {
        const { plaintext } = keyring.decrypt(Buffer.from(sealed, 'base64'), OF_SESSIONS, null);
        return plaintext.toString('utf8');
      } catch {
        return null;
      }
    },
  };
}
