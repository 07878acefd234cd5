import type { RefusalCause } from '#core/domain/forge/refusal-cause.ts';
import type { EpochMs } from '#core/domain/ids.ts';
import { WAKE_DELAY_MS_MAX } from '#core/domain/limits.ts';
import type { ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import { earlier } from '#core/domain/wakes/wake-rule.ts';
import { type ForgeError, isActionsHidden, isOldName, isOverQuota } from '#core/ports/forge.ts';
import type { EngineReport } from '#core/ports/store.ts';
import { isStagingRefused } from '../queue/line/holds.ts';
import type { QueueRecord } from '../queue/record/record.ts';

const PULLS = 'GET pulls';

/** The facts that an error of the forge tells of a refusal of the queue as a whole; empty: none. */
export type Refused = Pick<EngineReport, 'missingScopes' | 'refusal'>;

/** @param isRepoSeen - The base branch was read, or seen to be absent, so the repository is there under its name. */
export function readRefusal(error: ForgeError, isRepoSeen: boolean): Refused {
  const { missingScopes } = error;
  const refusal = causeOf(error, isRepoSeen);
  return {
    ...(missingScopes.length === 0 ? {} : { missingScopes }),
    ...(refusal === null ? {} : { refusal }),
  };
}

/** An archived repository refuses the queue before the first write is tried. The refusal of this look itself says more. */
export function withArchive(
  refused: Refused,
  { archivedSince }: Pick<QueueRecord, 'archivedSince'>,
): Refused {
  if (archivedSince === undefined || refused.missingScopes !== undefined) return refused;
  return { refusal: 'archived', ...refused };
}

/** A standstill that only a person ends keeps no engine awake: the tick looks whether it is over. A rule is asked about sooner while pull requests wait. */
export function waitsForTick(
  code: ReconcileErrorCode,
  record: Pick<QueueRecord, 'archivedSince' | 'ruledBranch' | 'entries' | 'stagingRefused'>,
): boolean {
  const { archivedSince, ruledBranch, entries } = record;
  if (code === 'base_missing') return true;
  if (code === 'forge_access_denied' && (archivedSince !== undefined || isStagingRefused(record)))
    return true;
  return code === 'protection_conflict' && ruledBranch !== undefined && entries.length === 0;
}

/** The end of a reconcile. */
interface Ended {
  /** Null: all went well. */
  readonly code: ReconcileErrorCode | null;
  /** Of its last look; null: that look went well. */
  readonly lookCode: ReconcileErrorCode | null;
  /** When something else is due; null: nothing is. */
  readonly wakeAt: EpochMs | null;
}

/**
 * When to look again. A look that failed is made again soon, whatever else the queue waits for. A failed action is not: while the
 * forge fails to stage one pull request after the other, the queue waits as long as the first of them.
 */
export function wakeAfter(
  { code, lookCode, wakeAt }: Ended,
  record: Parameters<typeof waitsForTick>[1],
  now: EpochMs,
): EpochMs | null {
  if (code === null || waitsForTick(code, record)) return wakeAt;
  return wakeAt === null || lookCode !== null ? earlier(wakeAt, now + WAKE_DELAY_MS_MAX) : wakeAt;
}

/**
 * Null: the answer does not tell. Facts of the forges: a write to an archived repository is answered with 423, one beyond a quota
 * of Forgejo with 413, a call under an old name with a redirect, and the list of pull requests with 404 where they are switched
 * off.
 */
function causeOf(error: ForgeError, isRepoSeen: boolean): RefusalCause | null {
  const { kind, status, call } = error;
  if (error.isAccountLocked) return 'bot_locked';
  if (isOldName(error)) return 'moved';
  if (kind === 'archived') return 'archived';
  if (kind === 'missing') {
    if (call !== PULLS) return null;
    return isRepoSeen ? 'pulls_hidden' : 'not_shown';
  }
  if (isOverQuota(error)) return 'over_quota';
  if (isActionsHidden(error)) return 'actions_hidden';
  return kind === 'denied' && status === 401 ? 'token_unknown' : null;
}
