import {
  DAY_MS,
  HOUR_MS,
  MAIL_CONFIRM_MS,
  MAIL_CONFIRMS_PER_DAY_MAX,
  MAILS_PER_DAY_MAX,
} from '#core/domain/api-limits.ts';
import { StoreError } from '#core/ports/store.ts';
import { askInvoiceNotice } from '#core/services/notices/ask-notice.ts';
import { givenMailbox } from '../../support/given-mailbox.ts';
import { ALL, MAILBOX, NotifyWorld } from '../../support/notify-world.ts';
import { leaveUrlOf, linkOf, watchNotices } from './watch-notices.ts';

let world: NotifyWorld;
beforeAll(async () => {
  world = await NotifyWorld.open();
});
afterAll(() => world.stop());
const { mails, messages, lines } = watchNotices(() => world);

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
    expect(JSON.stringify(lines())).toContain('the mails of a day are used up');
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
    expect(asked[0]).toEqual([
      `confirmations:${STRANGER}`,
      (2 * DAY_MS) / MAIL_CONFIRMS_PER_DAY_MAX,
      MAIL_CONFIRMS_PER_DAY_MAX / 2,
    ]);
    expect(asked[1]).toEqual([`mail:${tenantId}`, (2 * DAY_MS) / MAILS_PER_DAY_MAX, MAILS_PER_DAY_MAX / 2]);
    refused = '';
    await tell();
    expect(subjects()).toEqual([CONFIRM]);
  });

  test('gets no more than ten mails that ask within one day, however often two tenants ask', async () => {
    const address = 'asked@example.org';
    const both = [
      await world.enroll({ ...only, email: address }, {}, 'waiting'),
      await world.enroll({ ...only, email: address }, {}, 'waiting'),
    ];
    const kind = 'confirm_mailbox_again';
    for (let passed = 0; passed < DAY_MS; passed += 2 * HOUR_MS) {
      for (const { tenantId } of both) {
        await world.store.requestNotice({ kind, tenantId, subject: address, email: address });
        await world.deliver([world.noticeKey(tenantId, address, kind)]);
      }
      await world.clock.advance(2 * HOUR_MS);
    }
    expect(mails().length).toBeGreaterThan(MAIL_CONFIRMS_PER_DAY_MAX / 2);
    expect(mails().length).toBeLessThanOrEqual(MAIL_CONFIRMS_PER_DAY_MAX);
  });

  test('that was stored before there were confirmations waits for one too', async () => {
    const repo = await world.enroll(only, {}, 'waiting');
    const { link } = await givenMailbox(world.store, repo.tenantId, STRANGER, 'k'.repeat(32));
    await world.testTable.damageRow(`TM#${repo.tenantId}`, `M#${link.box}`, { mail_state: 'confirmed' });
    await world.deliver([await world.record(repo)]);
    expect(subjects()).toEqual([CONFIRM]);
  });

  test('gets no notice of a failed invoice either; the payer’s address, which the provider mails to, does until it is unsubscribed', async () => {
    const { tenantId } = await world.enroll(only, {}, 'waiting');
    const invoice = { tenantId, invoiceId: 'in_9', email: MAILBOX };
    await askInvoiceNotice({ store: world.store, log: world.log }, invoice);
    await world.deliver([world.noticeKey(tenantId, 'in_9')]);
    const told = Object.fromEntries(mails().map((mail) => [mail.to[0], mail.subject]));
    expect(told).toEqual({ [MAILBOX]: 'A payment for your merge queue plan failed', [STRANGER]: CONFIRM });
    const toPayer = mails().find((mail) => mail.to[0] === MAILBOX);
    expect(await world.store.leaveMailbox(linkOf(leaveUrlOf(toPayer)))).toBe(true);
    await askInvoiceNotice({ store: world.store, log: world.log }, { ...invoice, invoiceId: 'in_10' });
    await world.deliver([world.noticeKey(tenantId, 'in_10')]);
    expect(mails()).toHaveLength(2);
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
