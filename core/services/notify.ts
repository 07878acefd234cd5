import { NOTICE_BATCHES_MAX, NOTICE_PLACES_MAX } from '../domain/api-limits.ts';
import type { TenantId } from '../domain/ids.ts';
import {
  describeBounceNotice,
  describeInvoiceNotice,
  findGateRunOfBounce,
  type Notice,
} from '../domain/notice.ts';
import {
  NOTICE_WAYS,
  type NoticeTopic,
  type NoticeWay,
  topicOfEvent,
  waysOf,
} from '../domain/notice-topics.ts';
import { type NotificationTargets, noChats } from '../domain/notification.ts';
import { describePullNotice, describeTrouble } from '../domain/queue-notices.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import type { NoticeRequest, NoticeStore, Notifier, StoredRow } from '../ports/notifier.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import { type DispatchStore, type EnrollmentStore, StoreError } from '../ports/store.ts';
import { VaultError } from '../ports/system.ts';
import { Secret } from '../secret.ts';
import { openTargets } from './repo-secrets.ts';
import { type MailDeps, sendConfirmation, sendMail } from './send-mail.ts';
import { type NoticeFields, tell } from './tell.ts';

export interface NotifyDeps extends MailDeps {
  readonly store: NoticeStore &
    MailDeps['store'] &
    Pick<DispatchStore, 'getRepo'> &
    Pick<EnrollmentStore, 'listRepos' | 'listBatches'>;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly notifier: Notifier;
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
  const repo = await store.getRepo(event.repoId);
  if (repo === null || repo.tombstone || repo.tenantId !== event.tenantId) return;
  const places = await placesFor(deps, repo, topic);
  if (places.length === 0) return;
  const fields = { tenant_id: event.tenantId, repo_id: event.repoId, pr: event.pr };
  if (topic === 'refused' || topic === 'landed') {
    if (!(await store.claimTelling(topic, event))) return;
    const notice = describePullNotice(topic, repo, event, pageOf(deps, repo));
    return send(deps, places, notice, { ...fields, kind: topic });
  }
  const runUrl = await findRun(deps, event.tenantId, event);
  if (!(await store.claimBounce(event))) return;
  await send(deps, places, describeBounceNotice({ repo, event, runUrl }), { ...fields, kind: 'bounce' });
}

function pageOf({ serviceUrl }: Pick<NotifyDeps, 'serviceUrl'>, { id }: Pick<ManagedRepo, 'id'>): string {
  return `${serviceUrl}/repos/${id}`;
}

async function placesFor(deps: NotifyDeps, repo: ManagedRepo, topic: NoticeTopic): Promise<readonly Place[]> {
  const ways = waysOf(repo, topic);
  if (ways.length === 0) return [];
  return placesOf(await openOf(deps, repo), repo.slug).filter(({ way }) => ways.includes(way));
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

/** Sends what was asked for. Throws `StoreError` only before it is taken off the list. */
export async function announceNotice(deps: NotifyDeps, tenantId: TenantId, row: StoredRow): Promise<void> {
  const repos = await deps.store.listRepos(tenantId);
  const notice = await deps.store.takeNotice(row);
  if (notice === null) return;
  if (notice.kind === 'invoice_failed') await announceInvoice(deps, repos, notice);
  else if (notice.kind === 'trouble') await announceTrouble(deps, repos, notice);
  else await askMailbox(deps, repos, notice);
}

/** It was claimed when it was asked for. */
async function announceTrouble(
  deps: NotifyDeps,
  repos: readonly ManagedRepo[],
  { tenantId, trouble }: NoticeRequest,
): Promise<void> {
  const repo = repos.find(({ id }) => id === trouble?.repoId);
  if (repo === undefined || repo.tombstone || trouble === undefined) return;
  const places = await placesFor(deps, repo, trouble.topic);
  await send(deps, places, describeTrouble(repo, trouble, pageOf(deps, repo)), {
    tenant_id: tenantId,
    repo_id: repo.id,
    kind: trouble.topic,
  });
}

/** Not when the address was taken away meanwhile. */
async function askMailbox(
  deps: NotifyDeps,
  repos: readonly ManagedRepo[],
  { kind, tenantId, email }: NoticeRequest,
): Promise<void> {
  const address = email?.toLowerCase();
  const repo = repos.find(({ notification }) => notification?.email?.toLowerCase() === address);
  if (email === null || repo === undefined) return;
  const again = kind === 'confirm_mailbox_again';
  await sendConfirmation(deps, { address: email, slug: repo.slug }, again, { tenant_id: tenantId, kind });
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
  const payer = placesOf([{ email: notice.email, ...noChats() }], null);
  const places = once([...payer, ...opened.flat()]);
  await send(deps, places.slice(0, NOTICE_PLACES_MAX), describeInvoiceNotice(`${deps.serviceUrl}/billing`), {
    tenant_id: notice.tenantId,
    kind: notice.kind,
  });
}

/** One, or none. Addresses that do not open are left out: the mailbox is told all the same. */
async function openOf(deps: NotifyDeps, repo: ManagedRepo): Promise<readonly NotificationTargets[]> {
  const { notification } = repo;
  if (notification === null) return [];
  try {
    return [await openTargets(deps.secrets, repo, notification)];
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    deps.log.warn('the addresses of a chat do not open', {
      ...{ tenant_id: repo.tenantId, repo_id: repo.id, error },
    });
    return [{ email: notification.email, ...noChats() }];
  }
}

interface Place {
  readonly way: NoticeWay;
  readonly address: string;
  /** Of a repository that names the place; null: the payment provider gave it. */
  readonly slug: string | null;
}

function placesOf(targets: readonly NotificationTargets[], slug: string | null): readonly Place[] {
  return once(
    targets.flatMap((target) =>
      NOTICE_WAYS.flatMap((way) => {
        const address = target[way];
        return address === null ? [] : [{ way, address, slug }];
      }),
    ),
  );
}

/** Each place once, in the order given. */
function once(places: readonly Place[]): readonly Place[] {
  const found = new Map<string, Place>();
  for (const place of places) {
    const name = `${place.way} ${place.address}`;
    if (!found.has(name)) found.set(name, place);
  }
  return [...found.values()];
}

async function send(
  deps: NotifyDeps,
  places: readonly Place[],
  notice: Notice,
  fields: NoticeFields,
): Promise<void> {
  await Promise.all(
    places.map(({ way, address, slug }) =>
      way === 'email'
        ? sendMail(deps, { address, slug }, notice, fields)
        : tell(deps, { ...fields, way }, () => deps.notifier.sendChat(way, new Secret(address), notice)),
    ),
  );
}
