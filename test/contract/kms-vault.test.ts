import { createCipheriv, randomBytes } from 'node:crypto';
import {
  type DecryptCommand,
  DisableKeyCommand,
  EnableKeyCommand,
  EncryptCommand,
  KMSClient,
  RotateKeyOnDemandCommand,
} from '@aws-sdk/client-kms';
import { createKmsSecretBox } from '#core/adapters/kms-vault/secret-box.ts';
import { createKmsVault } from '#core/adapters/kms-vault/vault.ts';
import type { SealedCredential } from '#core/domain/repos/repo.ts';
import { VaultError } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { startKms } from '../../local/emulators/kms.ts';
import { sealWithoutForge } from '../support/earlier-seal.ts';
import { LOCAL_AWS } from '../support/local-aws.ts';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const KEY_ID = '11111111-1111-4111-8111-111111111111';
const OTHER_KEY_ID = '22222222-2222-4222-8222-222222222222';
const OWNER = {
  tenantId: 'tenant-1',
  connectionId: 'connection-1',
  instanceUrl: 'https://forge.example/git',
};
const TOKEN = 'canary-3f9c1b7e5a2d4860a1b2c3d4e5f60718293a4b5c';
const V1_KEY = randomBytes(32);
const V1_TEXT = V1_KEY.toString('base64');

let emulator: Awaited<ReturnType<typeof startKms>>;
let client: KMSClient;

beforeAll(async () => {
  emulator = await startKms({ keyIds: [KEY_ID, OTHER_KEY_ID] });
  client = new KMSClient({
    endpoint: emulator.endpoint,
    ...LOCAL_AWS,
    maxAttempts: 1,
  });
});

afterAll(async () => {
  client.destroy();
  await emulator.stop();
});

const vault = (keyId = KEY_ID) =>
  createKmsVault({ client, keyId, keyVersion: 1, legacy: { readV1Key: async () => new Secret(V1_TEXT) } });

async function kindOf(call: Promise<unknown>): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain(TOKEN);
    return error.kind;
  }
}

function encryptOld(key: Uint8Array): Pick<SealedCredential, 'encryptedToken' | 'tokenNonce'> {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const encrypted = Buffer.concat([cipher.update(TOKEN), cipher.final(), cipher.getAuthTag()]);
  return { encryptedToken: encrypted.toString('base64'), tokenNonce: nonce.toString('base64') };
}

function givenV1(): SealedCredential {
  return { format: 'v1', keyVersion: 0, encryptedDek: null, ...encryptOld(V1_KEY) };
}

async function givenV2(): Promise<SealedCredential> {
  const dataKey = randomBytes(32);
  const wrapped = await client.send(new EncryptCommand({ KeyId: KEY_ID, Plaintext: dataKey }));
  const encryptedDek = Buffer.from(wrapped.CiphertextBlob ?? []).toString('base64');
  return { format: 'v2', keyVersion: 1, encryptedDek, ...encryptOld(dataKey) };
}

