import { join } from 'node:path';
import { createKeyFileService } from '#core/adapters/key-file/key-service.ts';
import { Keyring } from '#core/adapters/key-file/keyring.ts';
import { createKmsSecretBox } from '#core/adapters/kms-vault/secret-box.ts';
import { createKmsVault } from '#core/adapters/kms-vault/vault.ts';

/** Vault and box of the key file in the data folder, which is made at the first start. */
export function openKeys(dataDir: string) {
  const keyring = new Keyring(join(dataDir, 'keys.json'));
  const { keyId, version } = keyring.newest();
  const client = createKeyFileService(keyring);
  return {
    vault: createKmsVault({ client, keyId, keyVersion: version }),
    secrets: createKmsSecretBox({ client, key: { id: keyId, version } }),
  };
}
