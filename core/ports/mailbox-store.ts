import type { TenantId } from '../domain/ids.ts';

/** Names one mailbox of one tenant, and proves that the bearer got a mail there. */
export interface MailboxLink {
  readonly tenantId: TenantId;
  /** SHA-256 of the address, 64 hexadecimal digits. */
  readonly box: string;
  /** The mailbox's own random text. */
  readonly key: string;
}

/** Mailboxes that a tenant's notices go to. An address is stored as its hash: whom it belongs to stands in the repository. */
export interface MailboxStore {
  /** The link to leave for good, the same in each mail; null: its reader has unsubscribed. `key` is used for a new one. */
  openMailbox(tenantId: TenantId, address: string, key: string): Promise<MailboxLink | null>;
  /** False when there is no such mailbox, or the key is another's. */
  leaveMailbox(link: MailboxLink): Promise<boolean>;
}