describe('KMS vault', () => {
  test('seals as v3 and opens it; every write has a data key and a nonce of its own', async () => {
    const first = await vault().seal(OWNER, new Secret(TOKEN));
    const second = await vault().seal(OWNER, new Secret(TOKEN));
    expect(first).toMatchObject({ format: 'v3', keyVersion: 1 });
    expect(JSON.stringify(first)).not.toContain(TOKEN);
    for (const part of ['encryptedToken', 'tokenNonce', 'encryptedDek'] as const) {
      expect(first[part]).not.toBe(second[part]);
    }
    expect((await vault().open(OWNER, first)).reveal()).toBe(TOKEN);
    expect((await vault().open(OWNER, second)).reveal()).toBe(TOKEN);
  });

  test('opens v1 and v2 (A97)', async () => {
    expect((await vault().open(OWNER, givenV1())).reveal()).toBe(TOKEN);
    expect((await vault().open(OWNER, await givenV2())).reveal()).toBe(TOKEN);
  });

  test.each([
    ['another tenant', { ...OWNER, tenantId: 'tenant-2' }],
    ['another connection', { ...OWNER, connectionId: 'connection-2' }],
    [
      'tenant and connection swapped',
      { ...OWNER, tenantId: OWNER.connectionId, connectionId: OWNER.tenantId },
    ],
    ['another forge', { ...OWNER, instanceUrl: 'https://forge.attacker.example/git' }],
    ['another port of the forge', { ...OWNER, instanceUrl: 'https://forge.example:8443/git' }],
    ['no forge', { ...OWNER, instanceUrl: '' }],
  ])('a row moved to %s does not open (A96)', async (_name, owner) => {
    const sealed = await vault().seal(OWNER, new Secret(TOKEN));
    expect(await kindOf(vault().open(owner, sealed))).toBe('undecryptable');
  });

  test('the address of the forge may be spelled in another way', async () => {
    const sealed = await vault().seal(OWNER, new Secret(TOKEN));
    for (const instanceUrl of ['https://Forge.Example:443/git/', 'https://forge.example']) {
      expect((await vault().open({ ...OWNER, instanceUrl }, sealed)).reveal()).toBe(TOKEN);
    }
  });

  test('a token that was sealed before the forge was part of the context still opens', async () => {
    const sealed = await sealWithoutForge(client, KEY_ID, OWNER, TOKEN);
    expect((await vault().open(OWNER, sealed)).reveal()).toBe(TOKEN);
    const other = { ...OWNER, connectionId: 'connection-2' };
    expect(await kindOf(vault().open(other, sealed))).toBe('undecryptable');
  });

  test('parts of two rows of one owner cannot be mixed', async () => {
    const [a, b] = await Promise.all([1, 2].map(() => vault().seal(OWNER, new Secret(TOKEN))));
    if (a === undefined || b === undefined) throw new Error('two rows are needed');
    for (const part of ['encryptedToken', 'tokenNonce', 'encryptedDek'] as const) {
      expect(await kindOf(vault().open(OWNER, { ...a, [part]: b[part] }))).toBe('undecryptable');
    }
  });

  test.each(['v0', 'v4', 'V3', '', 'unrecognised'])('format %j fails closed (A97)', async (format) => {
    const sealed = await vault().seal(OWNER, new Secret(TOKEN));
    expect(await kindOf(vault().open(OWNER, { ...sealed, format }))).toBe('undecryptable');
  });

  test.each(['v1', 'v2'])('a v3 row relabelled as %s does not open', async (format) => {
    const sealed = await vault().seal(OWNER, new Secret(TOKEN));
    expect(await kindOf(vault().open(OWNER, { ...sealed, format }))).toBe('undecryptable');
  });

  test('damaged, truncated and missing parts do not open', async () => {
    const sealed = await vault().seal(OWNER, new Secret(TOKEN));
    const flipped = Buffer.from(sealed.encryptedToken, 'base64');
    flipped.writeUInt8(flipped.readUInt8(0) ^ 1, 0);
    const damaged: readonly Partial<SealedCredential>[] = [
      { encryptedToken: flipped.toString('base64') },
      { encryptedToken: sealed.encryptedToken.slice(0, 8) },
      { encryptedToken: '' },
      { encryptedToken: `${sealed.encryptedToken}\n` },
      { tokenNonce: '' },
      { tokenNonce: 'AAAA' },
      { encryptedDek: null },
      { encryptedDek: 'AAAA' },
    ];
    for (const change of damaged) {
      expect(await kindOf(vault().open(OWNER, { ...sealed, ...change }))).toBe('undecryptable');
    }
    expect(await kindOf(vault().open(OWNER, { ...givenV1(), encryptedDek: 'AAAA' }))).toBe('undecryptable');
  });

  test('without the word of the deployment neither v1 nor v2 opens, and neither key is asked for (A97)', async () => {
    const cut = new KMSClient({ endpoint: 'http://127.0.0.1:1', region: 'us-east-1', maxAttempts: 1 });
    const usual = createKmsVault({ client: cut, keyId: KEY_ID, keyVersion: 1 });
    for (const old of [givenV1(), await givenV2()])
      expect(await kindOf(usual.open(OWNER, old))).toBe('undecryptable');
  });

  test('the key of v1 is read when a v1 row is opened, not before; one that is no key opens nothing', async () => {
    let reads = 0;
    let text = V1_TEXT;
    const readV1Key = async () => {
      reads += 1;
      if (text === '') throw new Error('no answer');
      return new Secret(text);
    };
    const lazy = createKmsVault({ client, keyId: KEY_ID, keyVersion: 1, legacy: { readV1Key } });
    await lazy.open(OWNER, await givenV2());
    await lazy.open(OWNER, await lazy.seal(OWNER, new Secret(TOKEN)));
    expect(reads).toBe(0);
    expect((await lazy.open(OWNER, givenV1())).reveal()).toBe(TOKEN);
    expect(reads).toBe(1);
    for (text of ['', 'random-text-of-the-stack', V1_KEY.subarray(1).toString('base64')])
      expect(await kindOf(lazy.open(OWNER, givenV1()))).toBe(text === '' ? 'unavailable' : 'undecryptable');
  });

  test('a v3 row whose ciphertext is not bound by its own data key does not open', async () => {
    const EncryptionContext = {
      tenant_id: OWNER.tenantId,
      connection_id: OWNER.connectionId,
      purpose: 'forge-token',
      v: '3',
    };
    const dataKey = randomBytes(32);
    const wrapped = await client.send(
      new EncryptCommand({ KeyId: KEY_ID, Plaintext: dataKey, EncryptionContext }),
    );
    const encryptedDek = Buffer.from(wrapped.CiphertextBlob ?? []).toString('base64');
    const unbound = { format: 'v3', keyVersion: 1, encryptedDek, ...encryptOld(dataKey) };
    expect(await kindOf(vault().open(OWNER, unbound))).toBe('undecryptable');
  });

  test('a rotated key, and a newer wrapping key, still open what was sealed before', async () => {
    const sealed = await vault().seal(OWNER, new Secret(TOKEN));
    await client.send(new RotateKeyOnDemandCommand({ KeyId: KEY_ID }));
    const resealed = await vault().seal(OWNER, new Secret(TOKEN));
    for (const each of [sealed, resealed]) {
      expect((await vault(OTHER_KEY_ID).open(OWNER, each)).reveal()).toBe(TOKEN);
    }
  });

  test('a disabled key and a KMS that does not answer are unavailable, not undecryptable', async () => {
    const sealed = await vault().seal(OWNER, new Secret(TOKEN));
    await client.send(new DisableKeyCommand({ KeyId: KEY_ID }));
    expect(await kindOf(vault().open(OWNER, sealed))).toBe('unavailable');
    expect(await kindOf(vault().seal(OWNER, new Secret(TOKEN)))).toBe('unavailable');
    await client.send(new EnableKeyCommand({ KeyId: KEY_ID }));
    expect((await vault().open(OWNER, sealed)).reveal()).toBe(TOKEN);

    const unreachable = new KMSClient({
      endpoint: 'http://127.0.0.1:1',
      ...LOCAL_AWS,
      maxAttempts: 1,
    });
    const cut = createKmsVault({ client: unreachable, keyId: KEY_ID, keyVersion: 1 });
    expect(await kindOf(cut.open(OWNER, sealed))).toBe('unavailable');
    expect(await kindOf(cut.seal(OWNER, new Secret(TOKEN)))).toBe('unavailable');
  });
});

