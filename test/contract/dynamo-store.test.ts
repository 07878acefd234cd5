import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { noticeKey } from '#core/adapters/dynamo/rows/keys.ts';
import { toEventRow } from '#core/adapters/dynamo/rows/rows.ts';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createTokenStore } from '#core/adapters/dynamo/token-store.ts';
import { newDelivery } from '#core/domain/notices/webhook-delivery.ts';
import type { StoredRow } from '#core/ports/notifier.ts';
import { Secret } from '#core/secret.ts';
import { givenEvent } from '../builders/store-rows.ts';
import type { CorruptibleRow } from '../fakes/memory-rows.ts';
import { startTestTable } from '../support/dynamo-table.ts';
import { givenMailbox } from '../support/given-mailbox.ts';
import { StoreTouches } from '../support/store-touches.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { freshPair } from './store/subject.ts';
import touches from './store/touches.json';
import { describeStore } from './store.suite.ts';

/** Where a row of each kind lies, and damage that a reader must notice. */
const DAMAGE: Record<
  CorruptibleRow,
  (tenantId: string, id: string) => readonly [pk: string, sk: string, changes: Record<string, unknown>]
> = {
  repo: (tenantId, id) => [`T#${tenantId}`, `REPO#${id}`, { merge_style: 'octopus' }],
  connection: (tenantId, id) => [`T#${tenantId}`, `CONN#${id}`, { credential: undefined }],
  queue: (_tenantId, id) => [`R#${id}`, 'Q', { document: new Uint8Array([1, 2, 3]) }],
  report: (_tenantId, id) => [`R#${id}`, 'RP', { log_tail: 'one line' }],
  lease: (_tenantId, id) => [`L#${id}`, 'L', { fence: 'three' }],
  // By its sort key.
  batch: (tenantId, id) => [`TB#${tenantId}`, id, { prs: 'none' }],
  outcome: (tenantId, id) => [`T#${tenantId}`, `RS#${id}`, { ok: 'yes', ran_at: 'then' }],
};

const seen = new StoreTouches();

describeStore('DynamoDB store', async (clock) => {
  const table = await startTestTable();
  return {
    store: seen.store({
      ...createDynamoStore({ client: seen.client(table.client), tableName: table.tableName, clock }),
      ...createTokenStore({ client: seen.client(table.client), tableName: table.tableName, clock }),
    }),
    corrupt: async (row, owner) => {
      const [pk, sk, changes] = DAMAGE[row](owner.tenantId, owner.id);
      await table.damageRow(pk, sk, changes);
    },
    readTerminal: (repoId, pr) => table.readRow(`R#${repoId}`, `PR#${pr}`),
    close: table.stop,
  };
});

/** What the suite of all stores does not ask for. */
describe('DynamoDB store: notices and what goes with a tenant', () => {
  test('touches the rows that the grants are made of', async () => {
    const table = await startTestTable();
    try {
      const clock = new VirtualClock();
      const store = seen.store(
        createDynamoStore({ client: seen.client(table.client), tableName: table.tableName, clock }),
      );
      const tenantId = 'tenant-of-notices';
      for (const part of ['batches', 'events', 'audit', 'mailboxes', 'authors', 'tokens'] as const) {
        const [pk, sk] = {
          batches: [`TB#${tenantId}`, 'B#1'],
          events: [`TE#${tenantId}`, 'E#1'],
          audit: [`TA#${tenantId}`, 'A#1'],
          mailboxes: [`TM#${tenantId}`, 'M#1'],
          authors: [`TP#${tenantId}`, 'P#1'],
          tokens: [`TT#${tenantId}`, 'K#1'],
        }[part];
        await table.client.send(new PutCommand({ TableName: table.tableName, Item: { pk, sk } }));
        expect(await store.countHistory(tenantId, part)).toBe(1);
        expect(await store.deleteHistory(tenantId, part)).toBe(1);
      }
      const notice = { kind: 'invoice_failed', tenantId, subject: 'in_1', email: null } as const;
      expect(await store.requestNotice(notice)).toBe(true);
      const stored = noticeKey(tenantId, 'invoice_failed', 'in_1') as unknown as StoredRow;
      expect(await store.takeNotice(stored)).toMatchObject({ tenantId });
      const key = 'k'.repeat(32);
      expect(await store.openMailbox(tenantId, 'dev@example.org', key)).toBeNull();
      await store.createTenant(tenantId, clock.now());
      const mailbox = await givenMailbox(store, tenantId, 'Dev@example.org', key);
      const { link } = mailbox;
      expect(await store.openMailbox(tenantId, 'dev@example.org', 'x'.repeat(32))).toEqual(mailbox);
      const ask = { key: 'a'.repeat(32), until: clock.now() + 1 };
      expect(await store.beginConfirmation(link, ask, false)).toBe(true);
      expect(await store.confirmMailbox({ ...link, key: ask.key })).toBe(true);
      expect(await store.leaveMailbox({ ...link, key: 'x'.repeat(32) })).toBe(false);
      expect(await store.leaveMailbox(link)).toBe(true);
      expect(await store.readMailboxStates(tenantId, ['DEV@example.org', 'no@example.org'])).toEqual(
        new Map([
          ['DEV@example.org', 'unsubscribed'],
          ['no@example.org', 'waiting'],
        ]),
      );
      expect(await store.returnToMailbox(link)).toBe(true);
      const wish = { tenantId: 'no-tenant', instanceUrl: 'https://git.example.org', login: 'ann' };
      const asked = { ...wish, person: null, email: 'ann@example.org', topics: [], provenAt: 1 };
      expect(await store.saveAuthorNotices(asked, 2)).toBe(false);
      expect(await store.listAuthorNotices(tenantId)).toEqual([]);
      expect(await store.findAuthorNotices(wish.instanceUrl, wish.login)).toBeNull();
      await store.removeAuthorNotices(wish);
      const event = givenEvent({ tenantId });
      const { pk, sk } = toEventRow(event, 1, 0);
      expect(await store.loadEvent({ pk, sk } as unknown as StoredRow)).toBeNull();
      expect(await store.claimBounce(event)).toBe(false);
      expect(await store.claimTelling('refused', event)).toBe(false);
      const { repoId } = event;
      const drift = { repoId, topic: 'drift', name: 'rights', since: null } as const;
      expect(await store.requestTrouble(tenantId, drift)).toBe(false);
      expect(await store.listWatchedRepos(10, 0)).toEqual([]);
      expect(await store.loadNotice(stored)).toBeNull();
      const told = { tenantId, kind: 'test', body: '{}' } as const;
      const delivery = newDelivery({ repoId, at: 1, id: 'test_1' }, told, clock.now());
      expect(await store.addDelivery(delivery)).toBe(false);
      expect(await store.loadDelivery(delivery)).toBeNull();
      expect(await store.noteAttempt(delivery, delivery)).toBe(false);
      expect(await store.listDeliveries(repoId, 10)).toEqual([]);
      expect(await store.readNodesSince(tenantId, clock.now(), 10)).toEqual([]);
      expect(await store.listDueDeliveries(clock.now(), 10)).toEqual([]);
      const { connection } = freshPair({ tenantId });
      await store.createConnection(connection);
      const found = await store.findConnection(connection.instanceUrl, connection.botUsername);
      expect(found?.id).toBe(connection.id);
    } finally {
      await table.stop();
    }
  });
});

