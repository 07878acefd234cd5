import { DAY_MS } from '../../domain/api-limits.ts';
import type { EpochMs, RepoId } from '../../domain/ids.ts';
import {
  DUE_TOLERANCE_MS,
  IDLE_DUE_DELAY_MS,
  LEASE_HELD_DELAY_MS,
  LEASE_TTL_MS,
  LONG_RECONCILE_MS,
  WIND_DOWN_MS,
} from '../../domain/limits.ts';
import type { ManagedRepo, ReconcileErrorCode, ReconcileOutcome } from '../../domain/repos/repo.ts';
import { isStopAsked } from '../../domain/repos/stored-holds.ts';
import { isSlowFailure, slowRetryMs } from '../../domain/wakes/fairness.ts';
import { keepSight, sightOf } from '../../domain/wakes/forge-sight.ts';
import type { HeldLease } from '../../domain/wakes/lease.ts';
import { earlier, retryDelayMs, shareOf } from '../../domain/wakes/wake-rule.ts';
import type { LookStore } from '../../ports/idle-look.ts';
import { type DispatchStore, type LeaseStore, type ReconcileStore, StoreError } from '../../ports/store.ts';
import {
  type Clock,
  type EngineAnswer,
  type EnginePort,
  type Ids,
  type Log,
  type ReconcileCommand,
  type Vault,
  VaultError,
  type WakeQueue,
} from '../../ports/system.ts';
import { findReposOnHold, type OnHoldStore, type PlanDeps } from '../billing/plans.ts';
import { openRepoToken } from '../connections/repo-token.ts';
import {
  isOff,
  mustWaitTurn,
  mustWindDown,
  type ObligationStore,
  type PurgeStore,
  type TurnStore,
} from '../wind-down/wind-down.ts';
import { type ConcurrencyDeps, withinLimits } from './concurrent-reconciles.ts';
import { type EngineResult, judgeAnswer } from './engine-result.ts';
import { withLease } from './lease.ts';
import { planNextLook } from './next-look.ts';

export interface DispatchDeps extends PlanDeps, Pick<ConcurrencyDeps, 'workersMax'> {
  readonly store: Pick<
    DispatchStore,
    'getRepo' | 'getConnection' | 'settleDue' | 'settleOff' | 'loadReport' | 'saveReconcileOutcome'
  > &
    Pick<LookStore, 'loadLook'> &
    ReconcileStore &
    PurgeStore &
    TurnStore &
    OnHoldStore &
    ObligationStore;
  readonly leases: LeaseStore;
  readonly vault: Vault;
  readonly engine: EnginePort;
  readonly queue: Pick<WakeQueue, 'sendDelayedWake' | 'sendDelayedGlance'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** `queue_name` of the request (D-91). */
  readonly queueName: string;
}

interface EndedReconcile extends EngineResult {
  readonly heldMs: number;
  readonly windsDown: boolean;
  /** How many of this repo in a row, with this one, held a worker for long and came to nothing. */
  readonly slowFailures: number;
}

export type DispatchResult =
  | {
      readonly kind: 'reconciled';
      readonly repo: ManagedRepo;
      readonly outcome: ReconcileOutcome;
      readonly logTail: readonly string[];
      /** The engine may still be at work: its lease is left to run out, and the reconcile still counts among those under way. */
      readonly isLost: boolean;
    }
  /** Another worker has the repo; it is looked at again soon. */
  | { readonly kind: 'lease_held' }
  /** Nothing to do: deleted, switched off, or reconciled since the wake was sent. */
  | { readonly kind: 'gone' | 'disabled' | 'not_due' }
  /** Beyond what its tenant pays for, with nothing left to take back (A107). */
  | { readonly kind: 'payment_required' }
  /** As many reconciles run as may, of its tenant, on its forge, or of those like it; this one is looked at again soon. */
  | { readonly kind: 'crowded' }
  /** An earlier record of the same forge address still takes back what it posted; this one is looked at again soon. */
  | { readonly kind: 'waits_turn' };

