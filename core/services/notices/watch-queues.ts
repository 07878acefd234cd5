import type { RepoFacts } from '../../contracts/repos/managed-repo.ts';
import { WATCH_BATCHES_MAX, WATCH_MS, WATCHED_REPOS_MAX } from '../../domain/api-limits.ts';
import type { EpochMs, RepoId, TenantId } from '../../domain/ids.ts';
import { TICK_INTERVAL_MS } from '../../domain/limits.ts';
import { waysOf } from '../../domain/notices/notice-topics.ts';
import type { Trouble } from '../../domain/notices/queue-notices.ts';
import type { NodeRow } from '../../domain/queue/batch.ts';
import type { QueueView } from '../../domain/queue/queue-view.ts';
import { findStandstill } from '../../domain/queue/standstill.ts';
import { findDrifts } from '../../domain/set-up/drift.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { WatchStore } from '../../ports/notifier.ts';
import type { EnrollmentStore } from '../../ports/store.ts';
import type { Clock, Log } from '../../ports/system.ts';
import type { PlanDeps } from '../billing/plans.ts';
import { type RepoFactsStore, readRepoFacts } from '../repos/repo-facts.ts';
import { type SweepDeps, sweepEvents } from './sweep-events.ts';

/** Multiples of it, without their whole parts, leave no large gap. */
const GOLDEN_SHARE = 0.618_034;

export interface WatchDeps extends PlanDeps {
  readonly store: WatchStore &
    SweepDeps['store'] &
    RepoFactsStore &
    Pick<AccountStore, 'readQueueViews'> &
    Pick<EnrollmentStore, 'listBatches'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/**
 * Asks for a notice of each queue that stands still and each set-up that changed, where a place wants to be told. By the
 * tick, because what stands still may be the worker. Never throws.
 */
export async function watchQueues(deps: WatchDeps): Promise<void> {
  const { store, clock, log } = deps;
  const startedAt = clock.now();
  try {
    const byTenant = new Map<TenantId, RepoId[]>();
    for (const { tenantId, repoId } of await store.listWatchedRepos(WATCHED_REPOS_MAX, placeAt(startedAt))) {
      byTenant.set(tenantId, [...(byTenant.get(tenantId) ?? []), repoId]);
    }
    for (const [tenantId, repoIds] of byTenant) {
      if (clock.now() - startedAt >= WATCH_MS)
        return log.warn('the look at watched queues was cut short', {});
      await watchTenant(deps, tenantId, repoIds);
    }
  } catch (error) {
    log.error('watched queues could not be listed', { error });
  }
}

/**
 * Each tick begins elsewhere, evenly spread over all of them: where the time is not enough, or there are more than one look
 * takes, each still gets its turn.
 */
function placeAt(now: EpochMs): number {
  return (Math.floor(now / TICK_INTERVAL_MS) * GOLDEN_SHARE) % 1;
}

async function watchTenant(deps: WatchDeps, tenantId: TenantId, repoIds: readonly RepoId[]): Promise<void> {
  const { store, log, clock } = deps;
  try {
    const [facts, views, batches] = await Promise.all([
      readRepoFacts(store, tenantId, deps.planLimits, repoIds),
      store.readQueueViews(repoIds),
      store.listBatches(tenantId, WATCH_BATCHES_MAX),
    ]);
    const repos = facts.map(({ repo }) => repo);
    await sweepEvents(deps, tenantId, repos, batches);
    for (const fact of facts) {
      const rows = batches.filter(({ repoId }) => repoId === fact.repo.id);
      for (const trouble of findTroubles(fact, views.get(fact.repo.id), rows, clock.now())) {
        await store.requestTrouble(tenantId, trouble);
      }
    }
  } catch (error) {
    log.error('watched queues of a tenant could not be looked at', { tenant_id: tenantId, error });
  }
}

function findTroubles(
  fact: RepoFacts,
  view: QueueView | undefined,
  batches: readonly NodeRow[],
  now: number,
): readonly Trouble[] {
  const { repo, outcome, isOnHold } = fact;
  const repoId = repo.id;
  const stands =
    waysOf(repo, 'stuck').length === 0
      ? null
      : findStandstill({ repo, isOnHold, view, outcome, batches, now });
  const drifts = waysOf(repo, 'drift').length === 0 ? [] : findDrifts({ repo, outcome, view });
  return [
    ...(stands === null
      ? []
      : [
          {
            repoId,
            topic: 'stuck' as const,
            name: stands.cause,
            since: stands.since,
            usualMs: stands.usualMs,
            ...(stands.labels === undefined ? {} : { labels: stands.labels }),
          },
        ]),
    ...drifts.map(({ kind, since, refusal }) => ({
      repoId,
      topic: 'drift' as const,
      name: kind,
      since,
      ...(refusal === undefined ? {} : { refusal }),
    })),
  ];
}
