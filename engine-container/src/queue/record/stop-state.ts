import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { HaltEvidence } from '#core/domain/queue/queue-view.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';

/** Failures that came again and again before a rest; `forge_unreachable` is that of an older version. */
export const REST_CAUSES = [
  'gate_infrastructure',
  'gate_timeout',
  'forge_call_failed',
  'forge_unreachable',
] as const;
export type RestCause = (typeof REST_CAUSES)[number];

/** After repeated failures that are none of a pull request the queue rests (D-07). */
export interface Rest {
  /** Nothing is staged before this time. */
  restsUntil: EpochMs | null;
  /** Of the last rest; absent: gate runs were broken off. */
  restsFor?: RestCause;
}

/** Nothing goes on until a person switches the queue on again. */
interface Stop {
  readonly pr: PullRequestNumber;
  readonly at: EpochMs;
  /** When the queue was last switched on before; absent in records of before it was kept. */
  readonly enabledAt?: EpochMs;
}

export interface Halt extends Stop {
  readonly reason: 'tree_mismatch';
  readonly mergeCommit: CommitSha;
  /** Absent in records of before it was kept. */
  readonly evidence?: HaltEvidence;
}

/** A pull request that another queue merged. */
export type Rival = Stop;

/**
 * Whether a person has switched the queue on since. A stop whose time is set back with the wall clock may seem to be older than
 * the switching-on that it happened under, which lifts nothing.
 */
export function isLifted(
  { at, enabledAt }: Stop,
  repo: Pick<ManagedRepo, 'queueEnabled' | 'enabledAt'>,
): boolean {
  return repo.queueEnabled && repo.enabledAt > at && repo.enabledAt !== enabledAt;
}
