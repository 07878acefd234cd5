import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { readStandingStill } from '#core/adapters/dynamo/move/marks.ts';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { kindOf } from '#core/adapters/dynamo/table/copy-back.ts';
import { createTable } from '#core/adapters/dynamo/table/create-table.ts';
import { createKeyFileService } from '#core/adapters/key-file/key-service.ts';
import { Keyring } from '#core/adapters/key-file/keyring.ts';
import { createKmsSecretBox } from '#core/adapters/kms-vault/secret-box.ts';
import { createKmsVault } from '#core/adapters/kms-vault/vault.ts';
import { PARTITIONS, type Partition } from '#core/contracts/internal/table.ts';
import { HOUR_MS } from '#core/domain/api-limits.ts';
import { newDelivery } from '#core/domain/notices/webhook-delivery.ts';
import { chatOwner, webhookSecretOwner } from '#core/domain/sealed-text.ts';
import { VaultError } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { exportInstallation, takeBack } from '../../onebox/move/export.ts';
import { FORCE_WORDS, importInstallation } from '../../onebox/move/import.ts';
import type { Place } from '../../onebox/move/place.ts';
import { findLost } from '../../onebox/own-rows.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { startTestTable, type TestTable } from '../support/dynamo-table.ts';
import { LOCAL_AWS } from '../support/local-aws.ts';

const HERE = '0f2c1a6e-1111-4111-8111-000000000001';
const THERE = '0f2c1a6e-2222-4222-8222-000000000002';
const PASSPHRASE = 'correct horse battery staple';
const SECRETS = ['token-of-the-bot', 'secret-of-the-hook', 'https://hooks.slack.com/services/T/B/x'];
/** They are of a moment, or of one process. */
const LEFT: readonly Partition[] = ['tickets', 'tenantSockets', 'sockets', 'rates', 'health', 'runs'];
const OF_FORMER_ID: readonly Partition[] = ['customers', 'paymentEvents', 'tokens', 'keptNotes'];

type Row = Record<string, unknown>;
let database: TestTable;
let base: DynamoDBClient;
let folder: string;
let tables = 0;