test('a socket of which the table took one row alone is forgotten by the next ping that finds it gone (A100)', async () => {
  const table = await startTestTable();
  try {
    const { client, tableName } = table;
    const clock = new VirtualClock();
    let failing = true;
    const cut = new Proxy(client, {
      get: (target, name) =>
        name !== 'send'
          ? Reflect.get(target, name)
          : async (command: { readonly input: object }) => {
              if (failing && JSON.stringify(command.input).includes('C#socket')) throw new Error('no answer');
              return target.send(command as never);
            },
    });
    const whole = createDynamoStore({ client, tableName, clock });
    await whole.addSocket('tenant', 'socket', clock.now() + 60_000);
    const store = createDynamoStore({ client: cut, tableName, clock });
    await expect(store.removeSocket('socket')).rejects.toThrow();
    failing = false;
    await store.removeSocketOf('tenant', 'socket', clock.now() + 60_000);
    expect(await store.listSockets('tenant')).toEqual(['socket']);
    await store.removeSocketOf('tenant', 'socket', clock.now() + 60_001);
    expect(await store.listSockets('tenant')).toEqual([]);
  } finally {
    await table.stop();
  }
});

test('a tenant that is leaving gets no mailbox that it had not, and keeps the one that it had (A100)', async () => {
  const table = await startTestTable();
  try {
    const clock = new VirtualClock();
    const store = createDynamoStore({ client: table.client, tableName: table.tableName, clock });
    await store.createTenant('tenant', clock.now());
    const had = await store.openMailbox('tenant', 'ann@example.org', 'k'.repeat(32));
    await store.markTenantDeleting('tenant');
    expect(await store.openMailbox('tenant', 'ann@example.org', 'x'.repeat(32))).toEqual(had);
    expect(await store.openMailbox('tenant', 'ben@example.org', 'x'.repeat(32))).toBeNull();
    expect(await store.countHistory('tenant', 'mailboxes')).toBe(1);
  } finally {
    await table.stop();
  }
});

test('a row of a batch from before lineage is told as that, a damaged one as unreadable, and neither is a node (A53)', async () => {
  const table = await startTestTable();
  try {
    const { client, tableName } = table;
    const store = createDynamoStore({ client, tableName, clock: new VirtualClock() });
    const rows = [
      { sk: 'B#1#old', batch_id: 'old', prs: [1], outcome: 'success' },
      { sk: 'B#2#damaged', batch_id: 'damaged', run_id: 'run', node_id: 'r', prs: 'none' },
    ];
    for (const row of rows)
      await client.send(new PutCommand({ TableName: tableName, Item: { pk: 'TB#tenant', ...row } }));
    const search = { limit: 9, before: null, repoIds: null, scannedMax: 9 };
    expect(await store.readBatchHistory('tenant', search)).toEqual({
      batches: [],
      errors: [
        { id: 'damaged', reason: 'unreadable' },
        { id: 'old', reason: 'missing_identity' },
      ],
      next: null,
    });
  } finally {
    await table.stop();
  }
});

