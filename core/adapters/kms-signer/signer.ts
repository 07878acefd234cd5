import { createHash, createPublicKey } from 'node:crypto';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { type PublicKey, type Signer, SignerError } from '../../ports/signer.ts';

/**
 * Signs with an asymmetric key of KMS, whose private half never leaves KMS. Null: `keyId` is empty, and there is no
 * key.
 */
export function openKmsSigner(keyId: string): Signer | null {
  return keyId === '' ? null : createKmsSigner({ client: new KMSClient({}), keyId });
}

export function createKmsSigner({
  client,
  keyId,
}: {
  readonly client: Pick<KMSClient, 'send'>;
  readonly keyId: string;
}): Signer {
  let known: PublicKey | null = null;
  return {
    async readPublicKey() {
      known ??= toPem(
        await ask(async () => (await client.send(new GetPublicKeyCommand({ KeyId: keyId }))).PublicKey),
      );
      return known;
    },
    async sign(bytes) {
      // AWS KMS API reference, Sign: a message has at most 4096 bytes, a digest stands for any.
      const digest = createHash('sha256').update(bytes).digest();
      const command = new SignCommand({
        KeyId: keyId,
        Message: digest,
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      });
      return ask(async () => (await client.send(command)).Signature);
    },
  };
}

async function ask(call: () => Promise<Uint8Array | undefined>): Promise<Uint8Array> {
  // The SDK's error is dropped whole: it holds the request (A95).
  const bytes = await call().catch(() => undefined);
  if (bytes === undefined) throw new SignerError();
  return bytes;
}

function toPem(der: Uint8Array): PublicKey {
  const key = createPublicKey({ key: Buffer.from(der), type: 'spki', format: 'der' });
  return { pem: key.export({ type: 'spki', format: 'pem' }).toString() };
}