beforeAll(async () => {
  database = await startTestTable();
  base = new DynamoDBClient({ endpoint: database.endpoint, ...LOCAL_AWS });
});
afterAll(async () => {
  base.destroy();
  await database.stop();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'move-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** An empty installation with a key of its own. Its clock passes over what it waits for. */
async function openPlace(changes: Partial<Place> = {}): Promise<Place> {
  tables += 1;
  const name = `place-${tables}`;
  await createTable(base, name);
  const keyring = new Keyring(null);
  const { keyId, version } = keyring.newest();
  const client = createKeyFileService(keyring);
  let passed = 0;
  const clock = {
    now: () => Date.now() + passed,
    sleep: async (ms: number) => {
      passed += ms;
    },
  };
  return {
    table: { client: database.client, name, clock },
    keys: {
      vault: createKmsVault({ client, keyId, keyVersion: version }),
      secrets: createKmsSecretBox({ client, key: { id: keyId, version } }),
    },
    queueName: 'mq',
    tenantId: HERE,
    isShared: false,
    close: async () => {},
    ...changes,
  };
}

const storeOf = ({ table }: Place) =>
  createDynamoStore({ client: table.client, tableName: table.name, clock: table.clock });
const put = ({ table }: Place, row: Row) =>
  table.client.send(new PutCommand({ TableName: table.name, Item: row }));

async function readRows({ table }: Place): Promise<readonly Row[]> {
  const rows = (await table.client.send(new ScanCommand({ TableName: table.name }))).Items ?? [];
  return [...rows].sort((a, b) => (`${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1));
}

const repoOf = (place: Place) => ({ id: 'repo-1', tenantId: place.tenantId ?? HERE });

/** An installation with rows of every kind, secrets of every purpose, and a record that is bytes. */
async function fill(place: Place): Promise<void> {
  const store = storeOf(place);
  const tenantId = place.tenantId ?? HERE;
  await store.createTenant(tenantId, 1);
  const { instanceUrl, ...connection } = givenConnection({ tenantId });
  const owner = { tenantId, connectionId: connection.id, instanceUrl };
  const credential = await place.keys.vault.seal(owner, new Secret(SECRETS[0] ?? ''));
  await store.createConnection({ ...connection, instanceUrl, credential });
  const slack = await place.keys.secrets.seal(chatOwner(repoOf(place)), SECRETS[2] ?? '');
  const webhookSecret = await place.keys.secrets.seal(webhookSecretOwner(repoOf(place)), SECRETS[1] ?? '');
  const notification = { email: 'a@example.org', slack, discord: null, matrix: null, webhook: null };
  const repo = givenRepo({ tenantId, notification, webhookSecret: new Secret(webhookSecret), hookId: 'h' });
  await store.createRepo(repo, null);
  await put(place, { pk: 'L#repo-1', sk: 'L', fence: 41, expires_at: 0 });
  await put(place, { pk: 'R#repo-1', sk: 'Q', version: 7, document: new Uint8Array([31, 139, 0, 255]) });
  await put(place, { pk: `T#${tenantId}`, sk: 'BILL', tier: 'free', status: 'none', tenant_id: tenantId });
  const filled = new Set((await readRows(place)).map((row) => kindOf(row.pk)));
  const ofTenant = /^T.#$/;
  for (const [kind, begin] of Object.entries(PARTITIONS)) {
    if (filled.has(kind as Partition) || kind === 'health') continue;
    const pk = `${begin}${ofTenant.test(begin) ? tenantId : 'x'}`;
    await put(place, { pk, sk: 'X', tenant_id: tenantId, list: [{ tenant_id: tenantId }], none: null });
  }
}

const move = (place: Place, file = 'moved', changes = {}) =>
  exportInstallation({
    place,
    file: join(folder, file),
    passphrase: PASSPHRASE,
    say: () => {},
    cost: 1024,
    ...changes,
  });
const take = (place: Place, file = 'moved', changes = {}) =>
  importInstallation({ place, file: join(folder, file), passphrase: PASSPHRASE, say: () => {}, ...changes });

/** As they are used, by the place whose key has sealed them. */
async function openSecrets(place: Place): Promise<readonly (string | undefined)[]> {
  const store = storeOf(place);
  const repo = await store.getRepo('repo-1');
  const tenantId = repo?.tenantId ?? '';
  const connection = await store.getConnection(tenantId, 'connection-1');
  if (repo === null || connection === null) throw new Error('a row is gone');
  const owner = { tenantId, connectionId: connection.id, instanceUrl: connection.instanceUrl };
  const opened = [
    await place.keys.vault.open(owner, connection.credential),
    await place.keys.secrets.open(webhookSecretOwner(repo), repo.webhookSecret?.reveal() ?? ''),
    await place.keys.secrets.open(chatOwner(repo), repo.notification?.slack ?? ''),
  ];
  return opened.map((secret) => secret.reveal());
}

/** Rows with what a new key changes left out. */
const plain = (rows: readonly Row[]) =>
  rows.map(({ credential: _1, webhook_secret: _2, notification: _3, ...row }) => row);

describe('an installation that moves', () => {
  test('has every row there and back again, secrets under the key of each place', async () => {
    const [source, cloud, back] = await Promise.all([
      openPlace(),
      openPlace({ tenantId: null, isShared: true }),
      openPlace(),
    ]);
    await fill(source);
    const before = await readRows(source);
    expect(new Set(before.map(({ pk }) => kindOf(pk))).size).toBe(Object.keys(PARTITIONS).length - 1);
    const counts = await move(source);
    await take(cloud);
    expect(await openSecrets(cloud)).toEqual(SECRETS);
    await move({ ...cloud, isShared: true }, 'again');
    await take(back, 'again');
    expect(await openSecrets(back)).toEqual(SECRETS);
    const kept = before.filter(({ pk }) => !LEFT.some((kind) => kind === kindOf(pk)));
    const isLease = ({ pk }: Row) => kindOf(pk) === 'leases';
    const after = await readRows(back);
    expect(plain(after.filter((row) => !isLease(row)))).toEqual(plain(kept.filter((row) => !isLease(row))));
    expect(Object.values(counts).reduce((sum, each) => sum + each, 0)).toBe(kept.length - 1);
    // Each export holds the lease once: a fence that began again would let an old holder write.
    expect(after.find(isLease)).toEqual({ pk: 'L#repo-1', sk: 'L', fence: 43, expires_at: 0 });
  });

  test('is another tenant in the cloud, under whose id its secrets open; payments and API tokens stay behind', async () => {
    const source = await openPlace();
    const cloud = await openPlace({ tenantId: THERE, isShared: true });
    await fill(source);
    await storeOf(cloud).createTenant(THERE, 5);
    await move(source);
    const { left } = await take(cloud);
    expect(left).toBe(OF_FORMER_ID.length + 1);
    expect(await openSecrets(cloud)).toEqual(SECRETS);
    const rows = await readRows(cloud);
    expect(JSON.stringify(rows)).not.toContain(HERE);
    expect(await storeOf(cloud).listRepos(THERE)).toHaveLength(1);
    expect(rows.filter(({ pk }) => OF_FORMER_ID.some((kind) => kind === kindOf(pk)))).toEqual([]);
  });

  test.each([
    [HERE, THERE],
    [THERE, HERE],
  ])(
    'has under another id (%s, then %s) what a webhook is still to be told, each at its time',
    async (from, to) => {
      const source = await openPlace({ tenantId: from });
      const cloud = await openPlace({ tenantId: to, isShared: true });
      await fill(source);
      const now = source.table.clock.now();
      const name = { repoId: 'repo-1', at: now };
      for (const [id, nextAt] of [
        ['due', now - 1],
        ['later', now + HOUR_MS],
      ] as const) {
        const told = { tenantId: from, kind: 'landed' as const, body: '{}' };
        await storeOf(source).addDelivery({ ...newDelivery({ ...name, id }, told, now), nextAt });
      }
      await move(source);
      await take(cloud);
      const due = async (at: number) => (await storeOf(cloud).listDueDeliveries(at, 10)).map(({ id }) => id);
      expect([await due(now), await due(now + HOUR_MS)]).toEqual([['due'], ['due', 'later']]);
    },
  );

  test('is refused before a row is written where no person could see it', async () => {
    const source = await openPlace();
    await fill(source);
    await move(source);
    const config = { forge: { url: 'https://other.example.org' }, tenants: 'organizations' as const };
    const other = await openPlace({ tenantId: null, findLost: (held) => findLost(config, held, 5_000) });
    await expect(take(other)).rejects.toThrow(
      /^Nothing was written\. forge\.url: .* names https:\/\/other\.example\.org/,
    );
    expect([await readRows(other), await readStandingStill(other.table)]).toEqual([[], null]);
  });

  test('goes alone out of a table of many tenants, and the others run on', async () => {
    const shared = await openPlace({ tenantId: null, isShared: true });
    await fill(shared);
    await storeOf(shared).createTenant(THERE, 1);
    await storeOf(shared).createRepo(givenRepo({ id: 'repo-2', tenantId: THERE, slug: 'b/b' }), null);
    await move({ ...shared, tenantId: HERE });
    const target = await openPlace();
    await take(target);
    const rows = JSON.stringify(await readRows(target));
    expect([rows.includes(THERE), rows.includes('repo-2')]).toEqual([false, false]);
    expect(await openSecrets(target)).toEqual(SECRETS);
    expect(await readStandingStill(shared.table)).toBeNull();
    const acquire = (id: string) => storeOf(shared).acquireLease(id, 'worker', 'reconcile', 1_000);
    expect([await acquire('repo-1'), await acquire('repo-2')]).toEqual(['held', expect.anything()]);
  });

  test('runs nowhere until it is taken in, and not where it was, unless it is taken back', async () => {
    const source = await openPlace();
    await fill(source);
    const acquire = (place: Place) => storeOf(place).acquireLease('repo-1', 'worker', 'reconcile', 1_000);
    const working = await acquire(source);
    await move(source);
    expect([working, await acquire(source)]).toEqual([expect.objectContaining({ fence: 42 }), 'held']);
    expect(await readStandingStill(source.table)).toMatchObject({ why: 'moved' });
    await expect(take(await openPlace(), 'none')).rejects.toThrow('cannot be read');
    await takeBack(source);
    expect([await readStandingStill(source.table), await acquire(source)]).toEqual([
      null,
      expect.objectContaining({ fence: 44 }),
    ]);
  });

  test('is not taken in where the source runs on, unless that is forced with words', async () => {
    const source = await openPlace();
    const target = await openPlace();
    await fill(source);
    await move(source, 'look', { keepRunning: true });
    expect(await readStandingStill(source.table)).toBeNull();
    for (const force of [undefined, 'yes'])
      await expect(take(target, 'look', { force })).rejects.toThrow('The source was not stopped');
    expect(await readRows(target)).toEqual([]);
    await take(target, 'look', { force: FORCE_WORDS });
    expect(await openSecrets(target)).toEqual(SECRETS);
  });

  test('is taken into an empty place only, of the same queue name, and of one tenant', async () => {
    const source = await openPlace();
    await fill(source);
    await move(source);
    const full = await openPlace();
    await fill(full);
    const before = await readRows(full);
    await expect(take(full)).rejects.toThrow('The target is not empty');
    await expect(take(source)).rejects.toThrow('This installation was exported');
    expect(await readRows(full)).toEqual(before);
    await expect(take(await openPlace({ queueName: 'other' }))).rejects.toThrow(
      'called mq in the file and other here',
    );
    const two = await openPlace({ tenantId: null });
    await fill(two);
    await storeOf(two).createTenant(THERE, 1);
    await move(two, 'two');
    await expect(take(await openPlace(), 'two')).rejects.toThrow('The file holds 2 tenants');
  });

  test('goes on with an import that was stopped; until its end no engine works there', async () => {
    const source = await openPlace();
    const target = await openPlace();
    await fill(source);
    await move(source);
    const { vault, secrets } = target.keys;
    const seal = () => Promise.reject(new VaultError('unavailable'));
    await expect(take({ ...target, keys: { vault: { ...vault, seal }, secrets } })).rejects.toThrow(
      VaultError,
    );
    expect(await readStandingStill(target.table)).toMatchObject({ why: 'import' });
    expect(await storeOf(target).acquireLease('repo-1', 'worker', 'reconcile', 1)).toBe('held');
    await expect(move(target, 'half')).rejects.toThrow('did not end');
    await take(target);
    expect(await readStandingStill(target.table)).toBeNull();
    expect(await openSecrets(target)).toEqual(SECRETS);
    expect(await storeOf(target).acquireLease('repo-1', 'worker', 'reconcile', 1)).not.toBe('held');
  });
});

describe('the file of an export', () => {
  test('tells nothing without the passphrase, and only its owner reads it', async () => {
    const source = await openPlace();
    await fill(source);
    await expect(move(source, 'short', { passphrase: 'short' })).rejects.toThrow('at least 16 characters');
    expect(await readStandingStill(source.table)).toBeNull();
    await move(source, 'moved', { cost: undefined });
    const file = join(folder, 'moved');
    expect(readFileSync(file, 'utf8')).toContain('"cost":131072');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.part`)).toBe(false);
    const text = readFileSync(file, 'utf8');
    for (const told of [...SECRETS, HERE, 'acme/app', 'mq-bot'])
      expect([told, text.includes(told), text.includes(Buffer.from(told).toString('base64'))]).toEqual([
        told,
        false,
        false,
      ]);
    await expect(take(await openPlace(), 'moved', { passphrase: `${PASSPHRASE}!` })).rejects.toThrow(
      'does not open',
    );
    await expect(move(source)).rejects.toThrow('exists: name another file');
  });

  test('that was cut, changed, put in another order or made by a later release is refused before a row is written', async () => {
    const source = await openPlace();
    await fill(source);
    await move(source);
    const lines = readFileSync(join(folder, 'moved'), 'utf8').trimEnd().split('\n');
    const [header = '', meta = '', rows = '', ...rest] = lines;
    const flipped = `${rows[0] === 'A' ? 'B' : 'A'}${rows.slice(1)}`;
    const wrong: Readonly<Record<string, readonly string[]>> = {
      cut: lines.slice(0, -1),
      changed: [header, meta, flipped, ...rest],
      'in another order': [header, rows, meta, ...rest],
      'with a line more': [...lines, rows],
      'of a later release': [header.replace('"version":1', '"version":2'), ...lines.slice(1)],
      'of another program': ['{"format":"other"}', ...lines.slice(1)],
    };
    const target = await openPlace();
    for (const [name, text] of Object.entries(wrong)) {
      writeFileSync(join(folder, name), `${text.join('\n')}\n`);
      await expect(take(target, name)).rejects.toThrow(/does not open|has version 2|is no export/);
    }
    expect(await readRows(target)).toEqual([]);
  });
});
