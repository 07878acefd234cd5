import { unsubscribeUrl } from '../contracts/mailbox.ts';
import { NOTICE_NOT_DELIVERED } from '../contracts/realtime.ts';
import { DAY_MS, MAILS_PER_DAY_MAX, NOTICE_BATCHES_MAX, NOTICE_PLACES_MAX } from '../domain/api-limits.ts';
import type { TenantId } from '../domain/ids.ts';
import {
  describeBounceNotice,
  describeInvoiceNotice,
  findGateRunOfBounce,
  type Notice,
} from '../domain/notice.ts';
import { CHAT_NAMES, type NotificationTargets, noChats } from '../domain/notification.ts';
import type { ManagedRepo } from '../domain/repo.ts';
import type { RateStore } from '../ports/account-store.ts';
import type { MailboxLink, MailboxStore } from '../ports/mailbox-store.ts';
import type { NoticeStore, Notifier, SendResult, StoredRow } from '../ports/notifier.ts';
import type { SecretBox } from '../ports/secret-box.ts';
import { type DispatchStore, type EnrollmentStore, StoreError } from '../ports/store.ts';
import { type Log, VaultError } from '../ports/system.ts';
import { Secret } from '../secret.ts';
import { openTargets } from './repo-secrets.ts';

export interface NotifyDeps {
  readonly store: NoticeStore &
    Pick<MailboxStore, 'openMailbox'> &
    Pick<RateStore, 'takeToken'> &
    Pick<DispatchStore, 'getRepo'> &
    Pick<EnrollmentStore, 'listRepos' | 'listBatches'>;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly notifier: Notifier;
  readonly log: Log;
  /** Address of this service, without a slash at its end. */
  readonly serviceUrl: string;
  /** 32 letters and digits that cannot be guessed. */
  readonly makeMailKey: () => string;
}

/**
 * Announces the bounce behind one event row, if it is one, to where its repo says. The claim comes before the first send and
 * after everything that can fail, so that a head is announced at most once (A84) and a store that fails loses nothing.
 * Throws `StoreError` only before the claim.
 */
export async function announceBounce(deps: NotifyDeps, row: StoredRow): Promise<void> {
  const { store } = deps;
  const event = await store.loadEvent(row);
  if (event === null || event.event !== 'pr_bounced') return;
  const repo = await store.getRepo(event.repoId);
  if (repo === null || repo.tombstone || repo.tenantId !== event.tenantId) return;
  const targets = await openOf(deps, repo);
  if (placesOf(targets).length === 0) return;
  const runUrl = await findRun(deps, event.tenantId, event);
  if (!(await store.claimBounce(event))) return;
  await send(deps, placesOf(targets), describeBounceNotice({ repo, event, runUrl }), {
    tenant_id: event.tenantId,
    repo_id: event.repoId,
    pr: event.pr,
    kind: 'bounce',
  });
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
 * Sends one notice that was asked for: to the address the payment provider knows and to every place that the tenant's repos
 * name, because a hold concerns all who wait for those queues. Throws `StoreError` only before it is taken off the list.
 */
export async function announceNotice(deps: NotifyDeps, tenantId: TenantId, row: StoredRow): Promise<void> {
  const { store } = deps;
  const repos = await store.listRepos(tenantId);
  const targets = (await Promise.all(repos.map((repo) => openOf(deps, repo)))).flat();
  const notice = await store.takeNotice(row);
  if (notice === null) return;
  const owner = { email: notice.email, ...noChats() };
  const places = placesOf([owner, ...targets]);
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

type Place = { readonly way: keyof NotificationTargets; readonly address: string };

/** Each place once, in the order given. */
function placesOf(targets: readonly NotificationTargets[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const target of targets) {
    for (const way of ['email', ...CHAT_NAMES] as const) {
      const address = target[way];
      if (address !== null) places.set(`${way} ${address}`, { way, address });
    }
  }
  return [...places.values()];
}

type Fields = Readonly<Record<string, unknown>> & { readonly tenant_id: TenantId };

async function send(
  deps: NotifyDeps,
  places: readonly Place[],
  notice: Notice,
  fields: Fields,
): Promise<void> {
  await Promise.all(
    places.map(({ way, address }) =>
      way === 'email'
        ? sendMail(deps, address, notice, fields)
        : tell(deps, { ...fields, way }, () => deps.notifier.sendChat(way, new Secret(address), notice)),
    ),
  );
}

/** A mail that could not be unsubscribed from is not sent. */
async function sendMail(deps: NotifyDeps, address: string, notice: Notice, fields: Fields): Promise<void> {
  const { log, notifier } = deps;
  let link: MailboxLink | null;
  try {
    link = await deps.store.openMailbox(fields.tenant_id, address, deps.makeMailKey());
  } catch (error) {
    log.error('a mailbox could not be read: the e-mail was skipped', { ...fields, error });
    return;
  }
  if (link === null) return log.info('the mailbox is unsubscribed: the e-mail was skipped', fields);
  if (!(await mayMail(deps, fields.tenant_id))) {
    return log.warn('the mails of a day are used up: the e-mail was skipped', fields);
  }
  const url = unsubscribeUrl(deps.serviceUrl, link);
  await tell(deps, { ...fields, way: 'email' }, () => notifier.sendEmail(address, notice, url));
}

async function tell(
  { log }: NotifyDeps,
  fields: Fields & { readonly way: keyof NotificationTargets },
  run: () => Promise<SendResult>,
): Promise<void> {
  let result: SendResult;
  try {
    result = await run();
  } catch (error) {
    log.error('a notification could not be made', { way: fields.way, error });
    result = 'failed';
  }
  report(log, result, fields);
}

async function mayMail({ store, log }: NotifyDeps, tenantId: TenantId): Promise<boolean> {
  const half = MAILS_PER_DAY_MAX / 2;
  try {
    return (await store.takeToken(`mail:${tenantId}`, DAY_MS / half, half)).allowed;
  } catch (error) {
    // Open: a limiter that cannot count must not cost a notice that is claimed already.
    log.warn('the mails of a tenant could not be counted', { tenant_id: tenantId, error });
    return true;
  }
}

/** Never the address: a chat URL is a credential, a mailbox is a person. */
function report(log: Log, result: SendResult, fields: Readonly<Record<string, unknown>>): void {
  switch (result) {
    case 'sent':
      return log.info('notification sent', fields);
    case 'off':
      return log.info('this deployment sends no mail: the e-mail was skipped', fields);
    case 'refused':
    case 'failed':
      return log.warn(NOTICE_NOT_DELIVERED, { ...fields, result });
  }
}
