import { toPullPayload } from '../../contracts/notices/notice-payload.ts';
import { NOTICE_BATCHES_MAX, NOTICE_PLACES_MAX, SWEEP_UNTIL_MS } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { describeInvoiceNotice, findGateRunOfBounce } from '../../domain/notices/notice.ts';
import { type PullTopic, topicOfEvent } from '../../domain/notices/notice-topics.ts';
import { noSecretWays } from '../../domain/notices/notice-ways.ts';
import { describePullNotice } from '../../domain/notices/queue-notices.ts';
import { queuePageOf } from '../../domain/notices/service-pages.ts';
import { type Delivery, nameOfTelling } from '../../domain/notices/webhook-delivery.ts';
import type { ActivityEvent } from '../../domain/queue/batch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { AuthorNotices, AuthorStore } from '../../ports/author-store.ts';
import type { NoticeRequest, NoticeStore, StoredRow } from '../../ports/notifier.ts';
import { type DispatchStore, type EnrollmentStore, StoreError } from '../../ports/store.ts';
import { announceAsked, storeAsked, tellsWebhook } from './announce-asked.ts';
import { attemptDelivery, type DeliverDeps, retryDelivery, storeDelivery } from './deliver-webhook.ts';
import {
  once,
  openOf,
  type Place,
  type PlaceDeps,
  placesFor,
  placesOf,
  sendNotice,
} from './notice-places.ts';
import { type MailDeps, sendConfirmation } from './send-mail.ts';
import { findAuthor, isTwice, mailAuthor, placeOf } from './tell-author.ts';

export interface NotifyDeps extends PlaceDeps, DeliverDeps {
  readonly store: NoticeStore &
    Pick<AuthorStore, 'findAuthorNotices' | 'listAuthorNotices'> &
    DeliverDeps['store'] &
    MailDeps['store'] &
    Pick<DispatchStore, 'getRepo'> &
    Pick<EnrollmentStore, 'listRepos' | 'listBatches'>;
}

/**
 * Announces the event behind one row to where its repo says, as far as that asks for its topic. The claim comes before the
 * first send and after everything that can fail, so that a head is announced at most once (A84) and a store that fails
 * loses nothing. Throws `StoreError` only before the claim.
 */
export async function announceEvent(deps: NotifyDeps, row: StoredRow): Promise<void> {
  const { store } = deps;
  const event = await store.loadEvent(row);
  const topic = event === null ? null : topicOfEvent(event);
  if (event === null || topic === null) return;
  // A row that an import or a restore has put again is no news.
  if (event.at < deps.clock.now() - SWEEP_UNTIL_MS) return;
  const repo = await store.getRepo(event.repoId);
  if (repo === null || repo.tombstone || repo.tenantId !== event.tenantId) return;
  const delivery = await storePull(deps, repo, event, topic);
  const places = await placesFor(deps, repo, topic);
  const found = await findAuthor(deps, repo, event, topic);
  const told = { places, author: found === null || isTwice(found, repo, places) ? null : found };
  if (told.places.length > 0 || told.author !== null) await announcePull(deps, repo, event, topic, told);
  if (delivery !== null) await attemptDelivery(deps, repo, delivery);
}

/** The news for the webhook; null: it is told nothing of it, or has it already. */
async function storePull(
  deps: NotifyDeps,
  repo: ManagedRepo,
  event: ActivityEvent,
  topic: PullTopic,
): Promise<Delivery | null> {
  if (!tellsWebhook(repo, topic)) return null;
  const runUrl = topic === 'bounced' ? await findRun(deps, event.tenantId, event) : null;
  return storeDelivery(
    deps,
    repo,
    topic,
    nameOfTelling(topic, event),
    toPullPayload(topic, repo, event, runUrl),
  );
}

