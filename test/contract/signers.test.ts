import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KMSClient } from '@aws-sdk/client-kms';
import { openFileSigner } from '#core/adapters/key-file/signer.ts';
import { createKmsSigner } from '#core/adapters/kms-signer/signer.ts';
import { keyIdOf, openEnvelope, readPublicKey, signedBytes } from '#core/contracts/evidence/dsse.ts';
import type { Signer } from '#core/ports/signer.ts';
import { startKms } from '../../local/emulators/kms.ts';
import { LOCAL_AWS } from '../support/local-aws.ts';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const KEY_ID = '11111111-1111-4111-8111-111111111111';
let emulator: Awaited<ReturnType<typeof startKms>>;
let client: KMSClient;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signers-'));
  emulator = await startKms({ file: join(folder, 'keys.json'), signingKeyIds: [KEY_ID] });
  client = new KMSClient({ endpoint: emulator.endpoint, ...LOCAL_AWS, maxAttempts: 1 });
});
afterAll(async () => {
  client.destroy();
  await emulator.stop();
  rmSync(folder, { recursive: true });
});

const SIGNERS: Readonly<Record<string, () => Signer>> = {
  KMS: () => createKmsSigner({ client, keyId: KEY_ID }),
  'the key file': () => openFileSigner(join(folder, 'evidence-key.pem')),
};

describe.each(Object.keys(SIGNERS))('%s', (name) => {
  const open = (): Signer => SIGNERS[name]?.() as Signer;

  test.each([[1], [4_096], [20_000]])(
    'signs %d bytes so that its public key alone verifies them',
    async (length) => {
      const [signer, payload] = [open(), Buffer.alloc(length, 7)];
      const key = readPublicKey((await signer.readPublicKey()).pem);
      if (key === null) throw new Error('no key');
      const sig = Buffer.from(await signer.sign(signedBytes('a/b', payload))).toString('base64');
      const signatures = [{ keyid: keyIdOf(key), sig }];
      expect(
        openEnvelope({ payloadType: 'a/b', payload: payload.toString('base64'), signatures }, key),
      ).toEqual(payload);
      expect(
        openEnvelope({ payloadType: 'a/c', payload: payload.toString('base64'), signatures }, key),
      ).toBeNull();
    },
  );

  test('has the same key when it is opened again', async () => {
    expect(await open().readPublicKey()).toEqual(await open().readPublicKey());
  });
});

test('the key file is its owner’s alone', () => {
  openFileSigner(join(folder, 'evidence-key.pem'));
  expect(statSync(join(folder, 'evidence-key.pem')).mode & 0o777).toBe(0o600);
});

test('a key service that refuses is told without its words', async () => {
  const refused = createKmsSigner({ client, keyId: '22222222-2222-4222-8222-222222222222' });
  await expect(refused.sign(Buffer.from('x'))).rejects.toThrow(/^signer: unavailable$/);
  await expect(refused.readPublicKey()).rejects.toThrow(/^signer: unavailable$/);
});
