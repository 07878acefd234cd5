import type {
  BranchProtection,
  CommitStatus,
  DependencyCount,
  PullRequest,
  WriteRight,
} from '#core/domain/forge/forge.ts';
import type { GlobReader } from '#core/domain/globs/glob.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { Reading } from '#core/domain/result.ts';
import type { ReviewCount } from './reviews.ts';
import type { RuleFacts, TeamPlace } from './schedule-breach.ts';

/** Rules that keep a pull request from being staged; the words of each stand in `PULL_CODES`. */
export const REFUSALS = [
  'changes_requested',
  'approvals_missing',
  'review_requested',
  'branch_outdated',
  'branch_gone',
  'fork_not_approved',
  'agit_not_approved',
  'author_not_writer',
  'twin_elsewhere',
  'base_heads_another',
  'fork_scheduler',
  'scheduler_left',
  'merge_list',
  'scheduled_by_job',
  'scheduler_not_named',
  'team_hidden',
  'own_schedule',
  'bot_not_approved',
  'author_limit',
  'attempts_spent',
  'protected_files',
  'open_dependencies',
  'rule_hidden',
  'style_off',
  'dependency_hidden',
  'check_hidden',
  'merge_unsigned',
  'title_not_mergeable',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** Reasons for which a head needs an approval of exactly it, whatever the branch rule asks for. */
export type OutsideReason = Extract<Refusal, 'fork_not_approved' | 'agit_not_approved' | 'author_not_writer'>;

/** Why a `success` would open a pull request to another branch as well; null: it would not. */
export type OpensAnother = Extract<Refusal, 'twin_elsewhere' | 'base_heads_another'> | null;

/**
 * `refused`: said on the pull request, and judged again at each full look (D-04). `waiting`: nothing is said, but of `unknown`,
 * once the forge has not answered for long.
 */
export type Admission =
  | { readonly kind: 'admitted' }
  | {
      readonly kind: 'waiting';
      readonly reason: 'unknown' | 'rule_unknown' | 'opened' | 'other_checks' | 'twin';
    }
  | { readonly kind: 'refused'; readonly reason: Refusal };

export interface AdmissionFacts extends RuleFacts {
  readonly pull: PullRequest;
  readonly protection: BranchProtection;
  readonly reviews: Reading<readonly ReviewCount[]> | null;
  /** Null where they were looked at before for this head and schedule. */
  readonly statuses: Reading<readonly CommitStatus[]> | null;
  /** May its author write to this repository? Absent: the head is one from outside whatever the answer. */
  readonly authorWrites?: Reading<boolean> | undefined;
  /** May who scheduled write to this repository? Absent: not asked. */
  readonly schedulerWrites?: Reading<WriteRight> | undefined;
  /** Of who scheduled, in the teams that the rule lets merge. Absent: there are none, or it was not asked. */
  readonly mergePlace?: Reading<TeamPlace> | undefined;
  /** Styles in which the forge merges; null: the forge does not say. Absent: not asked. */
  readonly allowedStyles?: Reading<readonly MergeStyle[] | null> | undefined;
  /** The style of this queue; in which one a pull request is scheduled, no API tells. */
  readonly mergeStyle: MergeStyle;
  /** Was it scheduled with the token of a job? */
  readonly isByJob?: boolean;
  /** Does the forge ask the fork for the right to merge? Unknown (null) refuses no pull request. */
  readonly asksFork?: boolean | null;
  /** Is a required pattern met where all that it finds was skipped? */
  readonly passesSkippedAlone?: boolean;
  /** May the forge ask for checks that the rule does not name? */
  readonly hidesChecks?: boolean;
  /** Reads the required contexts, as the forge does. */
  readonly globs: GlobReader;
  readonly context: string;
  readonly baseTip: CommitSha;
  /** Would a `success` on this head open a pull request to another branch as well (D-17)? Absent: it would not. */
  readonly opensAnother?: Reading<OpensAnother> | undefined;
  /** Does it change files that the rule protects? Absent: the rule protects none. */
  readonly touchesProtected?: Reading<boolean> | undefined;
  /** Dependencies that have to be closed before it; absent: none. */
  readonly dependencies?: Reading<DependencyCount> | undefined;
  /** Another open pull request with the same head that is ahead in the queue. */
  readonly twinAhead: boolean;
  /** The forge did not merge it in time, and whatever may be why counts. */
  readonly isMissed?: boolean;
  /** The forge did not merge it twice, and nothing but a signature was left that may be why. */
  readonly isUnsigned?: boolean;
  /** Git takes the title in no message, or did not when this schedule was seen first: the forge keeps the message of a schedule. */
  readonly isTitleBad?: boolean;
  /** It lands: the `success` on its head is the one that is to stand there. */
  readonly isLanding?: boolean;
}
