import { createHmac } from 'node:crypto';
import type { EmailConfig } from '#core/adapters/email-chat/mail.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { type HttpRequest, type HttpSend, HttpSendError } from '#core/adapters/http-guard/http-send.ts';
import { MailboxQuery, toMailboxLink } from '#core/contracts/notices/mailbox.ts';
import { NoticePayload } from '#core/contracts/notices/notice-payload.ts';
import { toDeliveryList } from '#core/contracts/notices/notice-webhook.ts';
import {
  DAY_MS,
  MAIL_CONFIRM_MS,
  MAILS_PER_DAY_MAX,
  NOTICE_KEPT_MS,
  NOTICE_TIMEOUT_MS,
} from '#core/domain/api-limits.ts';
import { mapWays, type NoticeChoice } from '#core/domain/notices/notice-topics.ts';
import { formatMatrix, formatWebhook } from '#core/domain/notices/notification.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { StoreError } from '#core/ports/store.ts';
import { Secret } from '#core/secret.ts';
import { askInvoiceNotice } from '#core/services/notices/ask-notice.ts';
import { askRetries } from '#core/services/notices/deliver-webhook.ts';
import { watchQueues } from '#core/services/notices/watch-queues.ts';
import { givenNodeRow } from '../builders/store-rows.ts';
import { findLeaks } from '../support/canaries.ts';
import { ALL, DISCORD, FROM, MAILBOX, NotifyWorld, ROOM, SLACK } from '../support/notify-world.ts';

let world: NotifyWorld;
let seen: { mails: number; messages: number; requests: number; lines: number };

beforeAll(async () => {
  world = await NotifyWorld.open();
});
afterAll(() => world.stop());
beforeEach(() => {
  world.email.mood = 'accept';
  world.chat.mood = 'accept';
  seen = {
    mails: world.email.outbox.length,
    messages: world.chat.messages.length,
    requests: world.chat.requests,
    lines: world.lines.length,
  };
});
afterEach(() => {
  const secrets = [MAILBOX, SLACK, DISCORD, ROOM.token, ROOM.room, 'chatAcanary51c7', 'chatBcanary93ef'];
  expect(
    findLeaks(
      secrets.map((value) => ({ name: value, value })),
      world.lines,
    ),
  ).toEqual([]);
});

const mails = () => world.email.outbox.slice(seen.mails);
const messages = () => world.chat.messages.slice(seen.messages);
const requests = () => world.chat.requests - seen.requests;
const lines = () => world.lines.slice(seen.lines).map((line) => JSON.parse(line));
/** The link that ends the mails, as the mail program's own button has it. */
const leaveUrlOf = (mail?: { readonly headers: Readonly<Record<string, string>> }): string =>
  /^<(.+)>$/.exec(mail?.headers['List-Unsubscribe'] ?? '')?.[1] ?? '';
const linkOf = (url: string) =>
  toMailboxLink(MailboxQuery.parse(Object.fromEntries(new URL(url).searchParams)));
/** The outcome of each way, as logged. */
const results = () =>
  Object.fromEntries(
    lines()
      .filter((line) => line.way !== undefined)
      .map((line) => [line.way, line.result ?? (line.level === 'info' ? line.message : line.level)]),
  );

