import { toTestPayload, toTroublePayload } from '../../contracts/notices/notice-payload.ts';
import type { NoticeTopic } from '../../domain/notices/notice-topics.ts';
import { describeTest, describeTrouble } from '../../domain/notices/queue-notices.ts';
import { queuePageOf } from '../../domain/notices/service-pages.ts';
import type { Delivery } from '../../domain/notices/webhook-delivery.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { NoticeRequest } from '../../ports/notifier.ts';
import { attemptDelivery, type DeliverDeps, storeDelivery } from './deliver-webhook.ts';
import { openOf, type PlaceDeps, placesFor, placesOf, sendNotice } from './notice-places.ts';

/** Whether the webhook of a repository is to be told of a topic. */
export function tellsWebhook(repo: ManagedRepo, topic: NoticeTopic): boolean {
  return (
    repo.notification !== null &&
    repo.notification.webhook !== null &&
    repo.noticeTopics.webhook.includes(topic)
  );
}

/** The news for the webhook of a trouble or a test; null: none is to be told, or it is stored already. */
export async function storeAsked(
  deps: DeliverDeps,
  repos: readonly ManagedRepo[],
  asked: NoticeRequest,
): Promise<Delivery | null> {
  const repo = repoOf(repos, asked);
  const { trouble, at } = asked;
  if (repo === null || at === undefined) return null;
  if (asked.kind === 'test' && repo.notification !== null && repo.notification.webhook !== null) {
    return storeDelivery(deps, repo, 'test', { at, id: `test_${repo.id}_${at}` }, toTestPayload(repo, at));
  }
  if (trouble === undefined || !tellsWebhook(repo, trouble.topic)) return null;
  const id = `${trouble.topic}_${repo.id}_${trouble.name}_${trouble.since ?? 0}`;
  return storeDelivery(deps, repo, trouble.topic, { at, id }, toTroublePayload(repo, trouble, at));
}

/** Sends a notice that was asked for; it was claimed then. */
export async function announceAsked(
  deps: PlaceDeps & DeliverDeps,
  repos: readonly ManagedRepo[],
  asked: NoticeRequest,
  delivery: Delivery | null,
): Promise<void> {
  const repo = repoOf(repos, asked);
  if (repo === null) return;
  const { trouble, tenantId } = asked;
  const fields = { tenant_id: tenantId, repo_id: repo.id, kind: trouble?.topic ?? asked.kind };
  if (trouble === undefined) {
    const places = placesOf(await openOf(deps, repo), repo.slug);
    await sendNotice(deps, places, describeTest(repo, queuePageOf(deps.serviceUrl, repo)), fields, [
      repo.id,
      asked.at,
    ]);
  } else {
    const places = await placesFor(deps, repo, trouble.topic);
    const notice = describeTrouble(repo, trouble, queuePageOf(deps.serviceUrl, repo));
    await sendNotice(deps, places, notice, fields, [repo.id, trouble.topic, trouble.name, trouble.since]);
  }
  if (delivery !== null) await attemptDelivery(deps, repo, delivery);
}

function repoOf(repos: readonly ManagedRepo[], { trouble, repoId }: NoticeRequest): ManagedRepo | null {
  const wanted = trouble?.repoId ?? repoId;
  return repos.find(({ id, tombstone }) => id === wanted && !tombstone) ?? null;
}
