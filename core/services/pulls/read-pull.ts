import { findStandstill } from '#core/domain/queue/standstill.ts';
import { AppError } from '../../contracts/errors.ts';
import { type PullStoryView, toPullStoryView } from '../../contracts/pulls/pull-story.ts';
import { STORY_BATCHES_MAX, STORY_EVENTS_MAX, STORY_SCANNED_ROWS_MAX } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { type StoryFacts, tellPull } from '../../domain/pulls/pull-story.ts';
import { goesOnSince } from '../../domain/queue/goes-on.ts';
import { pauseAt } from '../../domain/repos/pause.ts';
import type { ReconcileErrorCode } from '../../domain/repos/repo.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { DispatchStore, EngineStore } from '../../ports/store.ts';
import type { Clock } from '../../ports/system.ts';
import { findReposOnHold, type OnHoldStore, type PlanDeps } from '../billing/plans.ts';
import { loadOwnRepo } from '../repos/owned.ts';

export interface PullDeps extends PlanDeps {
  readonly store: Pick<DispatchStore, 'getRepo' | 'loadReconcileOutcome'> &
    OnHoldStore &
    Pick<AccountStore, 'readQueueViews'> &
    Pick<EngineStore, 'listOwnBatches' | 'listOwnEvents'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The last look ended with the forge closed to the queue, as a rule until a person acts: no status on the forge can say so either. */
const SHUT_OUT: readonly (ReconcileErrorCode | null)[] = [
  'forge_access_denied',
  'connection_not_found',
  'decryption_error',
];

function stoppedBy(code: ReconcileErrorCode | null): Pick<StoryFacts, 'stopped'> {
  if (SHUT_OUT.includes(code)) return { stopped: 'shut_out' };
  if (code === 'branch_name_taken') return { stopped: 'name' };
  return code === 'protection_conflict' ? { stopped: 'rule' } : {};
}

/** The story of one pull request of a managed repository, as far back as rows of the repository are looked through. */
export async function readPull(
  deps: PullDeps,
  tenantId: TenantId,
  id: string,
  number: string,
): Promise<PullStoryView> {
  const { store, clock } = deps;
  const repo = await loadOwnRepo(store, tenantId, id);
  if (!/^[1-9]\d{0,8}$/.test(number)) throw new AppError('not_found');
  const pr = Number(number);
  const [onHold, views, outcome, events] = await Promise.all([
    findReposOnHold(deps, tenantId),
    store.readQueueViews([repo.id]),
    store.loadReconcileOutcome(repo),
    store.listOwnEvents(repo, STORY_EVENTS_MAX, STORY_SCANNED_ROWS_MAX),
  ]);
  // After the events: a landing that is told has its receipt in a row that was written with the event or before it.
  const batches = await store.listOwnBatches(repo, STORY_BATCHES_MAX, STORY_SCANNED_ROWS_MAX);
  const now = clock.now();
  const view = views.get(repo.id);
  const story = tellPull({
    pr,
    events,
    batches,
    // One that is on hold is not looked at either, and its heads say so in the same words.
    queueEnabled: repo.queueEnabled && !onHold.has(repo.id),
    ...(outcome === null || goesOnSince(outcome, view?.block) ? {} : stoppedBy(outcome.errorCode)),
    now,
    view,
    pause: pauseAt(repo, now),
    standstill: findStandstill({
      repo,
      isOnHold: onHold.has(repo.id),
      view,
      outcome: outcome ?? undefined,
      batches,
      now,
    }),
  });
  if (story === null) throw new AppError('not_found');
  return toPullStoryView(repo, pr, story);
}