/** Answers a wake. A wake is a hint: the repo is loaded again, and what the row says decides (E7). */
export async function dispatchReconcile(deps: DispatchDeps, repoId: RepoId): Promise<DispatchResult> {
  const repo = await deps.store.getRepo(repoId);
  if (repo === null) return { kind: 'gone' };
  const now = deps.clock.now();
  const off = isOff(repo);
  if (off && repo.dueAt === null) {
    if (repo.tombstone) return { kind: 'gone' };
    // A queue that was just switched off takes back what it had posted: the engine is the only writer of statuses (A24).
    if (now - repo.updatedAt > WIND_DOWN_MS) return { kind: 'disabled' };
  } else if (repo.dueAt === null || repo.dueAt > now + DUE_TOLERANCE_MS) return { kind: 'not_due' };
  const onHold = !off && (await findReposOnHold(deps, repo.tenantId)).has(repo.id);
  if (onHold && !(await mustWindDown(deps.store, repo, now))) {
    // Out of the line until the next tick: it must neither look overdue nor stand before those that are paid for.
    await deps.store.settleDue(repo.id, repo.wakeSeq, deps.clock.now() + IDLE_DUE_DELAY_MS);
    return { kind: 'payment_required' };
  }
  if (await mustWaitTurn(deps.store, repo)) return postpone(deps, repo, 'waits_turn');
  const stops = onHold || isStopAsked(repo, now);
  const last = await readLastOutcome(deps, repo);
  const result = await withinLimits(deps, repo, last, () =>
    reconcileRepo(deps, repo, stops ? 'wind_down' : 'reconcile', last),
  );
  if (result.kind === 'crowded') return postpone(deps, repo, 'crowded');
  // The holder may have read the forge before this wake, and its message ends here: so another one is sent.
  if (result.kind === 'lease_held') {
    await deps.queue.sendDelayedWake(repo.id, repo.wakeSeq, LEASE_HELD_DELAY_MS);
  }
  return result;
}

/** The repository comes back soon, and until then it neither looks overdue nor stands before others. */
async function postpone<Kind extends 'waits_turn' | 'crowded'>(
  deps: DispatchDeps,
  repo: ManagedRepo,
  kind: Kind,
): Promise<{ readonly kind: Kind }> {
  await deps.store.settleDue(repo.id, repo.wakeSeq, deps.clock.now() + IDLE_DUE_DELAY_MS);
  await deps.queue.sendDelayedWake(repo.id, repo.wakeSeq, LEASE_HELD_DELAY_MS);
  return { kind };
}

/**
 * One reconcile under the repo's lease. Every error of the forge, the credential or the engine is an outcome that is
 * stored (A48); only a store that does not answer throws. A wake that came while this ran keeps the repo due (E9).
 */
async function reconcileRepo(
  deps: DispatchDeps,
  repo: ManagedRepo,
  command: ReconcileCommand,
  last: ReconcileOutcome | null,
): Promise<Extract<DispatchResult, { readonly kind: 'reconciled' | 'lease_held' }>> {
  const leaseDeps = { leases: deps.leases, clock: deps.clock, ids: deps.ids };
  const result = await withLease(
    leaseDeps,
    repo.id,
    'reconcile',
    LEASE_TTL_MS,
    async (held) => {
      const startedAt = deps.clock.monotonic();
      const answered = await callEngine(deps, repo, { held, command });
      const heldMs = Math.round(deps.clock.monotonic() - startedAt);
      const isSlow = isSlowFailure(answered.errorCode, heldMs);
      const windsDown = command === 'wind_down';
      const slowFailures = isSlow ? (last?.slowFailures ?? 0) + 1 : 0;
      // A switch-off that was given up leaves the queue on: its heads say so as soon as the mark is over.
      const goesOnAt = isStopAsked(repo, deps.clock.now()) ? (repo.stopUntil ?? null) : null;
      const wakeAt = earlier(answered.wakeAt, goesOnAt);
      const ended = { ...answered, wakeAt, heldMs, windsDown, slowFailures };
      // Caught, not thrown: a throw would release a lease under which the engine may still be at work.
      const recorded = await recordOutcome(deps, repo, ended, last).catch((error: unknown) => ({
        fault: error,
      }));
      return { ended, recorded };
    },
    { leaveRunning: ({ ended }) => ended.leaveLease },
  );
  if (result.kind === 'skipped') return { kind: 'lease_held' };
  const { ended, recorded } = result.value;
  if ('fault' in recorded) throw recorded.fault;
  const { outcome, wakeAt } = recorded;
  deps.log.info('reconciled', {
    tenant_id: repo.tenantId,
    repo_id: repo.id,
    ok: outcome.ok,
    error_code: outcome.errorCode,
    // A standstill of the engine is counted by this word.
    by: ended.again === undefined ? 'engine' : 'look',
    wake_at: wakeAt,
  });
  tellUnopenedToken(deps, repo, { last, outcome });
  const { report, leaveLease: isLost } = ended;
  return { kind: 'reconciled', repo, outcome, logTail: report?.logTail ?? [], isLost };
}

