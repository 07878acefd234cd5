import { KMSClient } from '@aws-sdk/client-kms';
import { SSMClient } from '@aws-sdk/client-ssm';
import type { VaultSettings } from '../../contracts/internal/env.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import type { Clock, Vault } from '../../ports/system.ts';
import { createSecretReader } from '../parameter-store/secret-reader.ts';
import { createKmsSecretBox } from './secret-box.ts';
import { createKmsVault } from './vault.ts';

/** The vault of a function, as its environment describes it. */
export function openVault(env: VaultSettings, clock: Pick<Clock, 'monotonic'>): Vault {
  const secretId = env.LEGACY_KEY_SECRET_ID;
  return createKmsVault({
    client: new KMSClient({}),
    keyId: env.CREDENTIAL_KEY_ID,
    keyVersion: env.CREDENTIAL_KEY_VERSION,
    ...(secretId === ''
      ? {}
      : { legacy: { readV1Key: createSecretReader(new SSMClient({}), secretId, clock) } }),
  });
}

/** Seals and opens the other secrets of repositories, with the key of the vault. */
export function openSecretBox(env: VaultSettings): SecretBox {
  const key = { id: env.CREDENTIAL_KEY_ID, version: env.CREDENTIAL_KEY_VERSION };
  return createKmsSecretBox({ client: new KMSClient({}), key });
}
