import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { Labelled } from '#core/domain/repos/priority.ts';
import type { ReviewCount } from './reviews.ts';

/** Forge facts of one pull request, valid while (`updatedAt`, `head`) stand. */
export interface PullRequestReading {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly updatedAt: EpochMs;
  readonly schedule: ScheduleReading;
  /** The schedule was held to the branch that it was made for. Absent: kept by an older version, and read again. */
  readonly judgedTarget?: true;
  /** Null when no rule asked for them. */
  readonly reviews: readonly ReviewCount[] | null;
  /** Logins of those who have officially approved exactly this head; absent: not asked with these, or too many to keep. */
  readonly approvedBy?: readonly string[];
  /** The accounts that these tell apart as bots; absent: none. */
  readonly reviewBots?: string;
  /** Labels of it that the settings name; absent: none. */
  readonly labelled?: readonly Labelled[];
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

/** The newest push after a schedule, where it is the one that made the head. */
export interface HeadPush {
  readonly id: number;
  readonly at: EpochMs;
  readonly by: string;
}

/** Why the schedule does not hold for a head that was pushed after it; `asking`: the forge has yet to say. */
export type MovedWhy = 'asking' | 'push' | 'untold' | 'outside' | 'rules';

/** The pull request was scheduled while it targeted another branch: only a new schedule asks for it here. */
export type Retargeted = 'retargeted';

export type ScheduleReading =
  | { readonly kind: 'none' }
  /** Scheduled, and the head has not moved since, or its push or an approval renewed the schedule (decision 0003). */
  | {
      readonly kind: 'bound';
      /** Timeline entry by which it holds for this head: the schedule, or the push that renewed it. */
      readonly id: number;
      readonly at: EpochMs;
      /** Who scheduled; absent in readings of before it was kept. */
      readonly by?: string;
      /** An entry that may be late news of an earlier push: an account has to stand for it yet. Absent: none. */
      readonly push?: HeadPush;
      /** The newest push before the schedule made this head: it was there when its schedule was made. */
      readonly isPushedBefore?: true;
      /**
       * It was closed and opened again since, or sent to another branch and back: a push in between has no entry, or has it no more,
       * and the head may be another one.
       */
      readonly isReopened?: true;
    }
  /** Scheduled, but the head moved afterwards: the forge would merge what was not asked for. */
  | {
      readonly kind: 'moved';
      readonly id: number;
      readonly at: EpochMs;
      readonly by?: string;
      /** Absent: the timeline does not tell of it yet. */
      readonly push?: HeadPush;
      /** Absent: not judged. */
      readonly why?: MovedWhy | Retargeted;
    };

/** Scheduled, whether or not that holds for its head. */
export type Scheduled = Exclude<ScheduleReading, { kind: 'none' }>;