async function announcePull(
  deps: NotifyDeps,
  repo: ManagedRepo,
  event: ActivityEvent,
  topic: PullTopic,
  { places, author }: { readonly places: readonly Place[]; readonly author: AuthorNotices | null },
): Promise<void> {
  const { store } = deps;
  const fields = { tenant_id: event.tenantId, repo_id: event.repoId, pr: event.pr };
  const subject = [repo.id, topic, event.pr, event.head, event.reason];
  if (topic !== 'bounced') {
    if (!(await store.claimTelling(topic, event))) return;
    const notice = describePullNotice(topic, repo, event, queuePageOf(deps.serviceUrl, repo), null);
    await Promise.all([
      sendNotice(deps, places, notice, { ...fields, kind: topic }, subject),
      author === null ? null : mailAuthor(deps, author, repo, event, topic, null),
    ]);
    return;
  }
  const runUrl = await findRun(deps, event.tenantId, event);
  if (!(await store.claimBounce(event))) return;
  const notice = describePullNotice(topic, repo, event, queuePageOf(deps.serviceUrl, repo), runUrl);
  await Promise.all([
    sendNotice(deps, places, notice, { ...fields, kind: 'bounce' }, subject),
    author === null ? null : mailAuthor(deps, author, repo, event, topic, runUrl),
  ]);
}

/** A notice without the link is better than none. */
async function findRun(
  deps: NotifyDeps,
  tenantId: TenantId,
  event: Parameters<typeof findGateRunOfBounce>[1],
): Promise<string | null> {
  try {
    return findGateRunOfBounce(await deps.store.listBatches(tenantId, NOTICE_BATCHES_MAX), event);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    deps.log.warn('the gate run of a bounce could not be read', { tenant_id: tenantId, error });
    return null;
  }
}

/**
 * Sends what was asked for. What a webhook is told is stored before the request is gone. Throws `StoreError` only before it
 * is taken off the list.
 */
export async function announceNotice(deps: NotifyDeps, tenantId: TenantId, row: StoredRow): Promise<void> {
  const repos = await deps.store.listRepos(tenantId);
  const asked = await deps.store.loadNotice(row);
  const delivery = asked === null ? null : await storeAsked(deps, repos, asked);
  const notice = await deps.store.takeNotice(row);
  if (notice === null) return;
  switch (notice.kind) {
    case 'invoice_failed':
      return announceInvoice(deps, repos, notice);
    case 'webhook_retry':
      return notice.delivery === undefined ? undefined : retryDelivery(deps, notice.delivery);
    case 'trouble':
    case 'test':
      return announceAsked(deps, repos, notice, delivery);
    case 'confirm_mailbox':
    case 'confirm_mailbox_again':
      return askMailbox(deps, repos, notice);
  }
}

/** Not when the address was taken away meanwhile. */
async function askMailbox(
  deps: NotifyDeps,
  repos: readonly ManagedRepo[],
  { kind, tenantId, email }: NoticeRequest,
): Promise<void> {
  const address = email?.toLowerCase();
  const repo = repos.find(({ notification }) => notification?.email?.toLowerCase() === address);
  const authors = repo === undefined ? await deps.store.listAuthorNotices(tenantId) : [];
  const author = authors.find((each) => each.email.toLowerCase() === address);
  const slug = repo?.slug ?? (author === undefined ? null : placeOf(author));
  if (email === null || slug === null) return;
  const again = kind === 'confirm_mailbox_again';
  await sendConfirmation(deps, { address: email, slug }, again, { tenant_id: tenantId, kind });
}

/**
 * To the address the payment provider knows and to every place that the tenant's repos
 * name, because a hold concerns all who wait for those queues.
 */
async function announceInvoice(
  deps: NotifyDeps,
  repos: readonly ManagedRepo[],
  notice: NoticeRequest,
): Promise<void> {
  const opened = await Promise.all(repos.map(async (repo) => placesOf(await openOf(deps, repo), repo.slug)));
  const payer = placesOf([{ email: notice.email, ...noSecretWays() }], null);
  const places = once([...payer, ...opened.flat()]);
  const fields = { tenant_id: notice.tenantId, kind: notice.kind };
  const told = describeInvoiceNotice(`${deps.serviceUrl}/billing`);
  await sendNotice(deps, places.slice(0, NOTICE_PLACES_MAX), told, fields, [
    notice.tenantId,
    notice.kind,
    notice.subject,
  ]);
}
