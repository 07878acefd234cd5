import type { EpochMs, TenantId } from '../domain/ids.ts';
import type { MailboxState } from '../domain/notices/notice-ways.ts';

/** Names one mailbox of one tenant, and proves that the bearer got a mail there. */
export interface MailboxLink {
  readonly tenantId: TenantId;
  /** SHA-256 of the address, 64 hexadecimal digits. */
  readonly box: string;
  /** A random text: the mailbox's own for good, or that of one confirmation mail. */
  readonly key: string;
}

export interface Mailbox {
  /** The link that ends the mails, the same in each of them. */
  readonly link: MailboxLink;
  readonly state: MailboxState;
  /** A confirmation mail was sent already. */
  readonly asked: boolean;
}

/** The text of one confirmation mail, which counts until then. Only its hash is stored. */
export interface ConfirmationKey {
  readonly key: string;
  readonly until: EpochMs;
}

/** Mailboxes that a tenant's notices go to. An address is stored as its hash: whom it belongs to stands in the repository. */
export interface MailboxStore {
  /** Makes the mailbox where there is none; `key` is then its own. Null: there is none, and its tenant is leaving or gone. */
  openMailbox(tenantId: TenantId, address: string, key: string): Promise<Mailbox | null>;
  /** By address as given. */
  readMailboxStates(
    tenantId: TenantId,
    addresses: readonly string[],
  ): Promise<ReadonlyMap<string, MailboxState>>;
  /**
   * Lets the bearer of this text confirm the mailbox, in place of an earlier text. False when the mailbox does not wait for
   * that, or, unless `again`, when its reader was asked before.
   */
  beginConfirmation(mailbox: MailboxLink, ask: ConfirmationKey, again: boolean): Promise<boolean>;
  /** By the link of a confirmation mail. False when it is another's, or too old. */
  confirmMailbox(link: MailboxLink): Promise<boolean>;
  /** False when there is no such mailbox, or the key is another's. */
  leaveMailbox(link: MailboxLink): Promise<boolean>;
  /** The way back, by the link that ended the mails. False when the mailbox waits for its confirmation, or the key is another's. */
  returnToMailbox(link: MailboxLink): Promise<boolean>;
}
