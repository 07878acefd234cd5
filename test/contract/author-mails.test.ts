import { randomUUID } from 'node:crypto';
import { AUTHOR_PROOF_MS } from '#core/domain/api-limits.ts';
import type { PullTopic } from '#core/domain/notices/notice-topics.ts';
import { mapWays } from '#core/domain/notices/notice-topics.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { StoreError } from '#core/ports/store.ts';
import { givenNodeRow } from '../builders/store-rows.ts';
import { givenMailbox } from '../support/given-mailbox.ts';
import { MAILBOX, NotifyWorld } from '../support/notify-world.ts';

const DAY_MS = 86_400_000;
const ANN = 'ann-canary@example.org';
const TITLE = 'a title that another person may have typed';

let world: NotifyWorld;
let seen: { mails: number; lines: number };
beforeAll(async () => {
  world = await NotifyWorld.open();
});
afterAll(() => world.stop());
beforeEach(() => {
  seen = { mails: world.email.outbox.length, lines: world.lines.length };
});
afterEach(() => {
  expect(world.lines.slice(seen.lines).join('\n')).not.toContain(ANN);
});

const mails = () => world.email.outbox.slice(seen.mails);
const to = () => mails().map((mail) => mail.to[0]);

/** A repository of one account, and a person of another who has proven to be `ann` on its forge. */
async function given(
  topics: readonly PullTopic[] = ['bounced', 'refused', 'landed'],
  mailbox: 'confirmed' | 'waiting' = 'confirmed',
  changes: Partial<ManagedRepo> = {},
) {
  const repo = await world.enroll(null, changes);
  const tenantId = randomUUID();
  await world.store.createTenant(tenantId, 0);
  const wish = {
    tenantId,
    person: null,
    instanceUrl: repo.instanceUrl,
    login: 'Ann',
    email: ANN,
    topics,
    provenAt: world.clock.now(),
  };
  await world.store.saveAuthorNotices(wish, wish.provenAt + AUTHOR_PROOF_MS);
  if (mailbox === 'confirmed') await world.confirm(tenantId, ANN);
  const told = (event: Parameters<NotifyWorld['record']>[1] = {}) =>
    world.record(repo, { author: 'ann', title: TITLE, ...event });
  return { repo, tenantId, wish, told };
}

describe('the author of a pull request', () => {
  test('is mailed why it was bounced, with links to the forge and without a title', async () => {
    const { repo, tenantId, told } = await given();
    const runUrl = `${repo.instanceUrl}/acme/web/actions/runs/12`;
    await world.recordBatch(
      givenNodeRow({
        id: 'b',
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
    await world.deliver([await told({ reason: 'gate_failed' })]);
    expect(mails()).toMatchObject([{ to: [ANN], subject: 'acme/web #7 was bounced by the merge queue' }]);
    const text = mails()[0]?.text ?? '';
    expect(text).toContain('Your pull request acme/web #7 was bounced by the merge queue.');
    expect(text).toContain('Next step: ');
    expect(text).toContain(`Pull request: ${repo.instanceUrl}/acme/web/pulls/7`);
    expect(text).toContain(`Gate run: ${runUrl}`);
    expect(JSON.stringify(mails())).not.toContain(TITLE);
    // It ends the mails of the author's account, and of no other.
    expect(mails()[0]?.headers['List-Unsubscribe']).toContain(`tenant=${tenantId}`);
  });

  test('is told of the topics that they chose, and once for each head', async () => {
    const { told } = await given(['landed']);
    const landed = await told({ event: 'pr_landed', reason: null });
    await world.deliver([await told(), await told({ event: 'pr_refused', reason: 'draft' }), landed, landed]);
    await world.deliver([landed]);
    expect(mails().map(({ subject }) => subject)).toEqual(['acme/web #7 was landed by the merge queue']);
  });

  test('is told nothing before the reader of the address has said yes, and is asked once', async () => {
    const { repo, told } = await given(['bounced'], 'waiting');
    await world.deliver([await told()]);
    expect(mails().map(({ subject }) => subject)).toEqual([
      'Confirm that notices of a merge queue may come here',
    ]);
    const host = new URL(repo.instanceUrl).host.replaceAll('.', '\u2024');
    expect(mails()[0]?.text).toContain(`"your own pull requests on ${host}"`);
    await world.deliver([await told({ head: 'd'.repeat(40) })]);
    expect(mails()).toHaveLength(1);
  });

  test('is told nothing more once they have unsubscribed, and the team is', async () => {
    const topics = mapWays(() => ['bounced'] as const);
    const { repo, tenantId, told } = await given(['bounced'], 'confirmed', { noticeTopics: topics });
    await world.deliver([await told()]);
    const { link } = await givenMailbox(world.store, tenantId, ANN, 'k'.repeat(32));
    await world.store.leaveMailbox(link);
    await world.deliver([await told({ head: 'e'.repeat(40) })]);
    expect([to(), repo.tenantId === tenantId]).toEqual([[ANN], false]);
  });

  test.each([
    ['another login', { author: 'bob' }],
    ['no author', { author: undefined }],
  ])('%s: no mail', async (_what, event) => {
    const { told } = await given();
    await world.deliver([await told(event as { readonly author?: string })]);
    expect(to()).toEqual([]);
  });

  test('the same login of another forge is another person', async () => {
    const { wish } = await given();
    const other = await world.enroll(null);
    expect(other.instanceUrl).not.toBe(wish.instanceUrl);
    await world.deliver([await world.record(other, { author: 'ann' })]);
    expect(to()).toEqual([]);
  });

  test.each([
    [179, [ANN]],
    [180, []],
  ])('a proof that has ended tells nothing: one of %i days ago', async (days, told) => {
    const person = await given();
    await world.clock.advance(days * DAY_MS);
    await world.deliver([await person.told()]);
    expect(to()).toEqual(told);
  });

  test('a team that reads in the same mailbox of the same account gets one mail', async () => {
    const repo = await world.enroll(
      { email: MAILBOX, slack: null, discord: null, matrix: null, webhook: null },
      { noticeTopics: mapWays(() => ['bounced'] as const) },
    );
    const wish = {
      tenantId: repo.tenantId,
      person: 'ann',
      instanceUrl: repo.instanceUrl,
      login: 'ann',
      email: MAILBOX.toUpperCase(),
      topics: ['bounced'] as const,
      provenAt: world.clock.now(),
    };
    await world.store.saveAuthorNotices(wish, wish.provenAt + 1);
    await world.deliver([await world.record(repo, { author: 'ann' })]);
    expect(to()).toEqual([MAILBOX]);
  });

  test('a store that fails loses no mail, and a row that cannot be read costs the team none', async () => {
    const { told } = await given();
    const change = await told();
    const fail = (kind: 'unavailable' | 'unreadable') => ({
      findAuthorNotices: () => Promise.reject(new StoreError(kind, 'findAuthorNotices')),
    });
    const answer = await world.deliver([change], { store: fail('unavailable') });
    expect([answer.batchItemFailures.length, to()]).toEqual([1, []]);
    await world.deliver([change]);
    expect(to()).toEqual([ANN]);
    const repo = await world.enroll(
      { email: MAILBOX, slack: null, discord: null, matrix: null, webhook: null },
      {},
    );
    await world.deliver([await world.record(repo, { author: 'ann' })], { store: fail('unreadable') });
    expect(to()).toEqual([ANN, MAILBOX]);
  });
});