/** A token that does not open, and a key that is refused: one line when it begins, and one each day. */
function tellUnopenedToken(
  { log }: Pick<DispatchDeps, 'log'>,
  { tenantId, id }: ManagedRepo,
  { last, outcome }: { readonly last: ReconcileOutcome | null; readonly outcome: ReconcileOutcome },
): void {
  const { keyFault } = outcome;
  if (keyFault === undefined && outcome.errorCode !== 'decryption_error') return;
  if (!isNewsToday(last, outcome)) return;
  const of = { tenant_id: tenantId, repo_id: id };
  if (keyFault === undefined) log.error('a token does not open', of);
  else log.error('the credential key is refused', { ...of, fault: keyFault });
}

/**
 * Has it begun, or is this its first outcome of the day? An alarm on a line that came with each would tell of nothing else. The
 * code alone does not say it: a refused key has that of every error of the service's own.
 */
function isNewsToday(
  last: ReconcileOutcome | null,
  { errorCode, keyFault, ranAt }: ReconcileOutcome,
): boolean {
  const dayOf = (at: EpochMs): number => Math.floor(at / DAY_MS);
  return last?.errorCode !== errorCode || last.keyFault !== keyFault || dayOf(last.ranAt) !== dayOf(ranAt);
}

async function callEngine(
  deps: DispatchDeps,
  repo: ManagedRepo,
  { held, command }: { readonly held: HeldLease; readonly command: ReconcileCommand },
): Promise<EngineResult> {
  const failed = (errorCode: ReconcileErrorCode): EngineResult => ({
    errorCode,
    wakeAt: null,
    report: null,
    leaveLease: false,
  });
  const connection = await deps.store.getConnection(repo.tenantId, repo.connectionId);
  // A connection that is being deleted lasts as long as its deleted repos have something to take back.
  if (connection === null || (connection.deleting && !repo.tombstone)) return failed('connection_not_found');
  let answer: EngineAnswer;
  try {
    const token = await openRepoToken(deps.vault, repo, connection);
    answer = await deps.engine.reconcile(
      {
        tenantId: repo.tenantId,
        repoSlug: repo.slug,
        baseBranch: repo.baseBranch,
        queueName: deps.queueName,
        instanceUrl: repo.instanceUrl,
        token,
      },
      { fence: held.fence, command },
    );
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    return error.kind === 'undecryptable'
      ? failed('decryption_error')
      : { ...failed('engine_error'), mayPass: true, keyFault: error.keyFault };
  }
  if (answer === 'unchanged') {
    const again = await deps.store.loadReconcileOutcome(repo);
    if (again !== null) {
      const memory = again.ok ? await deps.store.loadLook(repo.id) : null;
      const sight = memory === null ? {} : { sight: sightOf(memory.tip, memory.pulls) };
      return { ...failed('engine_error'), errorCode: again.errorCode, again, ...sight };
    }
  }
  const hasEnded = answer === 'ok' || answer === 'failed';
  const stored = hasEnded ? await deps.store.loadReport(repo.id) : null;
  // A report under another fence tells of an earlier reconcile.
  const report = stored !== null && stored.fence === held.fence ? stored : null;
  return judgeAnswer(answer, report, held, deps.clock.now());
}

