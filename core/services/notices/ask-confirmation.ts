import { AppError } from '../../contracts/errors.ts';
import { MAIL_CONFIRMS_AT_ONCE_MAX, WEEK_MS } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { MailboxState } from '../../domain/notices/notice-ways.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { RateStore } from '../../ports/account-store.ts';
import type { MailboxStore } from '../../ports/mailbox-store.ts';
import type { NoticeRequestStore } from '../../ports/notifier.ts';
import type { DispatchStore } from '../../ports/store.ts';
import type { Log } from '../../ports/system.ts';
import { loadOwnRepo } from '../repos/owned.ts';

export interface NewMailboxDeps {
  readonly store: NoticeRequestStore;
  readonly log: Log;
}

/**
 * After a repository was stored with a new address: its reader is asked, if that never happened. Best effort: never throws,
 * because the settings are stored, and the first notice asks too.
 */
export async function askNewMailbox(
  deps: NewMailboxDeps,
  repo: ManagedRepo,
  before: ManagedRepo | null,
): Promise<void> {
  const email = repo.notification?.email ?? null;
  const known = before?.notification?.email ?? null;
  if (email === null || email.toLowerCase() === known?.toLowerCase()) return;
  const { tenantId } = repo;
  try {
    const subject = email.toLowerCase();
    await deps.store.requestNotice({ kind: 'confirm_mailbox', tenantId, subject, email });
  } catch (error) {
    deps.log.warn('a notice could not be asked for', { tenant_id: tenantId, kind: 'confirm_mailbox', error });
  }
}

export interface AskConfirmationDeps {
  readonly store: NoticeRequestStore &
    Pick<MailboxStore, 'readMailboxStates'> &
    Pick<RateStore, 'takeToken'> &
    Pick<DispatchStore, 'getRepo'>;
}

/**
 * The button "send again". A reader who confirmed or unsubscribed gets no mail: the way back is in the mails. Throws
 * `not_found` where no address is stored, `rate_limited` after some mails, `StoreError`.
 */
export async function askConfirmation(
  { store }: AskConfirmationDeps,
  tenantId: TenantId,
  id: string,
): Promise<MailboxState> {
  const repo = await loadOwnRepo(store, tenantId, id);
  const email = repo.notification?.email ?? null;
  if (email === null) {
    throw new AppError('not_found', { message: 'This repository has no e-mail address for notices.' });
  }
  const state = (await store.readMailboxStates(tenantId, [email])).get(email) ?? 'waiting';
  if (state !== 'waiting') return state;
  const subject = email.toLowerCase();
  const token = await store.takeToken(
    `confirmation:${tenantId}:${subject}`,
    WEEK_MS,
    MAIL_CONFIRMS_AT_ONCE_MAX,
  );
  if (!token.allowed) {
    throw new AppError('rate_limited', { retryAfterSeconds: Math.ceil(token.retryAfterMs / 1000) });
  }
  await store.requestNotice({ kind: 'confirm_mailbox_again', tenantId, subject, email });
  return state;
}
