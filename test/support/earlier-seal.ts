import { createCipheriv, randomBytes } from 'node:crypto';
import { EncryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import type { SealedCredential } from '#core/domain/repos/repo.ts';
import type { CredentialOwner } from '#core/ports/system.ts';

/** A credential as it was sealed before the forge's origin was part of what its data key is bound to. */
export async function sealWithoutForge(
  client: KMSClient,
  keyId: string,
  owner: CredentialOwner,
  token: string,
): Promise<SealedCredential> {
  const context = {
    connection_id: owner.connectionId,
    purpose: 'forge-token',
    tenant_id: owner.tenantId,
    v: '3',
  };
  const dataKey = randomBytes(32);
  const wrapped = await client.send(
    new EncryptCommand({ KeyId: keyId, Plaintext: dataKey, EncryptionContext: context }),
  );
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', dataKey, nonce).setAAD(Buffer.from(JSON.stringify(context)));
  const encrypted = Buffer.concat([cipher.update(token), cipher.final(), cipher.getAuthTag()]);
  return {
    format: 'v3',
    keyVersion: 1,
    encryptedToken: encrypted.toString('base64'),
    tokenNonce: nonce.toString('base64'),
    encryptedDek: Buffer.from(wrapped.CiphertextBlob ?? []).toString('base64'),
  };
}