describe('DynamoDB store: columns that a newer release has written', () => {
  test('stay when settings are changed, and when another branch takes the webhook over', async () => {
    const table = await startTestTable();
    try {
      const { client, tableName } = table;
      const store = createDynamoStore({ client, tableName, clock: new VirtualClock() });
      const { connection, repo } = freshPair();
      await store.createTenant(repo.tenantId, 1);
      await store.createConnection(connection);
      const hooked = { ...repo, hookId: 'hook-1', webhookSecret: new Secret('sealed') };
      const heir = { ...repo, id: `${repo.id}-2`, baseBranch: 'release', statusContext: 'mq/release' };
      const stored = await Promise.all(
        [hooked, heir].map(async (each) => {
          await store.createRepo(each, 9);
          const key = { pk: `T#${each.tenantId}`, sk: `REPO#${each.id}` };
          await table.damageRow(key.pk, key.sk, { of_the_next_release: 'a rule' });
          return key;
        }),
      );
      const column = async () =>
        Promise.all(stored.map(async ({ pk, sk }) => (await table.readRow(pk, sk))?.of_the_next_release));
      const changed = await store.updateRepo({ ...hooked, batchTarget: 7 });
      expect(await column()).toEqual(['a rule', 'a rule']);
      await store.deleteRepo(changed);
      expect(await column()).toEqual([undefined, 'a rule']);
      const inherited = await store.getRepo(heir.id);
      expect(inherited).toMatchObject({
        hookId: 'hook-1',
        webhookSecretOf: repo.id,
        version: heir.version + 1,
      });
      expect(inherited?.webhookSecret?.reveal()).toBe('sealed');
    } finally {
      await table.stop();
    }
  });
});

test('a token and a wish that a newer release has written are listed without the words that only that one knows', async () => {
  const table = await startTestTable();
  try {
    const { client, tableName } = table;
    const keyed = { client, tableName, clock: new VirtualClock() };
    const store = { ...createDynamoStore(keyed), ...createTokenStore(keyed) };
    const tenantId = 'tenant';
    await store.createTenant(tenantId, 1);
    const scopes = [
      { scope: 'read', repoIds: null },
      { scope: 'of_the_next_release', repoIds: ['repo-1'] },
    ];
    const token = { id: 'id', tenantId, name: 'ci', scopes, createdAt: 1, expiresAt: 9, lastUsedAt: null };
    await store.createApiToken(token as never, 'hash');
    expect(await store.listApiTokens(tenantId)).toEqual([{ ...token, scopes: scopes.slice(0, 1) }]);
    const topics = ['landed', 'of_the_next_release'];
    const wish = {
      tenantId,
      person: null,
      instanceUrl: 'https://git.example.org',
      login: 'ann',
      provenAt: 1,
    };
    await store.saveAuthorNotices({ ...wish, email: 'ann@example.org', topics } as never, 9);
    expect(await store.listAuthorNotices(tenantId)).toMatchObject([{ ...wish, topics: ['landed'] }]);
  } finally {
    await table.stop();
  }
});

describe('DynamoDB store: the login of an author', () => {
  test('names no account any more once the wish is taken back, or its account is erased; one of a newer proof stays', async () => {
    const table = await startTestTable();
    try {
      const clock = new VirtualClock();
      const store = seen.store(
        createDynamoStore({ client: seen.client(table.client), tableName: table.tableName, clock }),
      );
      const [former, newer] = ['tenant-of-the-former-proof', 'tenant-of-the-newer-proof'];
      const wishOf = (tenantId: string, login: string) => ({
        tenantId,
        person: null,
        instanceUrl: 'https://git.example.org',
        login,
        email: 'ann@example.org',
        topics: [],
        provenAt: 1,
      });
      for (const tenantId of [former, newer]) await store.createTenant(tenantId, 1);
      for (const login of ['Ann', 'bob', 'cy']) await store.saveAuthorNotices(wishOf(former, login), 9);
      await store.saveAuthorNotices(wishOf(newer, 'bob'), 9);
      const logins = async () => {
        const rows = (await table.client.send(new ScanCommand({ TableName: table.tableName }))).Items ?? [];
        return rows.filter(({ pk }) => pk.startsWith('UQ#AUTHOR#')).map(({ tenant_id }) => tenant_id);
      };
      expect((await logins()).sort()).toEqual([former, former, newer]);
      await store.removeAuthorNotices(wishOf(former, 'ann'));
      expect((await logins()).sort()).toEqual([former, newer]);
      expect(await store.deleteHistory(former, 'authors')).toBe(2);
      expect(await logins()).toEqual([newer]);
      expect(await store.findAuthorNotices('https://git.example.org', 'bob')).toEqual(wishOf(newer, 'bob'));
    } finally {
      await table.stop();
    }
  });
});

describe('the rows that each call of the store touches', () => {
  test('are those of touches.json, of which the grants of all functions are made', () => {
    expect(seen.all()).toEqual(touches);
  });
});