describe('a bounce', () => {
  test('is told by mail and in both chats: repo, pull request, why, run', async () => {
    const repo = await world.enroll(ALL);
    const runUrl = `${repo.instanceUrl}/acme/web/actions/runs/12`;
    await world.recordBatch(
      givenNodeRow({
        id: 'b-1',
        tenantId: repo.tenantId,
        repoId: repo.id,
        prs: [7],
        gateVerdict: 'failure',
        runUrl,
        outcome: 'bounced',
        phase: null,
        resolvedAt: 5,
        actions: [{ pr: 7, action: 'bounced', stagingSha: null, gateVerdict: 'failure', cursor: 0 }],
      }),
    );
    const change = await world.record(repo);
    expect(await world.deliver([change])).toEqual({ batchItemFailures: [] });
    const pull = `${repo.instanceUrl}/acme/web/pulls/7`;
    expect(mails()).toEqual([
      {
        from: FROM,
        to: [MAILBOX],
        subject: 'acme/web #7 was bounced by the merge queue',
        headers: expect.any(Object),
        text: [
          'acme/web #7: "Add a page"',
          `Status: ${PULL_CODES.gate_failed.says}`,
          `Next step: ${PULL_CODES.gate_failed.next}`,
          '',
          `Pull request: ${pull}`,
          `Gate run: ${runUrl}`,
          `Queue: https://queue.example.org/repos/${repo.id}/pulls/7`,
          '',
          `No more of these mails: ${leaveUrlOf(mails()[0])}`,
          '',
        ].join('\n'),
      },
    ]);
    const [first, second] = [...messages()].sort((a, b) => (a.path < b.path ? 1 : -1));
    expect(first?.path).toBe(new URL(SLACK).pathname);
    expect(JSON.stringify(first?.body)).toContain(`<${pull}|Pull request>`);
    expect(JSON.stringify(first?.body)).toContain(`<${runUrl}|Gate run>`);
    expect(JSON.stringify(first?.body)).toContain('Status: bounced: the gate fails with this pull request');
    expect(second?.path).toBe(new URL(DISCORD).pathname);
    expect(second?.body).toMatchObject({ allowed_mentions: { parse: [] }, flags: 4 });
    expect(second?.body.content).toContain(`Gate run: <${runUrl}>`);
    expect(results()).toEqual({
      email: 'notification sent',
      slack: 'notification sent',
      discord: 'notification sent',
    });
  });

  test('is told once per pull request and head, however often and by how many it is delivered (A84)', async () => {
    const repo = await world.enroll({
      email: MAILBOX,
      slack: null,
      discord: null,
      matrix: null,
      webhook: null,
    });
    const change = await world.record(repo);
    await Promise.all(Array.from({ length: 8 }, () => world.deliver([change, change])));
    expect(mails()).toHaveLength(1);
    const again = await world.record(repo);
    await world.deliver([again]);
    expect(mails()).toHaveLength(1);
    await world.deliver([await world.record(repo, { head: 'd'.repeat(40) })]);
    await world.deliver([await world.record(repo, { pr: 8 })]);
    const twin = await world.enroll({
      email: MAILBOX,
      slack: null,
      discord: null,
      matrix: null,
      webhook: null,
    });
    await world.deliver([await world.record(twin)]);
    expect(mails()).toHaveLength(4);
  });

  test.each(['pr_queued', 'pr_refused', 'pr_staged', 'pr_landed', 'pr_requeued', 'pr_skipped'] as const)(
    'and nothing else is: %s',
    async (event) => {
      const repo = await world.enroll(ALL);
      await world.deliver([await world.record(repo, { event })]);
      expect([mails(), requests()]).toEqual([[], 0]);
    },
  );

  test('is told of an insert only, and of a row that is there', async () => {
    const repo = await world.enroll(ALL);
    const change = await world.record(repo);
    await world.deliver([
      { ...change, kind: 'MODIFY' },
      { ...change, kind: 'REMOVE' },
    ]);
    await world.deliver([{ pk: change.pk, sk: `${change.sk}x` }]);
    expect([mails(), requests()]).toEqual([[], 0]);
  });

  test.each([null, { email: null, slack: null, discord: null, matrix: null, webhook: null }])(
    'is kept where no channel is set (%j), and told later through the channel that is set then',
    async (notification) => {
      const repo = await world.enroll(notification);
      const change = await world.record(repo);
      await world.deliver([change]);
      expect([mails(), requests(), lines()]).toEqual([[], 0, []]);
      const stored = await world.store.getRepo(repo.id);
      if (stored === null) throw new Error('no repo');
      await world.store.updateRepo({
        ...stored,
        notification: { ...ALL, slack: null, discord: null, matrix: null, webhook: null },
      });
      await world.confirm(repo.tenantId, MAILBOX);
      await world.deliver([change]);
      expect(mails()).toHaveLength(1);
    },
  );

  test('of a repo that is gone, or of another tenant, is told to no channel', async () => {
    const gone = await world.enroll(ALL);
    const change = await world.record(gone);
    await world.store.deleteRepo(gone);
    const mine = await world.enroll(ALL);
    const foreign = await world.record({ ...mine, tenantId: 'another-tenant' });
    await world.deliver([change, foreign]);
    expect([mails(), requests()]).toEqual([[], 0]);
  });

  test('deleting the repo takes the claims along', async () => {
    const repo = await world.enroll(ALL);
    await world.deliver([await world.record(repo)]);
    expect(await world.store.claimBounce({ repoId: repo.id, pr: 7, head: 'c'.repeat(40), at: 1 })).toBe(
      false,
    );
    await world.store.deleteRepo(repo);
    expect(await world.store.claimBounce({ repoId: repo.id, pr: 9, head: 'c'.repeat(40), at: 1 })).toBe(
      false,
    );
  });
});

describe('a room of Matrix', () => {
  const inRoom = { email: null, slack: null, discord: null, matrix: formatMatrix(ROOM), webhook: null };

  test('gets a notice as text, under a transaction id that is the same when it is sent again', async () => {
    const repo = await world.enroll(inRoom);
    const change = await world.record(repo, { title: 'See https://evil.example' });
    await world.deliver([change]);
    expect(results()).toEqual({ matrix: 'notification sent' });
    const [message] = messages();
    const room = encodeURIComponent(ROOM.room);
    expect(message?.path).toMatch(
      new RegExp(`^/_matrix/client/v3/rooms/${room}/send/m\\.room\\.message/[0-9a-f]{64}$`),
    );
    const pull = `${repo.instanceUrl}/acme/web/pulls/7`;
    expect(message?.body).toMatchObject({ msgtype: 'm.notice', 'm.mentions': {} });
    expect(message?.body.body).toContain(`Pull request: ${pull}`);
    expect(message?.body.body).not.toContain('https://evil.example');
    // As if the claim had been lost.
    await world.deliver([change], { store: { claimBounce: async () => true } });
    expect([requests(), messages().length]).toEqual([2, 1]);
  });

  test.each([
    { ...ROOM, token: 'revoked' },
    { ...ROOM, room: '!other:example.org' },
  ])('that the account may not write to is refused, and is logged without its secrets', async (room) => {
    const repo = await world.enroll({ ...inRoom, matrix: formatMatrix(room) });
    await world.deliver([await world.record(repo)]);
    expect([results(), messages()]).toEqual([{ matrix: 'refused' }, []]);
  });

  test('of a homeserver in a private network is refused by the guard of the door', async () => {
    const door = createGuardedHttp({
      allowHosts: [],
      resolve: async () => [{ address: '10.0.0.7', family: 4 }],
    });
    const repo = await world.enroll(inRoom);
    await world.deliver([await world.record(repo)], { send: door.send });
    expect([results(), requests()]).toEqual([{ matrix: 'refused' }, 0]);
    door.close();
  });
});