interface Recorded {
  readonly outcome: ReconcileOutcome;
  readonly wakeAt: EpochMs | null;
}

async function recordOutcome(
  deps: DispatchDeps,
  repo: ManagedRepo,
  ended: EndedReconcile,
  last: ReconcileOutcome | null,
): Promise<Recorded> {
  const ranAt = deps.clock.now();
  const { rule, forge, hook, settingsSeen, missingScopes, refusal } = ended.report ?? {};
  const { heldMs: _before, keyFault: _former, ...again } = ended.again ?? {};
  const outcome: ReconcileOutcome = {
    ...again,
    ranAt,
    ok: ended.errorCode === null,
    errorCode: ended.errorCode,
    ...(rule === undefined ? {} : { rule }),
    ...(forge === undefined ? {} : { forge }),
    ...(hook === undefined ? {} : { hook }),
    ...(settingsSeen === undefined ? {} : { settingsSeen }),
    ...(missingScopes === undefined ? {} : { missingScopes }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(ended.keyFault == null ? {} : { keyFault: ended.keyFault }),
    ...(ended.slowFailures === 0 ? {} : { slowFailures: ended.slowFailures }),
    ...(ended.heldMs < LONG_RECONCILE_MS ? {} : { heldMs: ended.heldMs }),
    // One that lies ahead is of a clock that has been set back since, and failures after it would seem to last no time.
    ...((last?.lastGoodAt ?? ranAt) > ranAt ? { lastGoodAt: ranAt } : {}),
    ...(ended.sight === undefined ? {} : { sight: keepSight(last?.sight, ended.sight, ranAt) }),
  };
  if (ended.mayPass !== true) {
    await deps.store.saveReconcileOutcome(repo, outcome);
    const soonest = ranAt + slowRetryMs(ended.slowFailures);
    const wakeAt = ended.wakeAt === null ? null : Math.max(ended.wakeAt, soonest);
    const seen = ended.sight === undefined || ended.windsDown ? null : outcome;
    await planNextLook(deps, repo, { ...ended, wakeAt, seen });
    return { outcome, wakeAt };
  }
  const retryingSince = Math.min(last?.retryingSince ?? ranAt, ranAt);
  await deps.store.saveReconcileOutcome(repo, { ...outcome, retryingSince });
  const delayMs = retryDelayMs(ranAt - retryingSince, shareOf(`${repo.wakeSeq} ${repo.id}`));
  const wakeAt = delayMs === null ? null : ranAt + delayMs;
  await planNextLook(deps, repo, { ...ended, wakeAt, seen: null });
  return { outcome, wakeAt };
}

async function readLastOutcome(deps: DispatchDeps, repo: ManagedRepo): Promise<ReconcileOutcome | null> {
  try {
    return await deps.store.loadReconcileOutcome(repo);
  } catch (error) {
    // A damaged row is written anew by this very reconcile.
    if (error instanceof StoreError && error.kind === 'unreadable') return null;
    throw error;
  }
}

/** The wake of a repo failed for good: an honest outcome instead of silence. The tick wakes it again. */
export async function recordAbandonedWake(
  deps: Pick<DispatchDeps, 'clock'> & {
    readonly store: Pick<DispatchStore, 'getRepo' | 'saveReconcileOutcome'>;
  },
  repoId: RepoId,
): Promise<boolean> {
  const repo = await deps.store.getRepo(repoId);
  if (repo === null || repo.tombstone) return false;
  const outcome: ReconcileOutcome = { ranAt: deps.clock.now(), ok: false, errorCode: 'engine_error' };
  await deps.store.saveReconcileOutcome(repo, outcome);
  return true;
}
