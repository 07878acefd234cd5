import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import { ALL, DISCORD, FROM, MAILBOX, NotifyWorld, SLACK } from '../../support/notify-world.ts';
import { leaveUrlOf, watchNotices } from './watch-notices.ts';

let world: NotifyWorld;
beforeAll(async () => {
  world = await NotifyWorld.open();
});
afterAll(() => world.stop());
const { mails, messages, requests, lines, results } = watchNotices(() => world);

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