describe('the other secrets of a repository', () => {
  const ROW = { tenantId: 'tenant-1', repoId: 'repo-1', purpose: 'webhook-secret' } as const;
  const box = (at = client) => createKmsSecretBox({ client: at, key: { id: KEY_ID, version: 1 } });

  test('are sealed under a data key of their own each time, and open for their row', async () => {
    const [first, second] = [await box().seal(ROW, TOKEN), await box().seal(ROW, TOKEN)];
    expect(first).toMatch(/^sealed:1:/);
    expect(first).not.toContain(TOKEN);
    expect(first).not.toBe(second);
    expect((await box().open(ROW, first)).reveal()).toBe(TOKEN);
    expect(await box().seal(ROW, first)).toBe(first);
  });

  test('of a row from before they were sealed are taken as they are', async () => {
    expect((await box().open(ROW, TOKEN)).reveal()).toBe(TOKEN);
  });

  test.each([
    ['another tenant', { ...ROW, tenantId: 'tenant-2' }],
    ['another repository', { ...ROW, repoId: 'repo-2' }],
    ['another purpose', { ...ROW, purpose: 'chat-url' as const }],
  ])('do not open for %s', async (_name, owner) => {
    expect(await kindOf(box().open(owner, await box().seal(ROW, TOKEN)))).toBe('undecryptable');
  });

  test.each(['sealed:', 'sealed:1:a:b', 'sealed:x:YQ==:YQ==:YQ==', 'sealed:1:YQ==:YQ==:YQ==:YQ=='])(
    'that are damaged do not open: %s',
    async (stored) => {
      expect(await kindOf(box().open(ROW, stored))).toBe('undecryptable');
    },
  );

  test('ask the key service once for many deliveries, and never for another row', async () => {
    const sealed = await box().seal(ROW, TOKEN);
    let asked = 0;
    const counting = new Proxy(client, {
      get: (target, name) =>
        name === 'send'
          ? (command: DecryptCommand) => {
              asked += 1;
              return target.send(command);
            }
          : Reflect.get(target, name),
    });
    const warm = box(counting);
    for (let nth = 0; nth < 5; nth += 1) expect((await warm.open(ROW, sealed)).reveal()).toBe(TOKEN);
    expect(asked).toBe(1);
    expect(await kindOf(warm.open({ ...ROW, repoId: 'repo-2' }, sealed))).toBe('undecryptable');
  });
});
