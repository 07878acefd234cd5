import { randomUUID } from 'node:crypto';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { noticeKey, queueViewKey } from '#core/adapters/dynamo/rows/keys.ts';
import { queueView } from '#core/adapters/dynamo/rows/queue-view.ts';
import { toEventRow, toNodeRow } from '#core/adapters/dynamo/rows/rows.ts';
import { createDynamoStore, type DynamoStore } from '#core/adapters/dynamo/store.ts';
import { Table } from '#core/adapters/dynamo/table/table.ts';
import type { EmailConfig } from '#core/adapters/email-chat/mail.ts';
import { createNotifier } from '#core/adapters/email-chat/notifier.ts';
import { createGuardedHttp, type GuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { makeUpText } from '#core/adapters/system/made-up-text.ts';
import type { StreamAnswer } from '#core/contracts/internal/stream.ts';
import { MAIL_KEY_CHARS } from '#core/contracts/notices/mailbox.ts';
import type { NotificationTargets } from '#core/domain/notices/notice-ways.ts';
import type { Trouble } from '#core/domain/notices/queue-notices.ts';
import type { ActivityEvent, NodeRow } from '#core/domain/queue/batch.ts';
import type { QueueView } from '#core/domain/queue/queue-view.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import type { NoticeRequest } from '#core/ports/notifier.ts';
import { watchQueues } from '#core/services/notices/watch-queues.ts';
import { sealTargets } from '#core/services/secrets/repo-secrets.ts';
import { createLog } from '#core/telemetry.ts';
import { createNotify } from '../../lambdas/notify/notify.ts';
import { createFakeChat, type FakeChat } from '../../local/emulators/chat.ts';
import { type EmailEmulator, startEmail } from '../../local/emulators/email.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { givenEvent } from '../builders/store-rows.ts';
import { FakeSecretBox } from '../fakes/secret-box.ts';
import { startTestTable, type TestTable } from './dynamo-table.ts';
import { givenMailbox } from './given-mailbox.ts';
import { LOCAL_AWS } from './local-aws.ts';
import { type LoopbackServer, startLoopbackHttps } from './loopback-https.ts';
import { VirtualClock } from './virtual-clock.ts';

export const MAILBOX = 'team-canary@example.org';
export const SLACK = 'https://hooks.slack.com/services/T0CANARY/B0CANARY/chatAcanary51c7';
export const DISCORD = 'https://discord.com/api/webhooks/1234567890/chatBcanary93ef';
export const ALL: NotificationTargets = {
  email: MAILBOX,
  slack: SLACK,
  discord: DISCORD,
  matrix: null,
  webhook: null,
};
export const ROOM = {
  homeserver: 'https://matrix.example.org',
  room: '!canary:example.org',
  token: 'matrixCanary77aa',
};
export const FROM = 'queue@example.net';

/** The notify function over a real table, a mail service and both chats, each over the wire. */
export class NotifyWorld {
  readonly clock = new VirtualClock();
  readonly lines: string[] = [];
  readonly log = createLog({ service: 'notify', write: (line) => this.lines.push(line), now: () => 0 });
  readonly chat: FakeChat;
  readonly store: DynamoStore;
  readonly email: EmailEmulator;
  readonly testTable: TestTable;
  readonly #table: Table;
  readonly #chats: LoopbackServer;
  readonly #door: GuardedHttp;
  readonly #mail: SESv2Client;
  #version = 1;

  private constructor(table: TestTable, email: EmailEmulator, chat: FakeChat, chats: LoopbackServer) {
    this.testTable = table;
    this.email = email;
    this.chat = chat;
    this.#chats = chats;
    // The chats' own hosts, on this machine: the one thing that is not as it will be.
    this.#door = createGuardedHttp({ allowHosts: [chats.host], caPem: chats.caPem });
    const config = { client: table.client, tableName: table.tableName, clock: this.clock };
    this.#table = new Table(config);
    this.store = createDynamoStore(config);
    this.#mail = new SESv2Client({ endpoint: email.endpoint, maxAttempts: 1, ...LOCAL_AWS });
  }

  readonly secrets = new FakeSecretBox();

  static async open(): Promise<NotifyWorld> {
    const chat = createFakeChat(
      [SLACK, DISCORD].map((url) => new URL(url).pathname),
      [ROOM],
    );
    const [table, email, chats] = await Promise.all([
      startTestTable(),
      startEmail({ verified: ['example.net'] }),
      startLoopbackHttps(chat.answer),
    ]);
    return new NotifyWorld(table, email, chat, chats);
  }

  /** A repo whose bounces are announced there; ids of its own, so that tests do not meet. */
  async enroll(
    notification: NotificationTargets | null,
    changes: Partial<ManagedRepo> = {},
    mailbox: 'confirmed' | 'waiting' = 'confirmed',
  ): Promise<ManagedRepo> {
    const tenantId = changes.tenantId ?? randomUUID();
    const connectionId = randomUUID();
    const instanceUrl = `https://${connectionId}.example.org`;
    const slug = 'acme/web';
    await this.store.createTenant(tenantId, 0);
    await this.store.createConnection(givenConnection({ id: connectionId, tenantId, instanceUrl }));
    const repo = givenRepo({ id: randomUUID(), tenantId, connectionId, instanceUrl, slug, ...changes });
    const sealed = notification === null ? null : await sealTargets(this.secrets, repo, notification);
    await this.store.createRepo({ ...repo, notification: sealed }, null);
    const email = notification?.email ?? null;
    if (email !== null && mailbox === 'confirmed') await this.confirm(tenantId, email);
    return repo;
  }

  /** The reader of this mailbox has said yes. */
  async confirm(tenantId: string, email: string): Promise<void> {
    const key = makeUpText(MAIL_KEY_CHARS);
    const { link } = await givenMailbox(this.store, tenantId, email, makeUpText(MAIL_KEY_CHARS));
    await this.store.beginConfirmation(link, { key, until: this.clock.now() + 1 }, true);
    await this.store.confirmMailbox({ ...link, key });
  }

  /** Stores an event as the engine does and returns the change that the stream tells of it. */
  async record(repo: ManagedRepo, changes: Partial<ActivityEvent> = {}): Promise<Change> {
    this.#version += 1;
    const event = givenEvent({
      tenantId: repo.tenantId,
      repoId: repo.id,
      repoSlug: repo.slug,
      event: 'pr_bounced',
      pr: 7,
      title: 'Add a page',
      reason: 'the gate failed twice on it alone',
      at: this.clock.now(),
      ...changes,
    });
    const row = toEventRow(event, this.#version, 0);
    await this.#table.put({ Item: row }, 'record');
    return { pk: String(row.pk), sk: String(row.sk) };
  }

  async recordBatch(row: NodeRow): Promise<void> {
    await this.#table.put({ Item: toNodeRow(row) }, 'recordBatch');
  }

  /** Stores what the engine tells people of a queue. */
  async showQueue(repo: ManagedRepo, view: QueueView): Promise<void> {
    await this.#table.put({ Item: { ...queueViewKey(repo.id), ...queueView.write(view) } }, 'showQueue');
  }

  /** The look of one tick, and the changes that the stream tells of it. */
  async watch(repo: ManagedRepo, troubles: readonly Omit<Trouble, 'repoId'>[]): Promise<readonly Change[]> {
    await watchQueues({ store: this.store, clock: this.clock, log: this.log, planLimits: PLAN_LIMITS });
    return troubles.map(({ topic, name, since }) => {
      const subject = JSON.stringify([repo.id, topic, name, since]);
      return this.noticeKey(repo.tenantId, subject, 'trouble');
    });
  }

  /** Key of the row behind a notice that was asked for. */
  noticeKey(tenantId: string, subject: string, kind: NoticeRequest['kind'] = 'invoice_failed'): Change {
    return noticeKey(tenantId, kind, subject);
  }

  /** One delivery of the mapping. */
  async deliver(changes: readonly Change[], options: DeliverOptions = {}): Promise<StreamAnswer> {
    const notify = createNotify({
      store: { ...this.store, ...options.store },
      secrets: this.secrets,
      notifier: createNotifier({
        email: options.email ?? { way: 'ses', client: this.#mail, from: options.from ?? FROM },
        send: options.send ?? this.#sendToFakes,
      }),
      clock: this.clock,
      log: this.log,
      serviceUrl: 'https://queue.example.org',
      makeMailKey: () => makeUpText(MAIL_KEY_CHARS),
    });
    return notify({
      Records: changes.map(({ pk, sk, kind = 'INSERT' }, index) => ({
        eventName: kind,
        dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } }, SequenceNumber: String(index + 1) },
      })),
    });
  }

  async stop(): Promise<void> {
    this.#mail.destroy();
    this.#door.close();
    await Promise.all([this.email.stop(), this.#chats.close(), this.testTable.stop()]);
  }

  readonly #sendToFakes: HttpSend = (request) =>
    this.#door.send({ ...request, url: request.url.replace(/^https:\/\/[^/]+/, this.#chats.origin) });
}

export interface Change {
  readonly pk: string;
  readonly sk: string;
  /** @default INSERT */
  readonly kind?: 'INSERT' | 'MODIFY' | 'REMOVE';
}

export interface DeliverOptions {
  /** @default FROM */
  readonly from?: string;
  /** @default SES */
  readonly email?: EmailConfig;
  /** Replaces the door to the chats. */
  readonly send?: HttpSend;
  /** Replaces calls of the store. */
  readonly store?: Partial<DynamoStore>;
}
