import { type QueueHealth, SIGNALS, type Signal, type SignalState } from '../../contracts/queue/health.ts';
import {
  DAY_MS,
  HEALTH_BATCHES_MAX,
  HEALTH_GATE_AGE_MS_MAX,
  HEALTH_MERGE_AGE_MS_MAX,
  HEALTH_OVERDUE_MAX,
  HEALTH_OVERDUE_MS_MAX,
  HEALTH_SUPERSEDE_RATE_MAX,
  HEALTH_TENANTS_MIN,
  HEALTH_TICK_AGE_MS_MAX,
} from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { AdminStore, HealthStore, WaitingBatch } from '../../ports/account-store.ts';
import type { Clock, Log } from '../../ports/system.ts';

export interface HealthDeps {
  readonly store: HealthStore & Pick<AdminStore, 'countTenants'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** Progress of the whole queue in states only (D-72). What cannot be read is unknown, never ok (A112). */
export async function readQueueHealth(deps: HealthDeps): Promise<QueueHealth> {
  const now = deps.clock.now();
  const { store } = deps;
  const [tick, overdue, supersede, phase] = await Promise.all([
    judge(
      deps,
      'tick_freshness',
      () => store.loadLastTick(),
      (at) => {
        // A service that never ticked has not shown that it does.
        if (at === null) return 'unknown';
        return now - at > HEALTH_TICK_AGE_MS_MAX ? 'degraded' : 'ok';
      },
    ),
    judge(
      deps,
      'overdue_repo',
      () => isShared(store, () => store.listOverdueTenants(now - HEALTH_OVERDUE_MS_MAX, HEALTH_OVERDUE_MAX)),
      (shared) => (shared ? 'degraded' : 'ok'),
    ),
    judge(
      deps,
      'supersede_rate',
      () => store.countBatchesSince(now - DAY_MS),
      ({ total, superseded }) =>
        // Exactly 30 percent does not trip (A113); a quotient would round.
        superseded * 100 > total * Math.round(HEALTH_SUPERSEDE_RATE_MAX * 100) ? 'degraded' : 'ok',
    ),
    judge(
      deps,
      'phase_age',
      () =>
        isShared(store, async () => {
          const waiting = await store.listWaitingBatches(HEALTH_BATCHES_MAX);
          return new Set(waiting.filter((batch) => isStuck(batch, now)).map(({ tenantId }) => tenantId));
        }),
      (shared) => (shared ? 'degraded' : 'ok'),
    ),
  ]);
  const signals = {
    tick_freshness: tick,
    overdue_repo: overdue,
    supersede_rate: supersede,
    phase_age: phase,
  };
  const bad = SIGNALS.find((signal) => signals[signal] === 'degraded');
  const unread = SIGNALS.some((signal) => signals[signal] === 'unknown');
  return {
    status: bad === undefined ? (unread ? 'unknown' : 'ok') : 'degraded',
    degraded_by: bad ?? 'none',
    signals,
  };
}

/** A fault of the service strikes several tenants, or the only one there is; a gate of one tenant that hangs is its own. */
async function isShared(
  store: Pick<HealthDeps['store'], 'countTenants'>,
  find: () => Promise<ReadonlySet<TenantId>>,
): Promise<boolean> {
  const struck = await find();
  if (struck.size === 0) return false;
  return struck.size >= Math.min(HEALTH_TENANTS_MIN, await store.countTenants());
}

async function judge<T>(
  deps: HealthDeps,
  signal: Signal,
  read: () => Promise<T>,
  tell: (value: T) => SignalState,
): Promise<SignalState> {
  try {
    return tell(await read());
  } catch (error) {
    deps.log.warn('a health signal could not be read', { signal, error });
    return 'unknown';
  }
}

/** A batch that waits for batches before it is as stuck as those are. */
function isStuck({ phase, createdAt, phaseSince }: WaitingBatch, now: number): boolean {
  if (phase === 'waiting_gate') return now - createdAt > HEALTH_GATE_AGE_MS_MAX;
  return phaseSince !== null && now - phaseSince > HEALTH_MERGE_AGE_MS_MAX;
}
