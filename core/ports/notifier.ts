import type { EpochMs, RepoId, TenantId } from '../domain/ids.ts';
import type { Notice } from '../domain/notices/notice.ts';
import type { NoticeTopic } from '../domain/notices/notice-topics.ts';
import type { Chat } from '../domain/notices/notice-ways.ts';
import type { Trouble } from '../domain/notices/queue-notices.ts';
import type { Delivery, DeliveryName } from '../domain/notices/webhook-delivery.ts';
import type { ActivityEvent } from '../domain/queue/batch.ts';
import type { Secret } from '../secret.ts';

declare const storedRow: unique symbol;

/** Names one row of the change stream to the store, which alone can read it. */
export interface StoredRow {
  readonly [storedRow]: true;
}

/** `confirm_mailbox` is for a mailbox whose reader was never asked; `confirm_mailbox_again` is asked for by hand. */
export const NOTICE_KINDS = [
  'invoice_failed',
  'confirm_mailbox',
  'confirm_mailbox_again',
  'trouble',
  'webhook_retry',
  'test',
] as const;

/** Something to be mailed or told that is no bounce: asked for in the store, sent from the stream. */
export interface NoticeRequest {
  readonly kind: (typeof NOTICE_KINDS)[number];
  readonly tenantId: TenantId;
  /** The invoice, the address or the trouble; a second request of the same kind and subject is none. */
  readonly subject: string;
  /** Where the payment provider writes to, null when it told none; the address to confirm. */
  readonly email: string | null;
  /** Of the kind `trouble` alone. */
  readonly trouble?: Trouble;
  /** Of the kind `webhook_retry` alone. */
  readonly delivery?: DeliveryName;
  /** Of the kind `test` alone. */
  readonly repoId?: RepoId;
  /** When it was asked for, of the kinds `trouble` and `test`. */
  readonly at?: EpochMs;
}

/** For a function that wants a tenant told something: conditional writes, no call to the outside (contract, Emitted). */
export interface NoticeRequestStore {
  /** False when the same notice is asked for already, and that request has not ended. */
  requestNotice(notice: NoticeRequest): Promise<boolean>;
}

/** For the look at queues that stand still and set-ups that changed. */
export interface WatchStore {
  /**
   * Repositories of which a place wants to be told, in the order of their ids, from behind this share of all ids (0 to below
   * 1) and around once. An index: a hint, never the truth (E8).
   */
  listWatchedRepos(
    limit: number,
    from: number,
  ): Promise<readonly { readonly tenantId: TenantId; readonly repoId: RepoId }[]>;
  /** Asks for a notice of it, once for as long as it is remembered; false: it was asked for, or the repo is gone. */
  requestTrouble(tenantId: TenantId, trouble: Trouble): Promise<boolean>;
}

/** For the function that sends. */
export interface NoticeStore extends NoticeRequestStore {
  /** The request behind a row, which stays on the list; null: it is gone. */
  loadNotice(row: StoredRow): Promise<NoticeRequest | null>;
  /** Takes a request off the list: one of many takers gets it (at most once). Null when it is gone or too old. */
  takeNotice(row: StoredRow): Promise<NoticeRequest | null>;
  /** The activity event behind a row of the stream; null when it is gone. */
  loadEvent(row: StoredRow): Promise<ActivityEvent | null>;
  /** True once per (repo, pull request, head), for as long as the repo lives (A84); false also when the repo is gone. */
  claimBounce(event: Pick<ActivityEvent, 'repoId' | 'pr' | 'head' | 'at'>): Promise<boolean>;
  /** The same of another topic, once for each reason; remembered for `NOTICE_CLAIM_KEPT_MS`. */
  claimTelling(
    topic: NoticeTopic,
    event: Pick<ActivityEvent, 'repoId' | 'pr' | 'head' | 'at' | 'reason'>,
  ): Promise<boolean>;
}

/**
 * `sent`: the other side took it. `off`: this deployment has no way to send such. `refused`: the address is not
 * one we send to, or the other side said no for good. `failed`: no answer in time, or a passing error; not retried.
 * `later`: the mail server of the installation took nothing for now, and is asked again.
 */
export type SendResult = 'sent' | 'off' | 'refused' | 'failed' | 'later';

/** The ways out. None of them throws; each ends within `NOTICE_TIMEOUT_MS`, a mail over SMTP within `SMTP_TIMEOUT_MS`. */
export interface Notifier {
  /** Each mail has the link that ends them. */
  sendEmail(to: string, notice: Notice, unsubscribeUrl: string): Promise<SendResult>;
  /** The URL is a credential. */
  sendChat(chat: Chat, url: Secret<string>, notice: Notice): Promise<SendResult>;
  /** `subject`: text that names what is told, so that the homeserver takes it once. The target is a credential. */
  sendMatrix(target: Secret<string>, notice: Notice, subject: string): Promise<SendResult>;
  /** Signs with the secret in the target. The status of the answer; null: none came. */
  sendWebhook(
    target: Secret<string>,
    delivery: Pick<Delivery, 'id' | 'body'>,
    now: EpochMs,
  ): Promise<number | null>;
}
