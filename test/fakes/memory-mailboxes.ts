import { authorGuardKey, authorKey, mailboxHash, noticeKey } from '#core/adapters/dynamo/rows/keys.ts';
import { NOTICE_KEPT_MS } from '#core/domain/api-limits.ts';
import type { EpochMs, RepoId, TenantId } from '#core/domain/ids.ts';
import type { MailboxState } from '#core/domain/notices/notice-ways.ts';
import type { Delivery } from '#core/domain/notices/webhook-delivery.ts';
import type { AuthorNotices, AuthorStore } from '#core/ports/author-store.ts';
import type { ConfirmationKey, Mailbox, MailboxLink, MailboxStore } from '#core/ports/mailbox-store.ts';
import type { NoticeRequest, NoticeRequestStore } from '#core/ports/notifier.ts';
import { MemoryAccount } from './memory-account.ts';

type AuthorPlace = Pick<AuthorNotices, 'tenantId' | 'instanceUrl' | 'login'>;

/** Mailboxes and requests of notices, over the memory rows. No store in memory sends them. */
export class MemoryMailboxes extends MemoryAccount implements MailboxStore, AuthorStore, NoticeRequestStore {
  /** Every request that was stored, also those that were taken. */
  readonly notices: NoticeRequest[] = [];
  /** When each request ends that waits to be taken, by its row. */
  private readonly noticeEnds = new Map<string, EpochMs>();

  private mailboxAt({ tenantId, box }: Pick<MailboxLink, 'tenantId' | 'box'>) {
    return this.mailboxes.get(`${tenantId} ${box}`);
  }

  openMailbox(tenantId: TenantId, address: string, key: string): Promise<Mailbox | null> {
    return this.call('openMailbox', () => {
      const box = mailboxHash(address);
      const stored = this.mailboxAt({ tenantId, box });
      if (stored === undefined && this.tenants.get(tenantId)?.deleting !== false) return null;
      const row = stored ?? { tenantId, key, state: 'waiting', ask: null };
      this.mailboxes.set(`${tenantId} ${box}`, row);
      return { link: { tenantId, box, key: row.key }, state: row.state, asked: row.ask !== null };
    });
  }

  readMailboxStates(
    tenantId: TenantId,
    addresses: readonly string[],
  ): Promise<ReadonlyMap<string, MailboxState>> {
    return this.call('readMailboxStates', () => {
      const stateOf = (address: string) =>
        this.mailboxAt({ tenantId, box: mailboxHash(address) })?.state ?? 'waiting';
      return new Map(addresses.map((address) => [address, stateOf(address)]));
    });
  }

  beginConfirmation(mailbox: MailboxLink, ask: ConfirmationKey, again: boolean): Promise<boolean> {
    return this.call('beginConfirmation', () => {
      const row = this.mailboxAt(mailbox);
      if (row?.state !== 'waiting' || (row.ask !== null && !again)) return false;
      row.ask = ask;
      return true;
    });
  }

  confirmMailbox(link: MailboxLink): Promise<boolean> {
    return this.call('confirmMailbox', () => {
      const row = this.mailboxAt(link);
      if (row?.ask?.key !== link.key || row.ask.until <= this.clock.now()) return false;
      row.state = 'confirmed';
      return true;
    });
  }

  leaveMailbox(link: MailboxLink): Promise<boolean> {
    return this.call('leaveMailbox', () => {
      const row = this.mailboxAt(link);
      if (row?.key !== link.key) return false;
      row.state = 'unsubscribed';
      return true;
    });
  }

  returnToMailbox(link: MailboxLink): Promise<boolean> {
    return this.call('returnToMailbox', () => {
      const row = this.mailboxAt(link);
      if (row?.key !== link.key || row.state === 'waiting') return false;
      row.state = 'confirmed';
      return true;
    });
  }

  private authorAt({ tenantId, instanceUrl, login }: AuthorPlace): string {
    return `${tenantId} ${authorKey({ tenantId, instanceUrl, login })?.sk}`;
  }

  saveAuthorNotices(notices: AuthorNotices): Promise<boolean> {
    return this.call('saveAuthorNotices', () => {
      const tenant = this.tenants.get(notices.tenantId);
      const guard = authorGuardKey(notices.instanceUrl, notices.login);
      if (tenant === undefined || tenant.deleting || guard === null) return false;
      this.authors.set(this.authorAt(notices), notices);
      this.authorLogins.set(guard.pk, notices.tenantId);
      return true;
    });
  }

  removeAuthorNotices(notices: AuthorPlace): Promise<void> {
    return this.call('removeAuthorNotices', () => {
      this.authors.delete(this.authorAt(notices));
      const guard = authorGuardKey(notices.instanceUrl, notices.login)?.pk ?? '';
      if (this.authorLogins.get(guard) === notices.tenantId) this.authorLogins.delete(guard);
    });
  }

  listAuthorNotices(tenantId: TenantId): Promise<readonly AuthorNotices[]> {
    return this.call('listAuthorNotices', () =>
      [...this.authors.values()].filter((each) => each.tenantId === tenantId),
    );
  }

  findAuthorNotices(instanceUrl: string, login: string): Promise<AuthorNotices | null> {
    return this.call('findAuthorNotices', () => {
      const tenantId = this.authorLogins.get(authorGuardKey(instanceUrl, login)?.pk ?? '');
      if (tenantId === undefined) return null;
      return this.authors.get(this.authorAt({ tenantId, instanceUrl, login })) ?? null;
    });
  }

  /** What a webhook was told. */
  readonly outbox: Delivery[] = [];

  listDeliveries(repoId: RepoId, limit: number): Promise<readonly Delivery[]> {
    return this.call('listDeliveries', () =>
      this.outbox.filter((each) => each.repoId === repoId).slice(0, limit),
    );
  }

  requestNotice(notice: NoticeRequest): Promise<boolean> {
    return this.call('requestNotice', () => {
      const { pk, sk } = noticeKey(notice.tenantId, notice.kind, notice.subject);
      const now = this.clock.now();
      if ((this.noticeEnds.get(`${pk} ${sk}`) ?? now) > now) return false;
      this.noticeEnds.set(`${pk} ${sk}`, now + NOTICE_KEPT_MS);
      this.notices.push(notice);
      return true;
    });
  }

  /** The function that sends has taken all that wait. */
  takeNotices(): void {
    this.noticeEnds.clear();
  }
}
