import type { NoticePayload } from '../../contracts/notices/notice-payload.ts';
import { RETRIES_OF_TICK_MAX } from '../../domain/api-limits.ts';
import {
  afterAttempt,
  type Delivery,
  type DeliveryKind,
  type DeliveryName,
  newDelivery,
} from '../../domain/notices/webhook-delivery.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { DeliveryStore } from '../../ports/delivery-store.ts';
import type { NoticeRequestStore, Notifier } from '../../ports/notifier.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import type { DispatchStore } from '../../ports/store.ts';
import { type Clock, type Log, VaultError } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';
import { openTargets } from '../secrets/repo-secrets.ts';

export interface DeliverDeps {
  readonly store: Pick<DeliveryStore, 'addDelivery' | 'loadDelivery' | 'noteAttempt'> &
    Pick<DispatchStore, 'getRepo'>;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly notifier: Notifier;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/**
 * Stores what a webhook is to be told, so that no fault loses it, and returns it; null: it is stored already. Throws
 * `StoreError`: then nothing is stored.
 */
export async function storeDelivery(
  deps: DeliverDeps,
  repo: ManagedRepo,
  kind: DeliveryKind,
  name: Omit<DeliveryName, 'repoId'>,
  payload: NoticePayload,
): Promise<Delivery | null> {
  const told = { tenantId: repo.tenantId, kind, body: JSON.stringify(payload) };
  const delivery = newDelivery({ ...name, repoId: repo.id }, told, deps.clock.now());
  return (await deps.store.addDelivery(delivery)) ? delivery : null;
}

/** One attempt, and the note of it. Never throws: what was not noted stays due. */
export async function attemptDelivery(
  deps: DeliverDeps,
  repo: ManagedRepo,
  delivery: Delivery,
): Promise<void> {
  const { log, store, clock } = deps;
  const fields = { tenant_id: repo.tenantId, repo_id: repo.id, kind: delivery.kind, way: 'webhook' };
  try {
    const target = await openWebhook(deps, repo);
    const status = target === null ? null : await deps.notifier.sendWebhook(target, delivery, clock.now());
    const next = afterAttempt(delivery, status, clock.now());
    await store.noteAttempt(delivery, next);
    log.info('webhook tried', { ...fields, status, state: next.state, attempts: next.attempts });
  } catch (error) {
    log.error('a delivery to a webhook could not be tried', { ...fields, error });
  }
}

async function openWebhook(deps: DeliverDeps, repo: ManagedRepo): Promise<Secret<string> | null> {
  if (repo.notification === null || repo.notification.webhook === null) return null;
  try {
    const { webhook } = await openTargets(deps.secrets, repo, repo.notification);
    return webhook === null ? null : new Secret(webhook);
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    deps.log.warn('the webhook of notices does not open', { tenant_id: repo.tenantId, repo_id: repo.id });
    return null;
  }
}

/** One more attempt, as the tick asked for it. Throws `StoreError` before it. */
export async function retryDelivery(deps: DeliverDeps, name: DeliveryName): Promise<void> {
  const [delivery, repo] = await Promise.all([
    deps.store.loadDelivery(name),
    deps.store.getRepo(name.repoId),
  ]);
  if (delivery === null || delivery.state !== 'waiting') return;
  // The webhook was taken away, and no address is left to tell. A delivery that stays due takes a place of every tick.
  if (repo === null || repo.tombstone || repo.notification === null || repo.notification.webhook === null) {
    await deps.store.noteAttempt(delivery, { ...delivery, state: 'given_up', nextAt: null });
    return;
  }
  if (delivery.nextAt !== null && delivery.nextAt > deps.clock.now()) return;
  await attemptDelivery(deps, repo, delivery);
}

export interface RetryDeps {
  readonly store: Pick<DeliveryStore, 'listDueDeliveries'> & NoticeRequestStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** By the tick: asks the function that sends for each attempt that is due. Never throws. */
export async function askRetries({ store, clock, log }: RetryDeps): Promise<void> {
  try {
    for (const { tenantId, ...delivery } of await store.listDueDeliveries(clock.now(), RETRIES_OF_TICK_MAX)) {
      const subject = JSON.stringify([delivery.repoId, delivery.at, delivery.id]);
      await store.requestNotice({ kind: 'webhook_retry', tenantId, subject, email: null, delivery });
    }
  } catch (error) {
    log.error('deliveries that are due could not be asked for', { error });
  }
}
