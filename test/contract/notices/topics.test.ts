import { DAY_MS, NOTICE_KEPT_MS, SWEEP_UNTIL_MS } from '#core/domain/api-limits.ts';
import { mapWays, type NoticeChoice } from '#core/domain/notices/notice-topics.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { StoreError } from '#core/ports/store.ts';
import { askInvoiceNotice } from '#core/services/notices/ask-notice.ts';
import { ALL, MAILBOX, NotifyWorld, SLACK } from '../../support/notify-world.ts';
import { leaveUrlOf, watchNotices } from './watch-notices.ts';

let world: NotifyWorld;
beforeAll(async () => {
  world = await NotifyWorld.open();
});
afterAll(() => world.stop());
const { mails, messages, requests, lines } = watchNotices(() => world);

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

  test('an event of long ago, whose row an import or a restore puts again, is not told', async () => {
    const repo = await world.enroll(ALL, choose({ email: ['landed', 'bounced'], slack: ['landed'] }));
    const at = world.clock.now() - SWEEP_UNTIL_MS - 1;
    const landed = { event: 'pr_landed', reason: null } as const;
    await world.deliver([await world.record(repo, { ...landed, at }), await world.record(repo, { at })]);
    expect([mails(), messages(), requests()]).toEqual([[], [], 0]);
    await world.deliver([await world.record(repo, { ...landed, at: at + 1 })]);
    expect([mails().length, messages().length]).toEqual([1, 1]);
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
    const watched = async () => (await world.store.listWatchedRepos(100, 0.5)).map(({ repoId }) => repoId);
    expect(await watched()).toContain(repo.id);
    expect(await watched()).not.toContain(quiet.id);
    await world.store.deleteRepo(repo);
    expect(await watched()).not.toContain(repo.id);
  });

  test('watched repositories are listed around from any place, each once, so that those beyond a limit have their turn', async () => {
    const made: string[] = [];
    for (let each = 0; each < 6; each += 1)
      made.push((await world.enroll(ALL, choose({ email: ['stuck'] }))).id);
    const listed = async (limit: number, from: number) =>
      (await world.store.listWatchedRepos(limit, from)).map(({ repoId }) => repoId);
    const all = await listed(100, 0);
    expect(all).toEqual(expect.arrayContaining(made));
    for (const from of [0.25, 0.5, 0.999]) {
      const around = await listed(100, from);
      expect([...around].sort()).toEqual([...all].sort());
    }
    for (const id of made) {
      const place = Number.parseInt(id.slice(0, 8), 16) / 16 ** 8;
      expect(await listed(1, place)).toEqual([id]);
    }
  });

  test.each([
    [
      ['gpu'],
      'The gate run waits for a runner with the label "gpu"',
      'or change runs-on in the gate workflow.',
    ],
    [undefined, 'The gate run waits for a runner', 'and that no other run holds its concurrency group.'],
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

  test('one that was never taken is asked for again after its end, and told', async () => {
    const { tenantId } = await world.enroll(null);
    await ask(tenantId, 'in_6');
    await world.clock.advance(NOTICE_KEPT_MS);
    await ask(tenantId, 'in_6');
    await world.deliver([world.noticeKey(tenantId, 'in_6')]);
    expect(mails()).toHaveLength(1);
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