describe('a webhook of one’s own', () => {
  const secret = `whsec_${Buffer.from('canary-key-of-a-webhook-0123').toString('base64')}`;
  const url = 'https://hooks.example.org/canary-path?queue=1';
  const hooked = { ...ALL, email: null, slack: null, discord: null, webhook: formatWebhook({ url, secret }) };
  let sent: HttpRequest[];
  let answer: number | null;
  beforeEach(() => {
    [sent, answer] = [[], 200];
  });
  const send: HttpSend = async (request) => {
    sent.push(request);
    if (answer === null) throw new HttpSendError('timeout');
    return { status: answer, headers: {}, body: Buffer.alloc(0) };
  };
  const deliver = async (...changes: Parameters<NotifyWorld['deliver']>[0]) =>
    world.deliver(changes, { send });
  const log = async ({ id }: ManagedRepo) =>
    toDeliveryList(await world.store.listDeliveries(id, 10)).deliveries;
  const tick = async (repo: ManagedRepo) => {
    await askRetries({ store: world.store, clock: world.clock, log: world.log });
    const [name] = await world.store.listDeliveries(repo.id, 1);
    if (name === undefined) throw new Error('no delivery');
    const subject = JSON.stringify([repo.id, name.at, name.id]);
    await deliver(world.noticeKey(repo.tenantId, subject, 'webhook_retry'));
  };
  afterEach(() => {
    const values = [secret, secret.slice(6), url, 'canary-path'];
    expect(
      findLeaks(
        values.map((value) => ({ name: value, value })),
        world.lines,
      ),
    ).toEqual([]);
  });

  test('gets a bounce signed over id, time and body, in a body that keeps the schema', async () => {
    const repo = await world.enroll(hooked);
    await deliver(await world.record(repo));
    const [request] = sent;
    const { headers = {}, body = '' } = request ?? {};
    expect(request).toMatchObject({ method: 'POST', url });
    const id = headers['webhook-id'] ?? '';
    const time = headers['webhook-timestamp'] ?? '';
    expect(time).toBe(String(Math.floor(world.clock.now() / 1000)));
    const mac = createHmac('sha256', 'canary-key-of-a-webhook-0123').update(`${id}.${time}.${body}`);
    expect(headers['webhook-signature']).toBe(`v1,${mac.digest('base64')}`);
    expect(NoticePayload.parse(JSON.parse(body))).toMatchObject({
      type: 'pull_request.bounced',
      data: {
        repository: { id: repo.id, name: 'acme/web' },
        pull_request: { number: 7, title: 'Add a page' },
        code: 'gate_failed',
        says: PULL_CODES.gate_failed.says,
        next: PULL_CODES.gate_failed.next,
      },
    });
    expect(await log(repo)).toMatchObject([
      { kind: 'bounced', state: 'delivered', attempts: 1, status: 200, next_at: null },
    ]);
  });

  test('that is out is tried again with growing delays and under the same id, until it takes the news', async () => {
    const repo = await world.enroll(hooked);
    answer = null;
    const change = await world.record(repo);
    await deliver(change);
    await deliver(change);
    expect([sent.length, (await log(repo))[0]]).toMatchObject([1, { state: 'waiting', status: null }]);
    await tick(repo);
    expect(sent).toHaveLength(1);
    answer = 503;
    await world.clock.advance(5 * 60_000);
    await tick(repo);
    expect((await log(repo))[0]).toMatchObject({ state: 'waiting', attempts: 2, status: 503 });
    await world.clock.advance(5 * 60_000);
    await tick(repo);
    expect(sent).toHaveLength(2);
    answer = 204;
    await world.clock.advance(25 * 60_000);
    await tick(repo);
    expect((await log(repo))[0]).toMatchObject({ state: 'delivered', attempts: 3, status: 204 });
    expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    await world.clock.advance(DAY_MS);
    await tick(repo);
    expect(sent).toHaveLength(3);
  });

  test('whose attempt was not noted is tried again: nothing that is stored is lost', async () => {
    const repo = await world.enroll(hooked);
    const noteAttempt = () => Promise.reject(new StoreError('unavailable', 'noteAttempt'));
    await world.deliver([await world.record(repo)], { send, store: { noteAttempt } });
    expect((await log(repo))[0]).toMatchObject({ state: 'waiting', attempts: 0 });
    await world.clock.advance(5 * 60_000);
    await tick(repo);
    expect((await log(repo))[0]).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('that was taken away gets nothing of what waited, and one that asks for nothing stores nothing', async () => {
    const repo = await world.enroll(hooked);
    answer = 500;
    await deliver(await world.record(repo));
    const stored = await world.store.getRepo(repo.id);
    if (stored === null) throw new Error('no repo');
    await world.store.updateRepo({ ...stored, notification: null });
    await world.clock.advance(5 * 60_000);
    await tick(repo);
    expect(sent).toHaveLength(1);
    expect(await log(repo)).toMatchObject([{ state: 'given_up', attempts: 1 }]);
    // A delivery that stays due would keep the place of those of other tenants.
    expect(await world.store.listDueDeliveries(world.clock.now(), 10)).toEqual([]);
    const quiet = await world.enroll(hooked, { noticeTopics: mapWays(() => []) });
    await deliver(await world.record(quiet));
    expect(await log(quiet)).toEqual([]);
  });

  test('that the change stream never told of an event is told by the tick, once', async () => {
    const repo = await world.enroll(hooked);
    await world.record(repo, { at: world.clock.now() });
    const look = () => watchQueues({ store: world.store, clock: world.clock, log: world.log });
    await look();
    expect(await log(repo)).toEqual([]);
    await world.clock.advance(3 * 60_000);
    for (const _ of [1, 2]) await look();
    await tick(repo);
    await look();
    await tick(repo);
    expect(sent).toHaveLength(1);
    expect(await log(repo)).toMatchObject([{ kind: 'bounced', state: 'delivered', attempts: 1 }]);
    const stored = await world.store.getRepo(repo.id);
    if (stored === null) throw new Error('no repo');
    await world.record(repo, { at: world.clock.now(), pr: 8 });
    await world.store.updateRepo({ ...stored, updatedAt: world.clock.now() });
    await world.clock.advance(3 * 60_000);
    await look();
    expect(await log(repo)).toHaveLength(1);
    await world.store.deleteRepo(repo);
  });

  test('and every other place is told of a test that is asked for', async () => {
    const repo = await world.enroll({ ...hooked, slack: SLACK });
    const { id: repoId, tenantId } = repo;
    const at = world.clock.now();
    await world.store.requestNotice({ kind: 'test', tenantId, subject: repoId, email: null, repoId, at });
    await deliver(world.noticeKey(tenantId, repoId, 'test'));
    expect(sent.map(({ url: to }) => to).sort()).toEqual([SLACK, url].sort());
    expect((await log(repo))[0]).toMatchObject({ kind: 'test', state: 'delivered' });
  });
});

describe('the topics of a place', () => {
  const choose = (topics: Partial<NoticeChoice>) => ({ noticeTopics: { ...mapWays(() => []), ...topics } });

  test('each way is told of what it was chosen for, and of nothing else', async () => {
    const repo = await world.enroll(ALL, choose({ email: ['refused'], slack: ['landed'], discord: [] }));
    const told = async (event: 'pr_refused' | 'pr_landed' | 'pr_bounced') => {
      const before = [mails().length, messages().length];
      await world.deliver([await world.record(repo, { event, reason: null })]);
      return [mails().length - (before[0] ?? 0), messages().length - (before[1] ?? 0)];
    };
    expect([await told('pr_refused'), await told('pr_landed'), await told('pr_bounced')]).toEqual([
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
  });

  test('a refusal is told in the words of its status with the next step, once for each reason of a head', async () => {
    const repo = await world.enroll(ALL, choose({ email: ['refused'] }));
    const refused = { event: 'pr_refused', reason: 'conflict' } as const;
    await world.deliver([await world.record(repo, refused), await world.record(repo, refused)]);
    await world.deliver([await world.record(repo, { ...refused, reason: 'approvals_missing' })]);
    expect(mails().map(({ subject }) => subject)).toEqual(
      Array(2).fill('acme/web #7 is refused by the merge queue for now'),
    );
    const [first] = mails();
    expect(first?.text).toContain(`Status: ${PULL_CODES.conflict.says}`);
    expect(first?.text).toContain(`Next step: ${PULL_CODES.conflict.next}`);
    expect(first?.text).toContain(`Queue: https://queue.example.org/repos/${repo.id}/pulls/7`);
  });

  test('a queue that stands still and a set-up that changed are found by the tick, and each is told once', async () => {
    const chosen = choose({ email: ['stuck'], slack: ['drift'] });
    const repo = await world.enroll(ALL, chosen);
    const quiet = await world.enroll(ALL, choose({ email: ['bounced'] }));
    const now = world.clock.now();
    const since = now - DAY_MS;
    const place = { pr: 7, title: 'x', head: 'a'.repeat(40), queuedAt: since, until: null };
    for (const each of [repo, quiet]) {
      await world.showQueue(each, {
        at: now,
        places: [{ ...place, state: 'staged', reason: null }],
        more: 0,
        block: { kind: 'merge', since, until: null, pr: 7, runUrl: null },
      });
    }
    const looked = { ranAt: now, ok: true, errorCode: null } as const;
    await world.store.saveReconcileOutcome(repo, looked);
    await world.store.saveReconcileOutcome(quiet, looked);
    const stuck = { topic: 'stuck', name: 'forge_slow', since } as const;
    const utc = new Date(since).toISOString().slice(0, 16).replace('T', ' ');
    for (const _ of [1, 2]) await world.deliver(await world.watch(repo, [stuck]));
    expect(mails().map(({ subject }) => subject)).toEqual([
      'The merge queue of acme/web (main) stands still',
    ]);
    expect(mails()[0]?.text).toContain(
      `The forge does not carry out what the queue asked for, since ${utc} UTC.`,
    );
    expect(messages()).toEqual([]);

    const lost = { ranAt: now, ok: false, errorCode: 'forge_access_denied' } as const;
    await world.store.saveReconcileOutcome(repo, lost);
    await world.deliver(await world.watch(repo, [{ topic: 'drift', name: 'rights', since: now }]));
    expect(mails()).toHaveLength(1);
    expect(JSON.stringify(messages().map(({ body }) => body))).toContain('The bot may not do any more');
    await world.store.saveReconcileOutcome(repo, { ranAt: now + 1, ok: true, errorCode: null });
    await world.store.saveReconcileOutcome(repo, { ...lost, ranAt: now + 2, refusal: 'archived' });
    await world.deliver(await world.watch(repo, [{ topic: 'drift', name: 'rights', since: now + 1 }]));
    expect(JSON.stringify(messages().map(({ body }) => body))).toContain('The repository is archived');
    const watched = async () => (await world.store.listWatchedRepos(100)).map(({ repoId }) => repoId);
    expect(await watched()).toContain(repo.id);
    expect(await watched()).not.toContain(quiet.id);
    await world.store.deleteRepo(repo);
    expect(await watched()).not.toContain(repo.id);
  });

  test.each([
    [
      ['gpu'],
      'The gate run waits for a runner with the label "gpu"',
      'or change runs-on in the gate workflow.',
    ],
    [undefined, 'The gate run waits for a runner', 'that it has the labels that the workflow asks for.'],
  ])(
    'a queue that waits for a runner is told with its labels where they are known (%j)',
    async (labels, says, next) => {
      const repo = await world.enroll(ALL, choose({ email: ['stuck'] }));
      const now = world.clock.now();
      const since = now - 3_600_000;
      await world.showQueue(repo, {
        at: now,
        more: 0,
        places: [
          {
            pr: 7,
            title: 'x',
            head: 'a'.repeat(40),
            queuedAt: since,
            until: null,
            state: 'staged',
            reason: null,
          },
        ],
        block: {
          kind: 'runner',
          since,
          until: null,
          pr: 7,
          runUrl: null,
          ...(labels === undefined ? {} : { labels }),
        },
      });
      await world.store.saveReconcileOutcome(repo, { ranAt: now, ok: true, errorCode: null });
      await world.deliver(await world.watch(repo, [{ topic: 'stuck', name: 'no_runner', since }]));
      expect(mails()).toHaveLength(1);
      expect(mails()[0]?.text).toContain(`${says}, since `);
      expect(mails()[0]?.text).toContain(next);
    },
  );
});

describe('the mails of one tenant', () => {
  test('have an end each day, half of them at once; the chats are told all the same', async () => {
    const repo = await world.enroll(ALL);
    const asked: unknown[] = [];
    const takeToken = async (...given: readonly [string, number, number]) => {
      asked.push(given);
      return { allowed: false, retryAfterMs: 1 } as const;
    };
    await world.deliver([await world.record(repo)], { store: { takeToken } });
    expect([mails(), messages().length]).toEqual([[], 2]);
    expect(asked).toEqual([
      [`mail:${repo.tenantId}`, (2 * DAY_MS) / MAILS_PER_DAY_MAX, MAILS_PER_DAY_MAX / 2],
    ]);
    expect(world.lines.slice(seen.lines).join()).toContain('the mails of a day are used up');
  });

  test('go out while they cannot be counted: the bounce is claimed, and no other notice of it would come', async () => {
    const repo = await world.enroll(ALL);
    const takeToken = () => Promise.reject(new StoreError('unavailable', 'takeToken'));
    await world.deliver([await world.record(repo)], { store: { takeToken } });
    expect(mails()).toHaveLength(1);
  });
});

describe('a stranger’s address', () => {
  const STRANGER = 'stranger@example.org';
  const only = { email: STRANGER, slack: null, discord: null, matrix: null, webhook: null };
  const CONFIRM = 'Confirm that notices of a merge queue may come here';
  const subjects = () => mails().map((mail) => mail.subject);
  const confirmLinkOf = (mail?: { readonly text: string }) =>
    linkOf(/^Confirm: (.+)$/m.exec(mail?.text ?? '')?.[1] ?? '');
  const ask = async (tenantId: string, kind: 'confirm_mailbox' | 'confirm_mailbox_again') => {
    await world.store.requestNotice({ kind, tenantId, subject: STRANGER, email: STRANGER });
    await world.deliver([world.noticeKey(tenantId, STRANGER, kind)]);
  };

  test('gets one mail that asks, however much there is to tell, and the notices only after its reader has said yes', async () => {
    const repo = await world.enroll(only, {}, 'waiting');
    for (const pr of [7, 8]) await world.deliver([await world.record(repo, { pr })]);
    expect(subjects()).toEqual([CONFIRM]);
    expect(mails()[0]?.text).not.toContain('Add a page');
    expect(leaveUrlOf(mails()[0])).not.toBe('');
    expect(await world.store.confirmMailbox(confirmLinkOf(mails()[0]))).toBe(true);
    await world.deliver([await world.record(repo, { pr: 9 })]);
    expect(subjects()).toEqual([CONFIRM, 'acme/web #9 was bounced by the merge queue']);
  });

  test('is asked once when it is entered, and again only by hand; a link of before, and one of a week ago, count no more', async () => {
    const { tenantId } = await world.enroll(only, {}, 'waiting');
    await ask(tenantId, 'confirm_mailbox');
    await ask(tenantId, 'confirm_mailbox');
    await ask(tenantId, 'confirm_mailbox_again');
    expect(subjects()).toEqual([CONFIRM, CONFIRM]);
    expect(await world.store.confirmMailbox(confirmLinkOf(mails()[0]))).toBe(false);
    await world.clock.advance(MAIL_CONFIRM_MS);
    expect(await world.store.confirmMailbox(confirmLinkOf(mails()[1]))).toBe(false);
    expect(await world.store.readMailboxStates(tenantId, [STRANGER])).toEqual(
      new Map([[STRANGER, 'waiting']]),
    );
  });

  test('is not confirmed by the link that ends the mails; who ended them is asked no more, and can come back', async () => {
    const repo = await world.enroll(only, {}, 'waiting');
    await ask(repo.tenantId, 'confirm_mailbox');
    const link = linkOf(leaveUrlOf(mails()[0]));
    expect(await world.store.confirmMailbox(link)).toBe(false);
    expect(await world.store.returnToMailbox(link)).toBe(false);
    expect(await world.store.leaveMailbox(link)).toBe(true);
    await ask(repo.tenantId, 'confirm_mailbox_again');
    await world.deliver([await world.record(repo)]);
    expect(subjects()).toEqual([CONFIRM]);
    expect(await world.store.returnToMailbox(link)).toBe(true);
    await world.deliver([await world.record(repo, { pr: 8 })]);
    expect(mails()).toHaveLength(2);
  });

  test('that was taken away again, or that its tenant never had, is not asked', async () => {
    const { tenantId } = await world.enroll({ ...only, email: 'other@example.org' }, {}, 'waiting');
    await ask(tenantId, 'confirm_mailbox_again');
    expect(mails()).toEqual([]);
  });

  test('is asked within the mails of a day of its tenant, and ten times a day by all tenants together', async () => {
    const { tenantId } = await world.enroll(only, {}, 'waiting');
    const asked: unknown[] = [];
    let refused = `mail:${tenantId}`;
    const takeToken = async (...given: readonly [string, number, number]) => {
      asked.push(given);
      return given[0] === refused
        ? ({ allowed: false, retryAfterMs: 1 } as const)
        : { allowed: true as const };
    };
    const tell = async () => {
      const kind = 'confirm_mailbox';
      await world.store.requestNotice({ kind, tenantId, subject: STRANGER, email: STRANGER });
      await world.deliver([world.noticeKey(tenantId, STRANGER, kind)], { store: { takeToken } });
    };
    await tell();
    refused = `confirmations:${STRANGER}`;
    await tell();
    expect(mails()).toEqual([]);
    expect(asked[0]).toEqual([`confirmations:${STRANGER}`, DAY_MS / 10, 10]);
    expect(asked[1]).toEqual([`mail:${tenantId}`, (2 * DAY_MS) / MAILS_PER_DAY_MAX, MAILS_PER_DAY_MAX / 2]);
    refused = '';
    await tell();
    expect(subjects()).toEqual([CONFIRM]);
  });

  test('that was stored before there were confirmations waits for one too', async () => {
    const repo = await world.enroll(only, {}, 'waiting');
    const { link } = await world.store.openMailbox(repo.tenantId, STRANGER, 'k'.repeat(32));
    await world.testTable.damageRow(`TM#${repo.tenantId}`, `M#${link.box}`, { mail_state: 'confirmed' });
    await world.deliver([await world.record(repo)]);
    expect(subjects()).toEqual([CONFIRM]);
  });

  test('gets no notice of a failed invoice either; the payer’s address, which the provider mails to, does', async () => {
    const { tenantId } = await world.enroll(only, {}, 'waiting');
    const invoice = { tenantId, invoiceId: 'in_9', email: MAILBOX };
    await askInvoiceNotice({ store: world.store, log: world.log }, invoice);
    await world.deliver([world.noticeKey(tenantId, 'in_9')]);
    const told = Object.fromEntries(mails().map((mail) => [mail.to[0], mail.subject]));
    expect(told).toEqual({ [MAILBOX]: 'A payment for your merge queue plan failed', [STRANGER]: CONFIRM });
  });
});

describe('a mail can be unsubscribed from (RFC 8058)', () => {
  test('by the button of the mail program and by a link in its text; that tenant mails there no more, and others do', async () => {
    const repo = await world.enroll(ALL);
    await world.deliver([await world.record(repo)]);
    await world.deliver([await world.record(repo, { pr: 8 })]);
    const [first, second] = mails();
    const url = leaveUrlOf(first);
    expect(new URL(url).origin).toBe('https://queue.example.org');
    expect(first?.headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click');
    expect(first?.text).toContain(url);
    // A mail of last year still ends them.
    expect(leaveUrlOf(second)).toBe(url);
    expect(await world.store.leaveMailbox(linkOf(url))).toBe(true);
    await world.deliver([await world.record(repo, { pr: 9 })]);
    expect(mails()).toHaveLength(2);
    expect(
      lines().some((line) => line.message === 'the mailbox is unsubscribed: the e-mail was skipped'),
    ).toBe(true);
    expect(messages()).toHaveLength(6);
    await world.deliver([await world.record(await world.enroll(ALL))]);
    expect(mails()).toHaveLength(3);
  });

  test('other capitals are no way around it, and the link of one tenant ends no mails of another', async () => {
    const only = { email: MAILBOX, slack: null, discord: null, matrix: null, webhook: null };
    const repo = await world.enroll(only);
    const other = await world.enroll(only);
    await world.deliver([await world.record(repo)]);
    await world.deliver([await world.record(other)]);
    const [link, foreign] = mails().map((mail) => linkOf(leaveUrlOf(mail)));
    if (link === undefined || foreign === undefined) throw new Error('no link');
    expect(await world.store.leaveMailbox({ ...link, tenantId: foreign.tenantId })).toBe(false);
    expect(await world.store.leaveMailbox(link)).toBe(true);
    const stored = await world.store.getRepo(repo.id);
    if (stored === null) throw new Error('no repo');
    await world.store.updateRepo({ ...stored, notification: { ...only, email: MAILBOX.toUpperCase() } });
    await world.deliver([await world.record(repo, { pr: 8 })]);
    await world.deliver([await world.record(other, { pr: 8 })]);
    expect(mails().map((mail) => mail.to[0])).toEqual([MAILBOX, MAILBOX, MAILBOX]);
  });

  test('one whose mailbox cannot be read is not sent: its reader could not end it', async () => {
    const repo = await world.enroll(ALL);
    const openMailbox = async (): Promise<never> => {
      throw new StoreError('unavailable', 'openMailbox');
    };
    await world.deliver([await world.record(repo)], { store: { openMailbox } });
    expect([mails().length, messages().length]).toEqual([0, 2]);
  });
});

describe('words that people typed stay text (A117)', () => {
  test.each([
    [
      'mentions and links of one chat',
      '<!channel> <https://evil.example|click> &amp; @everyone <@U123> @here',
    ],
    ['markup of the other', '[free](https://evil.example) ||**bold**|| `code` _x_ ~y~ # head'],
    ['a header of a mail', 'line\r\nBcc: victim@example.org\r\n\r\nbody'],
    [
      'letters that turn and hide',
      '\u202Egnp.exe\u202C zero\u200Bwidth \u2066isolate\u2069 \u0000 nul \u001B[31mred',
    ],
    ['more than fits', '👩‍👩‍👧 '.repeat(100)],
    ['nothing but escapes', '`'.repeat(255)],
    ['nothing', ''],
  ])('%s', async (_name, title) => {
    const repo = await world.enroll(ALL);
    await world.deliver([await world.record(repo, { title, reason: title })]);
    expect(mails()).toHaveLength(1);
    expect(messages()).toHaveLength(2);
    const [mail] = mails();
    expect(mail?.subject).not.toMatch(/[\r\n]/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(mail?.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069\u200b]/);
    expect(mail?.text.split('\n')).toHaveLength(9);
    const [a] = messages().filter(({ path }) => path.startsWith('/services/'));
    const [b] = messages().filter(({ path }) => !path.startsWith('/services/'));
    // Blocks of plain text know no markup; only our own links stand in markup.
    const markup = JSON.stringify(a?.body.blocks).match(/"mrkdwn","text":"[^"]*"/g) ?? [];
    expect(markup.join()).not.toContain('evil');
    expect(String(a?.body.text)).not.toMatch(/<(?!https:\/\/(?:[0-9a-f-]{36}|queue)\.example\.org)/);
    const content = String(b?.body.content);
    expect(content).not.toMatch(/(?<!\\)[`_~|[\]]/);
    expect(content).not.toMatch(/https:\/\/evil/);
    expect(content).not.toMatch(/(?<!\\)@/);
  });
});

describe('ways that fail', () => {
  test.each([
    ['limit', 'failed'],
    ['fail', 'failed'],
    ['redirect', 'refused'],
    ['flood', 'notification sent'],
  ] as const)('a chat in the mood %s: %s, asked once, and the mail goes out', async (mood, result) => {
    world.chat.mood = mood;
    const repo = await world.enroll(ALL);
    const change = await world.record(repo);
    expect(await world.deliver([change])).toEqual({ batchItemFailures: [] });
    await world.deliver([change]);
    expect(results()).toEqual({ email: 'notification sent', slack: result, discord: result });
    expect([mails().length, requests()]).toEqual([1, 2]);
  });

  test('a webhook that does not exist any more is refused', async () => {
    const repo = await world.enroll({ ...ALL, slack: 'https://hooks.slack.com/services/T0/B0/goneXXXX' });
    await world.deliver([await world.record(repo)]);
    expect(results()).toMatchObject({ slack: 'refused', discord: 'notification sent' });
  });

  test.each([
    ['reject', 'refused'],
    ['throttle', 'failed'],
    ['fail', 'failed'],
  ] as const)('a mail service in the mood %s: %s, and the chats hear of it', async (mood, result) => {
    world.email.mood = mood;
    const repo = await world.enroll(ALL);
    await world.deliver([await world.record(repo)]);
    expect(results()).toMatchObject({ email: result, slack: 'notification sent' });
    expect(lines().find((line) => line.way === 'email')).toMatchObject({
      level: 'warn',
      message: 'a notification was not delivered',
      kind: 'bounce',
      pr: 7,
      tenant_id: repo.tenantId,
      repo_id: repo.id,
    });
  });

  test('all of them silent: over within its three seconds (A83)', async () => {
    world.email.mood = 'silent';
    world.chat.mood = 'silent';
    const repo = await world.enroll(ALL);
    const change = await world.record(repo);
    const started = performance.now();
    await world.deliver([change]);
    // Two that wait for each other would take twice as long.
    expect(performance.now() - started).toBeLessThan(NOTICE_TIMEOUT_MS * 2);
    expect(results()).toEqual({ email: 'failed', slack: 'failed', discord: 'failed' });
  });

  test('a deployment without a way to send mail skips it, which is said, and nothing failed', async () => {
    const repo = await world.enroll(ALL);
    await world.deliver([await world.record(repo)], { email: { way: 'none' } });
    expect(mails()).toEqual([]);
    expect(results()).toMatchObject({
      email: 'this deployment sends no mail: the e-mail was skipped',
      slack: 'notification sent',
    });
  });

  describe('through the API of a mail provider (EMAIL_API_KEY)', () => {
    const KEY = 'canary-email-api-key-77aa';
    const asked: HttpRequest[] = [];
    const through = (answer: () => Promise<number>): EmailConfig => ({
      way: 'api',
      url: 'https://mail.example.org/',
      from: FROM,
      readKey: async () => new Secret(KEY),
      send: async (request) => {
        asked.push(request);
        return { status: await answer(), headers: {}, body: Buffer.from('{"id":"m-1"}') };
      },
    });
    beforeEach(() => {
      asked.length = 0;
    });

    test('the same mail goes there with the key, in plain text, and SES is not asked', async () => {
      const repo = await world.enroll({
        email: MAILBOX,
        slack: null,
        discord: null,
        matrix: null,
        webhook: null,
      });
      const title = 'Add\r\nBcc: x@example.org <b>page</b>';
      const answers = await world.deliver([await world.record(repo, { title })], {
        email: through(async () => 200),
      });
      expect(answers).toEqual({ batchItemFailures: [] });
      expect(mails()).toEqual([]);
      expect(asked.map(({ method, url, headers }) => [method, url, headers])).toEqual([
        [
          'POST',
          'https://mail.example.org/emails',
          { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
        ],
      ]);
      const mail = JSON.parse(asked[0]?.body ?? '');
      expect(Object.keys(mail).sort()).toEqual(['from', 'headers', 'subject', 'text', 'to']);
      expect(mail.headers['List-Unsubscribe-Post']).toBe('List-Unsubscribe=One-Click');
      expect(mail.text).toContain(leaveUrlOf(mail));
      expect(linkOf(leaveUrlOf(mail)).tenantId).toBe(repo.tenantId);
      expect(mail).toMatchObject({
        from: FROM,
        to: [MAILBOX],
        subject: 'acme/web #7 was bounced by the merge queue',
        text: expect.stringContaining('Status: bounced: the gate fails with this pull request'),
      });
      expect(results()).toEqual({ email: 'notification sent' });
      expect(findLeaks([{ name: 'key', value: KEY }], world.lines)).toEqual([]);
    });

    test.each<[string, () => Promise<number>, string]>([
      ['takes it', async () => 202, 'notification sent'],
      ['refuses the key', async () => 401, 'refused'],
      ['refuses the mail', async () => 422, 'refused'],
      ['is overrun', async () => 429, 'failed'],
      ['is broken', async () => 503, 'failed'],
      ['is silent', () => Promise.reject(new HttpSendError('timeout')), 'failed'],
      [
        'is at an address that the guard refuses',
        () => Promise.reject(new HttpSendError('refused')),
        'refused',
      ],
    ])('one that %s: asked once, never again', async (_name, answer, result) => {
      const repo = await world.enroll({
        email: MAILBOX,
        slack: null,
        discord: null,
        matrix: null,
        webhook: null,
      });
      const change = await world.record(repo);
      await world.deliver([change], { email: through(answer) });
      await world.deliver([change], { email: through(answer) });
      expect(results()).toEqual({ email: result });
      expect(asked).toHaveLength(1);
    });

    test('a key that cannot be read is a failed send, and nothing else waits for it', async () => {
      const repo = await world.enroll(ALL);
      const email: EmailConfig = {
        ...through(async () => 200),
        way: 'api',
        readKey: () => Promise.reject(new Error('no secret')),
      } as EmailConfig;
      await world.deliver([await world.record(repo)], { email });
      expect(asked).toEqual([]);
      expect(results()).toMatchObject({ slack: 'notification sent', discord: 'notification sent' });
      expect(lines().some((line) => line.way === 'email' && line.result === 'failed')).toBe(true);
    });
  });

  test('a sender that is not verified is refused', async () => {
    const repo = await world.enroll(ALL);
    await world.deliver([await world.record(repo)], { from: 'queue@unverified.example' });
    expect(results()).toMatchObject({ email: 'refused' });
  });

  test('a store that fails before the claim: delivered again, and told then', async () => {
    const repo = await world.enroll({ ...ALL, slack: null, discord: null, matrix: null, webhook: null });
    const change = await world.record(repo);
    const other = await world.record(
      await world.enroll({ ...ALL, slack: null, discord: null, matrix: null, webhook: null }),
    );
    for (const call of ['loadEvent', 'getRepo', 'claimBounce'] as const) {
      const unavailable = async (): Promise<never> => {
        throw new StoreError('unavailable', call);
      };
      expect(await world.deliver([change], { store: { [call]: unavailable } })).toEqual({
        batchItemFailures: [{ itemIdentifier: '1' }],
      });
    }
    expect(mails()).toEqual([]);
    await world.deliver([other, change]);
    expect(mails()).toHaveLength(2);
  });

  test('a run that cannot be read costs the link, not the notice', async () => {
    const repo = await world.enroll({ ...ALL, slack: null, discord: null, matrix: null, webhook: null });
    const listBatches = async (): Promise<never> => {
      throw new StoreError('unreadable', 'listBatches');
    };
    await world.deliver([await world.record(repo)], { store: { listBatches } });
    expect(mails()[0]?.text).not.toContain('Gate run');
  });

  test('a damaged row is dropped: it would be no better the next time', async () => {
    const repo = await world.enroll(ALL);
    const change = await world.record(repo);
    await world.testTable.damageRow(change.pk, change.sk, { pr: 'seven' });
    expect(await world.deliver([change])).toEqual({ batchItemFailures: [] });
    expect(mails()).toEqual([]);
  });
});

describe('the allowed addresses of chat messages (D-87, A98)', () => {
  test.each([
    'http://hooks.slack.com/services/T0/B0/x',
    'https://hooks.slack.com.evil.example/services/T0/B0/x',
    'https://hooks.slack.com@127.0.0.1/services/T0/B0/x',
    'https://user:pass@hooks.slack.com/services/T0/B0/x',
    'https://hooks.slack.com:8443/services/T0/B0/x',
    'https://hooks.slack.com/services/../api/x',
    'https://hooks.slack.com/other/T0/B0/x',
    'https://127.0.0.1/services/T0/B0/x',
    'https://discord.com/api/webhooks/1/x',
    'https://HOOKS.slack.com/services/T0/B0/x',
  ])('a stored %s is refused again at send, and no address is called', async (slack) => {
    const repo = await world.enroll({ email: null, slack, discord: null, matrix: null, webhook: null });
    await world.deliver([await world.record(repo)]);
    expect([results(), requests()]).toEqual([{ slack: 'refused' }, 0]);
  });

  test.each(['127.0.0.1', '10.0.0.7', '169.254.169.254', '::1', 'fd00::1'])(
    'a chat name that leads to %s is refused by the guard of the door itself',
    async (address) => {
      const door = createGuardedHttp({
        allowHosts: [],
        resolve: async () => [{ address, family: address.includes(':') ? 6 : 4 }],
      });
      const repo = await world.enroll({ ...ALL, email: null });
      await world.deliver([await world.record(repo)], { send: door.send });
      expect([results(), requests()]).toEqual([{ slack: 'refused', discord: 'refused' }, 0]);
      door.close();
    },
  );
});

describe('a failed invoice', () => {
  const ask = (tenantId: string, invoiceId: string, email: string | null = MAILBOX) =>
    askInvoiceNotice({ store: world.store, log: world.log }, { tenantId, invoiceId, email });

  test('is told once to the payer and once to each place of the tenant, without a number or a name', async () => {
    const repo = await world.enroll({ ...ALL, email: 'dev@example.org' });
    await world.enroll(
      { email: MAILBOX, slack: SLACK, discord: null, matrix: null, webhook: null },
      { tenantId: repo.tenantId, slug: 'acme/two' },
    );
    await world.enroll({ ...ALL, email: 'stranger@example.org' });
    await ask(repo.tenantId, 'in_1');
    const key = world.noticeKey(repo.tenantId, 'in_1');
    await Promise.all(Array.from({ length: 20 }, () => world.deliver([key])));
    expect(
      mails()
        .map((mail) => mail.to[0])
        .sort(),
    ).toEqual(['dev@example.org', MAILBOX]);
    expect(messages()).toHaveLength(2);
    expect(mails()[0]?.text).toContain('https://queue.example.org/billing');
    expect(mails()[0]?.text.replace(leaveUrlOf(mails()[0]), '')).not.toMatch(/in_1|\d{2,}|acme/);
  });

  test('asked for twice it is one; asked for again after it was told it is another', async () => {
    const { tenantId } = await world.enroll(null);
    const key = world.noticeKey(tenantId, 'in_2');
    await ask(tenantId, 'in_2');
    expect(
      await world.store.requestNotice({ kind: 'invoice_failed', tenantId, subject: 'in_2', email: null }),
    ).toBe(false);
    await world.deliver([key, key]);
    expect(mails()).toHaveLength(1);
    expect(await world.testTable.readRow(key.pk, key.sk)).toBeUndefined();
    await ask(tenantId, 'in_2');
    await world.deliver([key]);
    expect(mails()).toHaveLength(2);
  });

  test('a tenant without any place is no failure', async () => {
    const { tenantId } = await world.enroll(null);
    await ask(tenantId, 'in_3', null);
    expect(await world.deliver([world.noticeKey(tenantId, 'in_3')])).toEqual({ batchItemFailures: [] });
    expect([mails(), requests()]).toEqual([[], 0]);
  });

  test('a day later it is no news', async () => {
    const { tenantId } = await world.enroll(null);
    await ask(tenantId, 'in_4');
    await world.clock.advance(NOTICE_KEPT_MS);
    await world.deliver([world.noticeKey(tenantId, 'in_4')]);
    expect(mails()).toEqual([]);
  });

  test('a store that fails is logged, and the caller goes on', async () => {
    const requestNotice = async (): Promise<never> => {
      throw new StoreError('unavailable', 'requestNotice');
    };
    await askInvoiceNotice(
      { store: { requestNotice }, log: world.log },
      { tenantId: 'tenant-9', invoiceId: 'in_5', email: MAILBOX },
    );
    expect(lines()).toMatchObject([{ level: 'warn', tenant_id: 'tenant-9', kind: 'invoice_failed' }]);
  });
});
