import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import {
  CreateKeyCommand,
  DecryptCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  KMSClient,
  ListKeysCommand,
  ReEncryptCommand,
} from '@aws-sdk/client-kms';
import { createTable } from '../../core/adapters/dynamo/table/create-table.ts';
import { startDynamo } from '../../local/emulators/dynamo.ts';
import { startKms } from '../../local/emulators/kms.ts';
import { LOCAL_AWS } from '../support/local-aws.ts';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const SETTINGS = {
  ...LOCAL_AWS,
  maxAttempts: 1,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mergeyard-emulators-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('DynamoDB emulator', () => {
  test('keeps its tables in a file over a restart', async () => {
    const dataFile = join(folder, 'tables.db');
    const listTables = async (endpoint: string) => {
      const client = new DynamoDBClient({ ...SETTINGS, endpoint });
      const { TableNames } = await client.send(new ListTablesCommand({}));
      client.destroy();
      return TableNames;
    };
    const own = { dataFile, env: { PATH: process.env.PATH } };
    const first = await startDynamo(own);
    expect(first.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const client = new DynamoDBClient({ ...SETTINGS, endpoint: first.endpoint });
    await createTable(client, 'mergeyard');
    client.destroy();
    await first.stop();
    await expect(listTables(first.endpoint)).rejects.toThrow('ECONNREFUSED');
    const second = await startDynamo(own);
    expect(await listTables(second.endpoint)).toEqual(['mergeyard']);
    await second.stop();
  });

  const absent = { packageName: '@dynoxide/no-such-platform' };

  test('the endpoint that the environment names wins over the bundled binary', async () => {
    const env = { PATH: folder, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000/' };
    for (const settings of [{}, absent]) {
      const emulator = await startDynamo({ ...settings, env });
      await emulator.stop();
      expect(emulator.endpoint).toBe('http://127.0.0.1:8000');
    }
  });

  test('with nothing at all the error names the three ways in', async () => {
    const failure = startDynamo({ ...absent, env: { PATH: folder } });
    await expect(failure).rejects.toThrow(/npm install .*@dynoxide/);
    await expect(failure).rejects.toThrow(/`dynoxide` executable on the PATH/);
    await expect(failure).rejects.toThrow(/AWS_ENDPOINT_URL_DYNAMODB/);
  });

  test('a binary that cannot serve is an error that says so', async () => {
    const dataFile = join(folder, 'no-such-folder', 'tables.db');
    const env = { PATH: process.env.PATH };
    await expect(startDynamo({ dataFile, env })).rejects.toThrow(/did not start: it ended with code/);
  });
});

test('an interrupt of the terminal leaves the DynamoDB emulator to those who still end their work', async () => {
  const program = `
    import { startDynamo } from ${JSON.stringify(new URL('../../local/emulators/dynamo.ts', `file://${__filename}`).href)};
    const { endpoint, stop } = await startDynamo({ env: {} });
    process.once('SIGINT', async () => {
      await new Promise((done) => setTimeout(done, 100));
      console.log((await fetch(endpoint, { method: 'POST' }).catch(() => ({}))).status);
      await stop();
    });
    console.log('started');
    setInterval(() => {}, 1_000).unref();`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    // As a terminal does: every process of the group gets it.
    if (told === '') process.kill(-(child.pid ?? 0), 'SIGINT');
    told += text;
  });
  await once(child, 'close');
  expect(told).toBe('started\n400\n');
});

describe('KMS emulator', () => {
  async function withKms<T>(file: string | undefined, run: (client: KMSClient) => Promise<T>): Promise<T> {
    const emulator = await startKms(file === undefined ? {} : { file });
    const client = new KMSClient({ ...SETTINGS, endpoint: emulator.endpoint });
    try {
      return await run(client);
    } finally {
      client.destroy();
      await emulator.stop();
    }
  }

  async function createKey(client: KMSClient): Promise<string> {
    const { KeyMetadata } = await client.send(new CreateKeyCommand({}));
    if (KeyMetadata?.KeyId === undefined) throw new Error('the key has no id');
    return KeyMetadata.KeyId;
  }

  const Plaintext = new TextEncoder().encode('data key');
  const EncryptionContext = { tenant_id: 'a', connection_id: 'b' };

  test('keys outlive a restart in a file that only its owner may read', async () => {
    const file = join(folder, 'kms', 'keys.json');
    const [KeyId, CiphertextBlob] = await withKms(file, async (client) => {
      const keyId = await createKey(client);
      const sealed = await client.send(new EncryptCommand({ KeyId: keyId, Plaintext, EncryptionContext }));
      return [keyId, sealed.CiphertextBlob] as const;
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(KeyId);
    const opened = await withKms(file, (client) =>
      client.send(new DecryptCommand({ CiphertextBlob, EncryptionContext })),
    );
    expect(Buffer.from(opened.Plaintext ?? []).toString()).toBe('data key');
    expect(opened.KeyId).toContain(KeyId);
  });

  test('errors arrive as the classes of the SDK', async () => {
    await withKms(undefined, async (client) => {
      const KeyId = await createKey(client);
      const other = await createKey(client);
      const { CiphertextBlob } = await client.send(
        new EncryptCommand({ KeyId, Plaintext, EncryptionContext }),
      );
      const decrypt = (changes: object) =>
        client.send(new DecryptCommand({ CiphertextBlob, EncryptionContext, ...changes }));
      await expect(decrypt({ EncryptionContext: { tenant_id: 'a' } })).rejects.toMatchObject({
        name: 'InvalidCiphertextException',
      });
      await expect(decrypt({ CiphertextBlob: Plaintext })).rejects.toMatchObject({
        name: 'InvalidCiphertextException',
      });
      await expect(decrypt({ KeyId: other })).rejects.toMatchObject({ name: 'IncorrectKeyException' });
      const KeySpec = 'AES_256';
      await expect(
        client.send(new GenerateDataKeyCommand({ KeyId: 'no-such-key', KeySpec })),
      ).rejects.toMatchObject({ name: 'NotFoundException' });
      await expect(client.send(new GenerateDataKeyCommand({ KeyId }))).rejects.toMatchObject({
        name: 'ValidationException',
      });
      await expect(client.send(new ListKeysCommand({}))).rejects.toMatchObject({
        name: 'UnsupportedOperationException',
      });
      await client.send(new DisableKeyCommand({ KeyId }));
      await expect(decrypt({})).rejects.toMatchObject({ name: 'DisabledException' });
      const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId }));
      expect(KeyMetadata).toMatchObject({ Enabled: false, KeyState: 'Disabled' });
    });
  });

  test('a data key is wrapped again under another key and context without being shown', async () => {
    await withKms(undefined, async (client) => {
      const KeyId = await createKey(client);
      const DestinationKeyId = await createKey(client);
      const KeySpec = 'AES_256';
      const made = await client.send(new GenerateDataKeyCommand({ KeyId, KeySpec }));
      expect(made.Plaintext?.byteLength).toBe(32);
      const moved = await client.send(
        new ReEncryptCommand({
          CiphertextBlob: made.CiphertextBlob,
          DestinationKeyId,
          DestinationEncryptionContext: EncryptionContext,
        }),
      );
      const opened = await client.send(
        new DecryptCommand({
          CiphertextBlob: moved.CiphertextBlob,
          KeyId: DestinationKeyId,
          EncryptionContext,
        }),
      );
      expect(opened.Plaintext).toEqual(made.Plaintext);
      const hidden = await client.send(new GenerateDataKeyWithoutPlaintextCommand({ KeyId, KeySpec }));
      expect(Object.keys(hidden)).not.toContain('Plaintext');
      expect(hidden.CiphertextBlob?.byteLength).toBeGreaterThan(32);
    });
  });

  test.each([{ AWS_EXECUTION_ENV: 'AWS_ECS_FARGATE' }, { NODE_ENV: 'production' }])(
    'does not start with %j',
    async (env) => {
      await expect(startKms({ env })).rejects.toThrow(/not a security boundary/);
    },
  );
});
