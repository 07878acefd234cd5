import { describeAuthorNotice } from '../../domain/notices/author-notice.ts';
import type { PullTopic } from '../../domain/notices/notice-topics.ts';
import type { ActivityEvent } from '../../domain/queue/batch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { AuthorNotices, AuthorStore } from '../../ports/author-store.ts';
import { StoreError } from '../../ports/store.ts';
import type { Clock, Log } from '../../ports/system.ts';
import { countsAt } from './author-notices.ts';
import type { Place } from './notice-places.ts';
import { type MailDeps, sendMail } from './send-mail.ts';

export interface AuthorMailDeps extends MailDeps {
  readonly store: MailDeps['store'] & Pick<AuthorStore, 'findAuthorNotices'>;
}

/**
 * The author of the pull request of an event, where that person wants a mail of this topic; null: no such wish. Throws
 * `StoreError` where a later try may find it.
 */
export async function findAuthor(
  {
    store,
    clock,
    log,
  }: { readonly store: AuthorMailDeps['store']; readonly clock: Pick<Clock, 'now'>; readonly log: Log },
  repo: ManagedRepo,
  { author }: Pick<ActivityEvent, 'author'>,
  topic: PullTopic,
): Promise<AuthorNotices | null> {
  if (author === undefined) return null;
  try {
    const found = await store.findAuthorNotices(repo.instanceUrl, author);
    return found !== null && countsAt(found, clock.now()) && found.topics.includes(topic) ? found : null;
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'unreadable') throw error;
    // The places of the repository are told all the same.
    log.warn('the wish of an author could not be read', {
      tenant_id: repo.tenantId,
      repo_id: repo.id,
      error,
    });
    return null;
  }
}

/** Whether the same mailbox of the same account is told as a place of the repository. */
export function isTwice(author: AuthorNotices, repo: ManagedRepo, places: readonly Place[]): boolean {
  const email = author.email.toLowerCase();
  return (
    author.tenantId === repo.tenantId &&
    places.some(({ way, address }) => way === 'email' && address.toLowerCase() === email)
  );
}

/** One mail, from the account of the author: its mailbox, its end of mails, its count of a day. */
export async function mailAuthor(
  deps: AuthorMailDeps,
  author: AuthorNotices,
  repo: ManagedRepo,
  event: ActivityEvent,
  topic: PullTopic,
  runUrl: string | null,
): Promise<void> {
  const fields = { tenant_id: author.tenantId, pr: event.pr, kind: `author_${topic}` };
  const to = { address: author.email, slug: placeOf(author) };
  await sendMail(deps, to, describeAuthorNotice(topic, repo, event, runUrl), fields);
}

/** The name of their subject in a confirmation mail. */
export function placeOf({ instanceUrl }: Pick<AuthorNotices, 'instanceUrl'>): string {
  return `your own pull requests on ${new URL(instanceUrl).host}`;
}
