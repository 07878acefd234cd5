import type { EmailConfig } from '#core/adapters/email-chat/mail.ts';
import { type HttpRequest, HttpSendError } from '#core/adapters/http-guard/http-send.ts';
import { StoreError } from '#core/ports/store.ts';
import { Secret } from '#core/secret.ts';
import { findLeaks } from '../../support/canaries.ts';
import { ALL, FROM, MAILBOX, NotifyWorld } from '../../support/notify-world.ts';
import { leaveUrlOf, linkOf, watchNotices } from './watch-notices.ts';

let world: NotifyWorld;
beforeAll(async () => {
  world = await NotifyWorld.open();
});
afterAll(() => world.stop());
const { mails, requests, lines, results } = watchNotices(() => world);

const MAIL_ALONE = { email: MAILBOX, slack: null, discord: null, matrix: null, webhook: null };

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

  /** 429 says that nothing was taken: https://docs.slack.dev/apis/web-api/rate-limits, one message a second. */
  test('a message that came too soon for a chat is sent once more, after the wait that it names', async () => {
    world.chat.mood = 'busy';
    const repo = await world.enroll({ ...ALL, discord: null });
    const started = performance.now();
    await world.deliver([await world.record(repo)]);
    expect(performance.now() - started).toBeGreaterThan(1_000);
    expect([results().slack, requests()]).toEqual(['notification sent', 2]);
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

  /**
   * "If you encounter a throttling error, you should program your application to wait … and then retry the send request"
   * (https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html): SES has dropped the mail.
   */
  test('a mail beyond the rate of SES is tried again within its three seconds, and arrives once', async () => {
    world.email.mood = 'throttle';
    const repo = await world.enroll(ALL);
    const delivered = world.deliver([await world.record(repo)]);
    setTimeout(() => {
      world.email.mood = 'accept';
    }, 500);
    await delivered;
    expect(results()).toMatchObject({ email: 'notification sent' });
    expect(mails()).toHaveLength(1);
  });

  test('all of them silent: over within its three seconds (A83)', async () => {
    world.email.mood = 'silent';
    world.chat.mood = 'silent';
    const repo = await world.enroll(ALL);
    const change = await world.record(repo);
    const started = performance.now();
    await world.deliver([change]);
    // Two that wait for each other would take twice as long.
    expect(performance.now() - started).toBeLessThan(6_000);
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
      ['is broken', async () => 503, 'failed'],
      ['is silent', () => Promise.reject(new HttpSendError('timeout')), 'failed'],
      [
        'is at an address that the guard refuses',
        () => Promise.reject(new HttpSendError('refused')),
        'refused',
      ],
    ])('one that %s: asked once, never again', async (_name, answer, result) => {
      const repo = await world.enroll(MAIL_ALONE);
      const change = await world.record(repo);
      await world.deliver([change], { email: through(answer) });
      await world.deliver([change], { email: through(answer) });
      expect(results()).toEqual({ email: result });
      expect(asked).toHaveLength(1);
    });

    /** https://resend.com/docs/api-reference/rate-limit: a few requests a second for the whole account. */
    test.each([
      ['once', [429, 202], 'notification sent'],
      ['all the time', [429, 429, 429, 429], 'failed'],
    ] as const)(
      'one that is overrun %s: asked again within its three seconds',
      async (_name, answers, result) => {
        const repo = await world.enroll(MAIL_ALONE);
        const started = performance.now();
        await world.deliver([await world.record(repo)], {
          email: through(async () => answers[asked.length - 1] ?? 500),
        });
        expect(results()).toEqual({ email: result });
        expect(performance.now() - started).toBeLessThan(6_000);
        expect(asked.length).toBeGreaterThan(1);
        expect(asked.length).toBeLessThan(answers.length + 1);
      },
    );

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
