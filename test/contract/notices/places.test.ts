import { createHmac } from 'node:crypto';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { type HttpRequest, type HttpSend, HttpSendError } from '#core/adapters/http-guard/http-send.ts';
import { NoticePayload } from '#core/contracts/notices/notice-payload.ts';
import { toDeliveryList } from '#core/contracts/notices/notice-webhook.ts';
import { DAY_MS } from '#core/domain/api-limits.ts';
import { mapWays } from '#core/domain/notices/notice-topics.ts';
import { formatMatrix, formatWebhook } from '#core/domain/notices/notice-ways.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { StoreError } from '#core/ports/store.ts';
import { askRetries } from '#core/services/notices/deliver-webhook.ts';
import { watchQueues } from '#core/services/notices/watch-queues.ts';
import { findLeaks } from '../../support/canaries.ts';
import { ALL, NotifyWorld, ROOM, SLACK } from '../../support/notify-world.ts';
import { watchNotices } from './watch-notices.ts';

let world: NotifyWorld;
beforeAll(async () => {
  world = await NotifyWorld.open();
});
afterAll(() => world.stop());
const { messages, requests, results } = watchNotices(() => world);

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
    const look = () =>
      watchQueues({ store: world.store, clock: world.clock, log: world.log, planLimits: PLAN_LIMITS });
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
