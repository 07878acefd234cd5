import { readFileSync } from 'node:fs';
import { DisableKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { createDynamoStore, type DynamoStore } from '#core/adapters/dynamo/store.ts';
import { createKmsRewrapper } from '#core/adapters/kms-vault/rewrap.ts';
import { createKmsSecretBox } from '#core/adapters/kms-vault/secret-box.ts';
import { createKmsVault } from '#core/adapters/kms-vault/vault.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import type { Rewrapper } from '#core/ports/rewrapper.ts';
import { VaultError } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { rewrapCredentials } from '#core/services/secrets/rewrap-credentials.ts';
import { rewrapSecrets } from '#core/services/secrets/rewrap-secrets.ts';
import { startKms } from '../../local/emulators/kms.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { startTestTable, type TestTable } from '../support/dynamo-table.ts';
import { sealWithoutForge } from '../support/earlier-seal.ts';
import { LOCAL_AWS } from '../support/local-aws.ts';
import { runProgram } from '../support/run-program.ts';

const OLD_KEY = '11111111-1111-4111-8111-111111111111';
const NEW_KEY = '22222222-2222-4222-8222-222222222222';
const ROWS = 8;

let table: TestTable;
let kms: Awaited<ReturnType<typeof startKms>>;
let client: KMSClient;
let store: DynamoStore;

beforeEach(async () => {
  table = await startTestTable();
  kms = await startKms({ keyIds: [OLD_KEY, NEW_KEY] });
  client = new KMSClient({
    endpoint: kms.endpoint,
    ...LOCAL_AWS,
    maxAttempts: 1,
  });
  store = createDynamoStore({ client: table.client, tableName: table.tableName, clock: createSystemClock() });
  await store.createTenant('tenant-1', 0);
  for (let index = 0; index < ROWS; index += 1) await store.createConnection(await givenSealed(index));
});
afterEach(async () => {
  client.destroy();
  await Promise.all([table.stop(), kms.stop()]);
});

const id = (index: number): string => `connection-${index}`;
const tokenOf = (index: number): string => `token-of-${index}`;
const owner = (index: number) => ({
  tenantId: 'tenant-1',
  connectionId: id(index),
  instanceUrl: givenConnection().instanceUrl,
});
const vault = (keyId: string, keyVersion: number) => createKmsVault({ client, keyId, keyVersion });
const rewrapper = (): Rewrapper => createKmsRewrapper({ client, keyId: NEW_KEY, keyVersion: 2 });

async function givenSealed(index: number) {
  const credential = await vault(OLD_KEY, 1).seal(owner(index), new Secret(tokenOf(index)));
  return givenConnection({ id: id(index), botUsername: `bot-${index}`, credential, updatedAt: 7 });
}

async function readAll() {
  const all = await store.listConnections('tenant-1');
  return [...all].sort((a, b) => (a.id < b.id ? -1 : 1));
}

const nothing = { rewrapped: 0, current: 0, old_format: 0, gone: 0, changed: 0, damaged: 0, failed: 0 };
const noRepo = { rewrapped: 0, current: 0, failed: 0, unlisted: 0 };
const secretsOf = (version: number) =>
  createKmsSecretBox({ client, key: { id: version === 1 ? OLD_KEY : NEW_KEY, version } });

/** With a webhook secret under the old key. */
async function givenRepoOf(tenantId: string, repoId: string, connectionId: string): Promise<void> {
  const sealed = await secretsOf(1).seal({ tenantId, repoId, purpose: 'webhook-secret' }, 'a secret');
  await store.createRepo(
    givenRepo({
      id: repoId,
      tenantId,
      connectionId,
      slug: `acme/${repoId}`,
      webhookSecret: new Secret(sealed),
    }),
    null,
  );
}

/** The right that each part of a call needs, by its name in a policy: of a transaction, that of each of its steps. */
function rightsOf(name: string, input: { readonly TransactItems?: readonly object[] }): readonly string[] {
  const action = (each: string): string => `dynamodb:${each}`;
  if (name !== 'TransactWriteItemsCommand') return [action(name.replace(/Command$/, ''))];
  const rights = {
    Put: 'PutItem',
    Update: 'UpdateItem',
    Delete: 'DeleteItem',
    ConditionCheck: 'ConditionCheckItem',
  };
  return (input.TransactItems ?? []).flatMap((step) =>
    Object.keys(step).map((kind) => action(rights[kind as keyof typeof rights])),
  );
}

describe('re-wrapping', () => {
  test('every token opens afterwards without the old key, and is otherwise as it was', async () => {
    const before = await readAll();
    const { counts } = await rewrapCredentials({ store, rewrapper: rewrapper() });
    expect(counts).toEqual({ ...nothing, rewrapped: ROWS });
    await client.send(new DisableKeyCommand({ KeyId: OLD_KEY }));
    for (const [index, connection] of (await readAll()).entries()) {
      expect((await vault(NEW_KEY, 2).open(owner(index), connection.credential)).reveal()).toBe(
        tokenOf(index),
      );
      const { keyVersion, encryptedDek, ...kept } = connection.credential;
      expect([keyVersion, encryptedDek === before[index]?.credential.encryptedDek]).toEqual([2, false]);
      expect(before[index]).toEqual({
        ...connection,
        credential: { ...kept, keyVersion: 1, encryptedDek: expect.any(String) },
      });
    }
    expect((await store.countCredentials()).keyVersions).toEqual(new Map([[2, ROWS]]));
  });

  test('webhook secrets and chat addresses open afterwards without the old key', async () => {
    const boxOf = (id: string, version: number) => createKmsSecretBox({ client, key: { id, version } });
    const row = { tenantId: 'tenant-1', repoId: 'repo-1' };
    const hook = { ...row, purpose: 'webhook-secret' } as const;
    const chat = { ...row, purpose: 'chat-url' } as const;
    const old = boxOf(OLD_KEY, 1);
    const matrix = `https://matrix.org ${await old.seal(chat, 'three')}`;
    const notification = {
      email: null,
      slack: await old.seal(chat, 'one'),
      discord: null,
      matrix,
      webhook: null,
    };
    const webhookSecret = new Secret(await boxOf(OLD_KEY, 1).seal(hook, 'two'));
    await store.createRepo(
      givenRepo({ id: 'repo-1', connectionId: id(0), notification, webhookSecret }),
      null,
    );
    const run = () =>
      rewrapSecrets({ store, rewrapper: createKmsRewrapper({ client, keyId: NEW_KEY, keyVersion: 2 }) });
    expect(await run()).toEqual({ ...noRepo, rewrapped: 1 });
    expect(await run()).toEqual({ ...noRepo, current: 1 });
    await client.send(new DisableKeyCommand({ KeyId: OLD_KEY }));
    const repo = await store.getRepo('repo-1');
    const box = boxOf(NEW_KEY, 2);
    expect((await box.open(chat, repo?.notification?.slack ?? '')).reveal()).toBe('one');
    const [host, room = ''] = repo?.notification?.matrix?.split(' ') ?? [];
    expect([host, (await box.open(chat, room)).reveal()]).toEqual(['https://matrix.org', 'three']);
    expect((await box.open(hook, repo?.webhookSecret?.reveal() ?? '')).reveal()).toBe('two');
  });

  test('repositories of a tenant that cannot be listed are counted as that, and stop no other tenant', async () => {
    await store.createTenant('tenant-2', 0);
    const other = { tenantId: 'tenant-2', id: 'connection-of-2', botUsername: 'bot-of-2' };
    await store.createConnection(givenConnection(other));
    await givenRepoOf('tenant-1', 'repo-1', id(0));
    await givenRepoOf('tenant-2', 'repo-2', other.id);
    const run = () =>
      rewrapSecrets({ store, rewrapper: createKmsRewrapper({ client, keyId: NEW_KEY, keyVersion: 2 }) });
    const row = await table.readRow('T#tenant-1', 'REPO#repo-1');
    await table.damageRow('T#tenant-1', 'REPO#repo-1', { slug: 7 });
    expect(await run()).toEqual({ ...noRepo, unlisted: 1, rewrapped: 1 });
    await table.damageRow('T#tenant-1', 'REPO#repo-1', { slug: row?.slug });
    expect(await run()).toEqual({ ...noRepo, current: 1, rewrapped: 1 });
  });

  // AWS, "Using IAM with DynamoDB transactions": each part of a transaction is governed by the right for its own action.
  test('the document for operators names the rights on the table that it takes', async () => {
    await givenRepoOf('tenant-1', 'repo-1', id(0));
    const taken = new Set<string>();
    table.client.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          for (const right of rightsOf(String(commandName), args.input as object)) taken.add(right);
          return next(args);
        },
      { step: 'initialize', name: 'rights', priority: 'low' },
    );
    await rewrapCredentials({ store, rewrapper: rewrapper() });
    await rewrapSecrets({ store, rewrapper: createKmsRewrapper({ client, keyId: NEW_KEY, keyVersion: 2 }) });
    const sentence = readFileSync('docs/operate.md', 'utf8')
      .split('\n')
      .find((line) => line.includes('kms:ReEncryptFrom'));
    const named = new Set(sentence?.match(/dynamodb:\w+/g));
    expect([...named].sort()).toEqual([...taken].sort());
  });

  test('stopped anywhere and started again, it goes on where it was', async () => {
    for (let stopAt = 0; stopAt < ROWS; stopAt += 3) {
      let calls = 0;
      const dying: Rewrapper = {
        keyVersion: 2,
        rewrap: async (who, sealed) => {
          if (calls === 3) throw new Error('killed');
          calls += 1;
          return rewrapper().rewrap(who, sealed);
        },
      };
      await rewrapCredentials({ store, rewrapper: dying }).catch(() => {});
    }
    const { counts } = await rewrapCredentials({ store, rewrapper: rewrapper() });
    expect(counts).toEqual({ ...nothing, current: ROWS });
  });

  test('a token that its owner stores meanwhile wins, and is re-wrapped in its turn', async () => {
    const [first] = await readAll();
    if (first === undefined) throw new Error('no row');
    let raced = false;
    const racing: Rewrapper = {
      keyVersion: 2,
      rewrap: async (who, sealed) => {
        const wrapped = await rewrapper().rewrap(who, sealed);
        if (!raced && who.connectionId === first.id) {
          raced = true;
          const credential = await vault(OLD_KEY, 1).seal(owner(0), new Secret('newer'));
          await store.updateConnection(first, { ...first, credential, updatedAt: 8 });
        }
        return wrapped;
      },
    };
    const { counts } = await rewrapCredentials({ store, rewrapper: racing });
    expect(counts).toEqual({ ...nothing, rewrapped: ROWS });
    const stored = await store.getConnection('tenant-1', first.id);
    expect(stored?.credential.keyVersion).toBe(2);
    expect(stored && (await vault(NEW_KEY, 2).open(owner(0), stored.credential)).reveal()).toBe('newer');
  });

  test('a token that was sealed before its forge was part of it is bound to that forge by it', async () => {
    const [first] = await readAll();
    if (first === undefined) throw new Error('a row is needed');
    const credential = await sealWithoutForge(client, OLD_KEY, owner(0), tokenOf(0));
    await store.updateConnection(first, { ...first, credential });
    const moved = { ...owner(0), instanceUrl: 'https://other.example' };
    expect((await vault(NEW_KEY, 2).open(moved, credential)).reveal()).toBe(tokenOf(0));
    await rewrapCredentials({ store, rewrapper: rewrapper() });
    const bound = (await readAll())[0]?.credential;
    if (bound === undefined) throw new Error('a row is needed');
    expect((await vault(NEW_KEY, 2).open(owner(0), bound)).reveal()).toBe(tokenOf(0));
    await expect(vault(NEW_KEY, 2).open(moved, bound)).rejects.toMatchObject({ kind: 'undecryptable' });
  });

  test('a connection that cannot be re-wrapped is counted, and stops no other', async () => {
    const damage = async (index: number, changes: Readonly<Record<string, unknown>>): Promise<void> => {
      const row = await table.readRow('T#tenant-1', `CONN#${id(index)}`);
      const credential = { ...(row?.credential as Record<string, unknown>), ...changes };
      await table.damageRow('T#tenant-1', `CONN#${id(index)}`, { credential });
    };
    await damage(1, { format: 'v1' });
    // The data key of another row: its context does not fit (A96).
    await damage(2, { encrypted_dek: (await readAll())[3]?.credential.encryptedDek });
    // Deleted after it was listed; what was deleted before is not listed.
    const going: Rewrapper = {
      keyVersion: 2,
      rewrap: async (who, sealed) => {
        await store.markConnectionDeleting('tenant-1', id(4));
        return rewrapper().rewrap(who, sealed);
      },
    };
    const { counts } = await rewrapCredentials({ store, rewrapper: going });
    expect(counts).toEqual({ ...nothing, rewrapped: ROWS - 3, old_format: 1, damaged: 1, gone: 1 });
  });

  test('a key that does not answer ends it after five, with nothing changed', async () => {
    const before = await readAll();
    const away: Rewrapper = {
      keyVersion: 2,
      rewrap: () => Promise.reject(new VaultError('unavailable')),
    };
    const { counts, stoppedAfter } = await rewrapCredentials({ store, rewrapper: away });
    expect([counts, stoppedAfter]).toEqual([{ ...nothing, failed: 5 }, 5]);
    expect(await readAll()).toEqual(before);
  });
});

describe('npm run rewrap', () => {
  const run = (...args: string[]) =>
    runProgram('bin/rewrap.ts', args, {
      PATH: process.env.PATH,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
      AWS_ENDPOINT_URL_KMS: kms.endpoint,
    });

  test('counts first, then does it, then has nothing to do', async () => {
    const args = ['--table', table.tableName, '--key', NEW_KEY, '--key-version', '2'];
    const dry = await run(...args, '--dry-run');
    expect(dry).toEqual({ code: 0, output: expect.stringContaining(`"dry_run":true,"rewrapped":${ROWS}`) });
    expect((await store.countCredentials()).keyVersions).toEqual(new Map([[1, ROWS]]));
    const real = await run(...args);
    expect(real).toEqual({ code: 0, output: expect.stringContaining(`"rewrapped":${ROWS},"current":0`) });
    const again = await run(...args);
    expect(again).toEqual({ code: 0, output: expect.stringContaining(`"rewrapped":0,"current":${ROWS}`) });
    expect(dry.output + real.output).not.toContain('token-of');
  });

  test('says how it is used when something is missing', async () => {
    expect(await run('--table', 'x')).toEqual({ code: 2, output: expect.stringContaining('npm run rewrap') });
  });
});
