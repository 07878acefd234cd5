import type { RepoId } from '../../domain/ids.ts';
import { GLANCE_STEPS_MAX } from '../../domain/limits.ts';
import type { ManagedRepo, ReconcileOutcome } from '../../domain/repos/repo.ts';
import { isStopAsked } from '../../domain/repos/stored-holds.ts';
import { glanceDelayMs, showsNews } from '../../domain/wakes/forge-sight.ts';
import type { IdleLooker } from '../../ports/idle-look.ts';
import type { DispatchStore } from '../../ports/store.ts';
import type { Clock, DueGlance, Log, Vault, WakeQueue } from '../../ports/system.ts';
import { findReposOnHold, type OnHoldStore, type PlanDeps } from '../billing/plans.ts';
import { openRepoToken } from '../connections/repo-token.ts';
import { isOff } from '../wind-down/wind-down.ts';
import { wakeNow } from './send-wakes.ts';

export interface PlanGlanceDeps {
  readonly queue: Pick<WakeQueue, 'sendDelayedGlance'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export interface GlanceDeps extends PlanDeps, PlanGlanceDeps {
  readonly store: Pick<DispatchStore, 'getRepo' | 'getConnection' | 'loadReconcileOutcome' | 'markDue'> &
    OnHoldStore;
  readonly vault: Pick<Vault, 'open'>;
  readonly looker: Pick<IdleLooker, 'glance'>;
  readonly queue: Pick<WakeQueue, 'sendWake' | 'sendDelayedGlance'>;
  readonly clock: Clock;
}

/**
 * `same`: nothing is woken, and the next glance is planned. `woken`: there is news. `replaced`: a look has come since it was
 * planned. `over`: the repository is off, on hold or gone, or its last look did not go well. `failed`: the tick goes on.
 */
export type GlanceResult = 'same' | 'woken' | 'replaced' | 'over' | 'failed';

/**
 * Looks whether the forge is as the last look saw it, with two cheap calls, no lease, and nothing written: no forge tells
 * of a schedule by an event. Never throws: it is worth less than a retry of its message, which would keep wakes waiting.
 */
export async function answerGlance(deps: GlanceDeps, glance: DueGlance): Promise<GlanceResult> {
  const startedAt = deps.clock.monotonic();
  const result = await tryGlance(deps, glance).catch((error: unknown): GlanceResult => {
    deps.log.warn('a glance failed', { repo_id: glance.repoId, error });
    return 'failed';
  });
  const tookMs = Math.round(deps.clock.monotonic() - startedAt);
  deps.log.info('glance', { repo_id: glance.repoId, result, took_ms: tookMs });
  return result;
}

async function tryGlance(deps: GlanceDeps, glance: DueGlance): Promise<GlanceResult> {
  const { store, clock } = deps;
  const repo = await store.getRepo(glance.repoId);
  if (repo === null || isOff(repo) || isStopAsked(repo, clock.now())) return 'over';
  // Each wake leads to a look, and each look plans glances of its own.
  if (repo.wakeSeq !== glance.wakeSeq) return 'replaced';
  // A repo on hold is not woken by the tick, so its chain would go on.
  if ((await findReposOnHold(deps, repo.tenantId)).has(repo.id)) return 'over';
  const outcome = await store.loadReconcileOutcome(repo);
  if (outcome?.ok !== true || outcome.sight === undefined) return 'over';
  const startedAt = clock.monotonic();
  const news = await hasNews(deps, repo, outcome.sight);
  if (news === 'unknown') return 'failed';
  if (news) return (await wakeNow({ store, clock, queue: deps.queue }, repo.id)) ? 'woken' : 'over';
  await planGlance(deps, repo, { outcome, step: glance.step + 1, tookMs: clock.monotonic() - startedAt });
  return 'same';
}

async function hasNews(
  deps: GlanceDeps,
  repo: ManagedRepo,
  sight: NonNullable<ReconcileOutcome['sight']>,
): Promise<boolean | 'unknown'> {
  if (!sight.isSettled) return true;
  const connection = await deps.store.getConnection(repo.tenantId, repo.connectionId);
  if (connection === null || connection.deleting) return 'unknown';
  const { instanceUrl, slug: repoSlug, baseBranch } = repo;
  const token = await openRepoToken(deps.vault, repo, connection);
  const answer = await deps.looker.glance({ instanceUrl, repoSlug, baseBranch, token });
  return answer.kind === 'failed' ? 'unknown' : showsNews(sight, answer);
}

/** After a look, and after each glance. Best effort: without it the tick is the next look. */
export async function planGlance(
  deps: PlanGlanceDeps,
  { id, wakeSeq }: { readonly id: RepoId; readonly wakeSeq: number },
  last: { readonly outcome: ReconcileOutcome; readonly step: number; readonly tookMs: number },
): Promise<void> {
  const { outcome, step, tookMs } = last;
  if (!outcome.ok || outcome.sight === undefined) return;
  if (step > GLANCE_STEPS_MAX) return;
  const delayMs = glanceDelayMs(deps.clock.now() - outcome.sight.since, tookMs);
  if (delayMs === null) return;
  try {
    await deps.queue.sendDelayedGlance({ repoId: id, wakeSeq, step }, delayMs);
  } catch (error) {
    deps.log.warn('a glance could not be planned', { repo_id: id, error });
  }
}
