import type { EpochMs } from '../../domain/ids.ts';
import { LEASE_TAKEOVER_GRACE_MS } from '../../domain/limits.ts';
import type { ReconcileErrorCode, ReconcileOutcome } from '../../domain/repos/repo.ts';
import { assertNever } from '../../domain/result.ts';
import type { ForgeSight } from '../../domain/wakes/forge-sight.ts';
import type { HeldLease } from '../../domain/wakes/lease.ts';
import type { EngineReport } from '../../ports/store.ts';
import type { EngineAnswer } from '../../ports/system.ts';

/** The result of one reconcile, as its worker sees it. */
export interface EngineResult {
  readonly errorCode: ReconcileErrorCode | null;
  /** Null: at the next tick. */
  readonly wakeAt: EpochMs | null;
  readonly report: EngineReport | null;
  /** The engine may still be at work under this lease. */
  readonly leaveLease: boolean;
  /** It failed, and the next try may go well: the time is not known, and a success may stand unwatched meanwhile. */
  readonly mayPass?: true;
  /** The outcome before it, which holds still. */
  readonly again?: ReconcileOutcome;
  /** Fault of the key that seals tokens, by its name at the key service, where no repetition mends it. */
  readonly keyFault?: string | null;
  /** Absent: not all of it was read. */
  readonly sight?: ForgeSight;
}

/** The result by the engine's answer and its report. Without a report nothing is known but the answer. */
export function judgeAnswer(
  answer: EngineAnswer,
  report: EngineReport | null,
  held: HeldLease,
  now: EpochMs,
): EngineResult {
  const errorCode = report?.errorCode ?? null;
  const wakeAt = report?.wakeAt ?? null;
  switch (answer) {
    case 'ok':
      return {
        errorCode,
        wakeAt,
        report,
        leaveLease: false,
        ...(report?.sight === undefined ? {} : { sight: report.sight }),
      };
    case 'failed':
    case 'refused':
    case 'unreachable':
    // Without an outcome before it there is nothing that could be unchanged.
    case 'unchanged':
      if (report === null)
        return { errorCode: 'engine_error', wakeAt, report, leaveLease: false, mayPass: true };
      return { errorCode: errorCode ?? 'engine_error', wakeAt, report, leaveLease: false };
    case 'starting':
      return { errorCode: 'engine_starting', wakeAt, report, leaveLease: false, mayPass: true };
    case 'lost': {
      const lookAt = Math.max(now, held.expiresAt) + LEASE_TAKEOVER_GRACE_MS;
      return { errorCode: 'timeout', wakeAt: lookAt, report: null, leaveLease: true };
    }
    default:
      return assertNever(answer);
  }
}
