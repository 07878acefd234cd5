import { toPullPayload } from '../../contracts/notices/notice-payload.ts';
import { SWEEP_AFTER_MS, SWEEP_UNTIL_MS, SWEPT_EVENTS_MAX } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { findGateRunOfBounce } from '../../domain/notices/notice.ts';
import { topicOfEvent } from '../../domain/notices/notice-topics.ts';
import { nameOfTelling, newDelivery } from '../../domain/notices/webhook-delivery.ts';
import type { ActivityEvent, NodeRow } from '../../domain/queue/batch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { DeliveryStore } from '../../ports/delivery-store.ts';
import type { EnrollmentStore } from '../../ports/store.ts';
import type { Clock } from '../../ports/system.ts';

export interface SweepDeps {
  readonly store: Pick<DeliveryStore, 'addDelivery' | 'listDeliveries'> & Pick<EnrollmentStore, 'listEvents'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Stores what a change of the table should have told a webhook and did not, because the function that sends did not run,
 * or a process ended in between. Events of before the settings were last written may not have been asked for.
 */
export async function sweepEvents(
  deps: SweepDeps,
  tenantId: TenantId,
  repos: readonly ManagedRepo[],
  batches: readonly NodeRow[],
): Promise<void> {
  const hooked = repos.filter(
    ({ notification, noticeTopics }) =>
      notification !== null && notification.webhook !== null && noticeTopics.webhook.length > 0,
  );
  if (hooked.length === 0) return;
  const events = await deps.store.listEvents(tenantId, SWEPT_EVENTS_MAX);
  for (const repo of hooked) await sweepRepo(deps, repo, events, batches);
}

async function sweepRepo(
  { store, clock }: SweepDeps,
  repo: ManagedRepo,
  events: readonly ActivityEvent[],
  batches: readonly NodeRow[],
): Promise<void> {
  const now = clock.now();
  const told = new Set((await store.listDeliveries(repo.id, SWEPT_EVENTS_MAX)).map(({ id }) => id));
  for (const event of events) {
    const topic = topicOfEvent(event);
    const age = now - event.at;
    if (event.repoId !== repo.id || topic === null || !repo.noticeTopics.webhook.includes(topic)) continue;
    if (event.at <= repo.updatedAt || age < SWEEP_AFTER_MS || age > SWEEP_UNTIL_MS) continue;
    const name = nameOfTelling(topic, event);
    if (told.has(name.id)) continue;
    const runUrl = topic === 'bounced' ? findGateRunOfBounce(batches, event) : null;
    const body = JSON.stringify(toPullPayload(topic, repo, event, runUrl));
    const delivery = newDelivery(name, { tenantId: repo.tenantId, kind: topic, body }, now);
    await store.addDelivery({ ...delivery, nextAt: now });
  }
}
