import type { EpochMs, TenantId } from '../domain/ids.ts';
import type { PullTopic } from '../domain/notices/notice-topics.ts';

/** The wish of one person to be told by mail of the pull requests that they open on a forge. */
export interface AuthorNotices {
  /** The account of the person: its mailbox is mailed. */
  readonly tenantId: TenantId;
  /** Name of the person, where several share the account; null: the account is the person. */
  readonly person: string | null;
  readonly instanceUrl: string;
  /** The proven login there. */
  readonly login: string;
  readonly email: string;
  readonly topics: readonly PullTopic[];
  readonly provenAt: EpochMs;
}

/** One wish for each login of a forge, over all tenants: the newest proof has it. */
export interface AuthorStore {
  /** False when there is no such tenant, or it leaves. `endsAt`: until then the proof counts. */
  saveAuthorNotices(notices: AuthorNotices, endsAt: EpochMs): Promise<boolean>;
  removeAuthorNotices(notices: Pick<AuthorNotices, 'tenantId' | 'instanceUrl' | 'login'>): Promise<void>;
  /** Of this tenant, those of earlier proofs too. */
  listAuthorNotices(tenantId: TenantId): Promise<readonly AuthorNotices[]>;
  /** Null: no person has proven this login, or their account is gone. The end of the proof is for the caller to compare. */
  findAuthorNotices(instanceUrl: string, login: string): Promise<AuthorNotices | null>;
}
