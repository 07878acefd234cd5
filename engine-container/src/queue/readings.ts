import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { ReviewCount } from './reviews.ts';

/** Forge facts of one pull request, valid while (`updatedAt`, `head`) stand. */
export interface PullRequestReading {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly updatedAt: EpochMs;
  readonly schedule: ScheduleReading;
  /** Null when no rule asked for them. */
  readonly reviews: readonly ReviewCount[] | null;
  /** Its timeline tells of dependencies: added, or taken away again. */
  readonly mayDepend?: true;
  /** How many of them were open; absent: not asked. */
  readonly openDependencies?: number;
  /** Does it change a file that one of these patterns protects? Absent: the rule had none. */
  readonly protectedFiles?: { readonly patterns: string; readonly touched: boolean };
  /** Its author could write to the repository. Absent: could not, or was not asked for. */
  readonly authorWrites?: boolean;
  /** By our clock: when (`updatedAt`, `head`) was first seen, and when this was read. Absent: kept by an older version. */
  readonly seenAt?: EpochMs;
  readonly readAt?: EpochMs;
  /** Schedule for which the statuses of this head were looked at; 0 = while it had none, absent = not yet. */
  readonly checkedFor?: number;
}

export type ScheduleReading =
  | { readonly kind: 'none' }
  /** Scheduled, and the head has not moved since (D-03). */
  | {
      readonly kind: 'bound';
      readonly id: number;
      readonly at: EpochMs;
      /** Who scheduled; absent in readings of before it was kept. */
      readonly by?: string;
    }
  /** Scheduled, but the head moved afterwards: the forge would merge what was not scheduled. */
  | { readonly kind: 'moved'; readonly id: number; readonly at: EpochMs };
