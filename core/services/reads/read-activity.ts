import {
  type Activity,
  toActivityEvent,
  toActivityRepo,
  toActivityStats,
  toQueueBatch,
} from '../../contracts/queue/activity.ts';
import {
  BATCHES_SCANNED_ROWS_MAX,
  DAY_MS,
  QUEUE_BATCHES_MAX,
  RECENT_ACTIVITY_MAX,
  STATS_ROWS_MAX,
  WEEK_MS,
} from '../../domain/api-limits.ts';
import type { EpochMs, RepoId, TenantId } from '../../domain/ids.ts';
import { describeRepoActivity, summarizeWeek } from '../../domain/queue/activity.ts';
import type { ActivityEvent, NodeRow } from '../../domain/queue/batch.ts';
import type { QueueView } from '../../domain/queue/queue-view.ts';
import { findStandstill } from '../../domain/queue/standstill.ts';
import { pauseAt } from '../../domain/repos/pause.ts';
import { known, mapKnown, type Reading, UNKNOWN } from '../../domain/result.ts';
import type { AccountStore, BatchHistory, TerminalMark } from '../../ports/account-store.ts';
import type { MailboxStore } from '../../ports/mailbox-store.ts';
import type { EnrollmentStore, LeaseStore } from '../../ports/store.ts';
import type { Clock, Log } from '../../ports/system.ts';
import type { PlanDeps } from '../billing/plans.ts';
import { type RepoFactsStore, readRepoFacts } from '../repos/repo-facts.ts';

export interface ActivityDeps extends PlanDeps {
  readonly store: RepoFactsStore &
    AccountStore &
    Pick<EnrollmentStore, 'listEvents'> &
    Pick<MailboxStore, 'readMailboxStates'>;
  readonly leases: Pick<LeaseStore, 'readLeaseState'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly queueName: string;
}

/**
 * The activity document of one tenant, or of these repositories of it (null: of all). `before` is the cursor of a page of older
 * batches (null: the newest page). Repositories, events and batches must be readable, else it throws `StoreError`; statistics and
 * history beside them are null or empty when they are not, never a wrong number (A73).
 */
export async function readActivity(
  deps: ActivityDeps,
  tenantId: TenantId,
  before: string | null,
  repoIds: readonly RepoId[] | null,
): Promise<Activity> {
  const isShown = ({ repoId }: { readonly repoId: RepoId }) => repoIds === null || repoIds.includes(repoId);
  const readBatches = (from: string | null) =>
    deps.store.readBatchHistory(tenantId, {
      limit: QUEUE_BATCHES_MAX,
      before: from,
      repoIds,
      scannedMax: BATCHES_SCANNED_ROWS_MAX,
    });
  const now = deps.clock.now();
  const [facts, allEvents, history, older, weekEvents, weekBatches] = await Promise.all([
    readRepoFacts(deps.store, tenantId, deps.planLimits, repoIds),
    deps.store.listEvents(tenantId, RECENT_ACTIVITY_MAX + 1),
    readBatches(null),
    before === null ? null : readBatches(before),
    attempt(deps, 'events', () => deps.store.readEventsSince(tenantId, now - WEEK_MS, STATS_ROWS_MAX)),
    attempt(deps, 'batches', () => deps.store.readBatchesSince(tenantId, now - WEEK_MS, STATS_ROWS_MAX)),
  ]);
  const shown = older ?? history;
  const events = allEvents.filter(isShown);
  const instances = new Map(facts.map(({ repo }) => [repo.id, repo.instanceUrl]));
  const addresses = facts.flatMap(({ repo }) => repo.notification?.email ?? []);
  const [leases, terminals, views, mailboxes] = await Promise.all([
    Promise.all(facts.map(({ repo }) => deps.leases.readLeaseState(repo.id))),
    readTerminals(deps, shown),
    attempt(deps, 'queue views', () => deps.store.readQueueViews(facts.map(({ repo }) => repo.id))),
    attempt(deps, 'mailboxes', () => deps.store.readMailboxStates(tenantId, addresses)),
  ]);
  const stats = summarizeWeek({
    events: mapKnown(weekEvents, (all) => all.filter(isShown)),
    // Their heads do not say whose they are.
    batches: repoIds === null ? weekBatches : UNKNOWN,
    dayStart: Math.floor(now / DAY_MS) * DAY_MS,
  });
  return {
    repos: facts.map((fact, index) => {
      const lease = leases[index] ?? 'unknown';
      const rows = history.batches.filter((row) => row.repoId === fact.repo.id);
      // Other repositories may have made all of the newest rows: that tells nothing about this one.
      const batches = rows.length === 0 && history.next !== null ? UNKNOWN : known(rows);
      const view = views.known ? views.value.get(fact.repo.id) : undefined;
      const activity = describeRepoActivity({
        ...fact,
        queueName: deps.queueName,
        batches,
        view,
        lease,
        lingers: lingers(view, now),
        isPaused: pauseAt(fact.repo, now) !== null,
      });
      const mailbox = mailboxes.known ? mailboxes.value.get(fact.repo.notification?.email ?? '') : undefined;
      const standstill = findStandstill({ ...fact, view, batches: rows, now });
      return toActivityRepo(fact.repo, activity, fact.outcome, lease, view, mailbox ?? null, standstill, now);
    }),
    recent_activity: events
      .slice(0, RECENT_ACTIVITY_MAX)
      .map((event: ActivityEvent) => toActivityEvent(event, instances.get(event.repoId) ?? null)),
    recent_activity_truncated: allEvents.length > RECENT_ACTIVITY_MAX,
    queue_batches: shown.batches.map((row) => toQueueBatch(row, endedAfter(row, terminals))),
    queue_batches_truncated: shown.next !== null,
    queue_batches_next: shown.next,
    stats: toActivityStats(stats),
    record_errors: (repoIds === null ? shown.errors : []).map(({ id, reason }) => ({ id, reason })),
  };
}

/** The view is of the last look: a linger that is over by now is no linger any more. */
function lingers(view: QueueView | undefined, now: EpochMs): boolean {
  return view?.block.kind === 'linger' && (view.block.until === null || view.block.until > now);
}

/** Null from the store means "more than can be counted": as unknown as no answer. */
async function attempt<T>(
  deps: ActivityDeps,
  what: string,
  read: () => Promise<T | null>,
): Promise<Reading<T>> {
  try {
    const value = await read();
    return value === null ? UNKNOWN : known(value);
  } catch (error) {
    deps.log.warn('statistics could not be read', { what, error });
    return UNKNOWN;
  }
}

/** No evidence is an empty list, which readers take as unknown. */
async function readTerminals(deps: ActivityDeps, history: BatchHistory): Promise<readonly TerminalMark[]> {
  const wanted = new Map<string, { readonly repoId: string; readonly pr: number }>();
  for (const { repoId, prs } of history.batches) {
    for (const pr of prs) wanted.set(`${repoId} ${pr}`, { repoId, pr });
  }
  const read = await attempt(deps, 'terminals', () => deps.store.readTerminals([...wanted.values()]));
  return read.known ? read.value : [];
}

function endedAfter(row: NodeRow, terminals: readonly TerminalMark[]): readonly TerminalMark[] {
  return terminals.filter(
    (mark) => mark.repoId === row.repoId && mark.at >= row.createdAt && row.prs.includes(mark.pr),
  );
}
