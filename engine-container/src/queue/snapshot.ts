import type {
  BranchProtection,
  CommitStatus,
  DependencyCount,
  GateReading,
  PullRequest,
  RefInTheWay,
  WriteRight,
} from '#core/domain/forge/forge.ts';
import type { ForeignStatus } from '#core/domain/forge/status-gate.ts';
import type { CommitSha, EpochMs, NodeRowId, PullRequestNumber, TreeHash } from '#core/domain/ids.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { Labelled } from '#core/domain/repos/priority.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { SettingsSeen } from '#core/domain/repos/settings-file.ts';
import type { Reading } from '#core/domain/result.ts';
import type { HookState } from '#core/domain/set-up/hook-seen.ts';
import type { OpensAnother, OutsideReason } from './admission/admission-facts.ts';
import type { PullRequestReading, ScheduleReading } from './admission/readings.ts';
import type { ReviewCount } from './admission/reviews.ts';
import type { TeamPlace } from './admission/schedule-breach.ts';
import type { SpeculationPolicy } from './policy/policy.ts';
import type { Ground, KnownForge } from './record/record.ts';

export type ConfirmBounce = 'always' | 'adaptive';

/** Does a merge contain the tip that it was to stand on? `lost`: the forge has no such commit any more. */
export type Trace = boolean | 'lost';

/** The one picture that a pass decides on. Every part may be unknown; unknown never lands, bounces or forgets. */
export interface Snapshot {
  readonly now: EpochMs;
  /** When the look began: an engine may freeze between a reading and `now`. Absent: at `now`. */
  readonly begunAt?: EpochMs;
  readonly fence: number;
  /** With the values of the settings file that hold. */
  readonly repo: ManagedRepo;
  /** The settings file, read in this look. Absent: it was not, and what the record keeps holds. */
  readonly settingsSeen?: SettingsSeen;
  /** Names of our branches begin with it. */
  readonly queueName: string;
  /** True when everything was read anew; false when only what is in flight was. */
  readonly full: boolean;
  /** Pull requests whose head this look has come to, whether its statuses could be read or not; absent: it read none. */
  readonly tried?: ReadonlySet<PullRequestNumber>;
  readonly botLogin: Reading<string>;
  /** Fresh UUIDs for new rows; a pass that runs out of them waits for the next. */
  readonly ids: readonly string[];
  /** Absent: not asked in this look. */
  readonly hook?: Reading<HookState>;
  readonly base: Reading<{ readonly sha: CommitSha; readonly tree: TreeHash }>;
  /** Null value: no rule governs the base. */
  readonly protection: Reading<BranchProtection | null>;
  /** A branch or tag that git takes for the base as well; absent: not asked in this look. */
  readonly namesake?: Reading<RefInTheWay | null>;
  /** The head that the forge keeps of the pull request that lands; absent: not asked in this look. */
  readonly keptHead?: Reading<CommitSha | null>;
  /** Whether what made a branch of ours impossible still does; absent: nothing is known to. */
  readonly nameInTheWay?: Reading<RefInTheWay | null>;
  /** The forge shows the repository, and no branch of the name of the base in it. Absent: it has one, or it is not known. */
  readonly isBaseMissing?: true;
  /** Whether a rule still covers the `ruledBranch` of the record; absent: the record has none. */
  readonly isOwnBranchRuled?: Reading<boolean>;
  /** Merged with what moved the base without the queue; absent: nothing is looked for. */
  readonly outsidePulls?: Reading<readonly OutsidePull[]>;
  /** Absent: not asked, because the queue is empty. */
  readonly forge?: Reading<KnownForge>;
  /** Open pull requests of the base branch. */
  readonly pulls: Reading<readonly PullRequestView[]>;
  /** Timeline and review facts behind `pulls`, to be kept for the next look; null when `pulls` is unknown. */
  readonly readings: readonly PullRequestReading[] | null;
  /** Pull requests read one by one in this pass: the one that lands, and those that left the open list. */
  readonly focus: ReadonlyMap<PullRequestNumber, Reading<FocusView>>;
  /** Pull requests that were read one by one, as in `focus`, and that the forge says do not exist; absent: none. */
  readonly gone?: ReadonlySet<PullRequestNumber>;
  /**
   * Tip of the base, where it has the tree of the awaited merge; `not_yet` where it still is what that merge is to stand
   * on; absent or null: not looked for, or neither.
   */
  readonly ownMerge?: MergeView | 'not_yet' | null;
  /**
   * By merge commit, for landings whose tree is proven and whose history was not read with it: does it contain the tip
   * that the landing was to stand on? Absent: not looked for.
   */
  readonly traces?: ReadonlyMap<CommitSha, Reading<Trace>>;
  /** Pull requests that were merged the latest, to every branch, read with `traces`, or where the base moved while one lands; absent: not looked for. */
  readonly merged?: Reading<readonly PullRequest[]>;
  /** The pull requests of landings in `traces` that are not in `merged`, each read by itself; one that is absent was not read in this look. */
  readonly ownPulls?: ReadonlyMap<PullRequestNumber, Reading<PullRequest>>;
  /** Of landings whose merge the forge names of another pull request: is the one that it names of its own proven, and below that? */
  readonly provenBelow?: ReadonlyMap<PullRequestNumber, Reading<boolean>>;
  /** The statuses on the heads of those that a lost record had in flight; absent: not looked for. */
  readonly recalled?: ReadonlyMap<PullRequestNumber, Reading<RecalledView>>;
  /** Statuses of heads on which a `success` may appear late, by commit; absent: none was due. */
  readonly unheard?: ReadonlyMap<CommitSha, Reading<readonly CommitStatus[]>>;
  /** Why the merge that is awaited may not come; absent: not asked. */
  readonly blockers?: Blockers;
  /** Gate run of each node that waits for one. */
  readonly gates: ReadonlyMap<NodeRowId, Reading<GateView>>;
  /** Another policy than the fan-out stands for; only the bench sets it. */
  readonly policy?: SpeculationPolicy;
  /** `always` asks for a second failing gate run before each bounce, however steady the gate is known to be (D-08). */
  readonly confirmBounce?: ConfirmBounce;
}

/**
 * `branch_gone`: no gate run for a while, and no branch with this commit that one could be of. `run_gone`: the one that was
 * seen is there no more, or pushes of other accounts alone have begun any.
 */
export type GateView = (GateReading | { readonly kind: 'branch_gone' } | { readonly kind: 'run_gone' }) & {
  /** Of a gate by statuses: an account that may not answer for it has. Absent: none. */
  readonly foreign?: ForeignStatus;
  /** Contexts of a gate by statuses under which no author has said how it ended; absent: a workflow is the gate. */
  readonly unanswered?: readonly string[];
  /** Of a run that waits: labels that its runner has to have; null: the forge does not tell. Absent: not asked this time. */
  readonly runnerLabels?: readonly string[] | null;
  /** More contexts or jobs may still answer than have. Absent: all that are awaited are named. */
  readonly isOpenEnded?: true;
};

/** The view of the pull request that lands, read anew because its merge does not come. */
export type Blockers = Reading<PullRequestView>;

/** Merged outside the queue, and what stands on its head. */
export interface OutsidePull {
  readonly pull: PullRequest;
  readonly statuses: Reading<readonly CommitStatus[]>;
}

export interface PullRequestView {
  readonly pull: PullRequest;
  readonly schedule: Reading<ScheduleReading>;
  /** Null when no rule asks for reviews. */
  readonly reviews: Reading<readonly ReviewCount[]> | null;
  /** Of who scheduled; absent: no rule asks for it. */
  readonly teamPlace?: Reading<TeamPlace>;
  /** As in the reading of it. */
  readonly approvedBy?: readonly string[];
  /** May its author write to the repository? Absent: not scheduled, or not asked. */
  readonly authorWrites?: Reading<boolean>;
  /** May who scheduled write to the repository? Absent: not asked, as no merge of it was missed. */
  readonly schedulerWrites?: Reading<WriteRight>;
  /** Of who scheduled, in the teams that the rule lets merge. Absent: not asked, as with the right to write. */
  readonly mergePlace?: Reading<TeamPlace>;
  /** Styles in which the forge merges; null: the forge does not say. Absent: not asked, as with the right to write. */
  readonly allowedStyles?: Reading<readonly MergeStyle[] | null>;
  /** Null when nothing but our own context is required and the record is intact. */
  readonly statuses: Reading<readonly CommitStatus[]> | null;
  /** Labels of it that the settings name; absent: none. */
  readonly labelled?: readonly Labelled[];
  /** Does it change files that the rule protects? Absent: the rule protects none. */
  readonly touchesProtected?: Reading<boolean>;
  /** Dependencies that have to be closed before it; absent: it never had any such. Hidden ones are counted only where a merge did not come. */
  readonly dependencies?: Reading<DependencyCount>;
  /** Would a `success` on this head open a pull request to another branch as well? Absent: not scheduled, or not asked. */
  readonly opensAnother?: Reading<OpensAnother>;
}

/** The head of a pull request, and those that were staged for it before. */
export type RecalledView = readonly RecalledHead[];

export interface RecalledHead {
  readonly head: CommitSha;
  /** The pull request was merged with this head. */
  readonly merged: boolean;
  readonly statuses: readonly CommitStatus[];
}

export interface FocusView {
  readonly pull: PullRequest;
  /** Null when it was not needed. */
  readonly schedule: Reading<ScheduleReading> | null;
  /** As in `PullRequestView`, asked right before its `success` may be posted. */
  readonly opensAnother?: Reading<OpensAnother>;
  /** Asked at the same time, where the queue itself asks for an approval; absent: it does not. */
  readonly approvals?: Reading<LastApprovals>;
  /** Asked at the same time, where the run of a head is all that proves it: does that run still say that it passed? */
  readonly hasOwnPass?: Reading<boolean>;
  /** Asked at the same time, where the forge would merge into it: is there a tag of the base's name? */
  readonly isBaseTagged?: Reading<boolean>;
  /** For a merged pull request: its merge commit. */
  readonly merge: Reading<MergeView> | null;
  /** For one that was merged and is in no batch: what its head says. Absent: not asked for. */
  readonly statuses?: Reading<readonly CommitStatus[]>;
  /** For an unmerged one whose base tip is not the verified one: what that tip is. */
  readonly strangeTip: Reading<MergeView> | null;
}

export interface LastApprovals {
  readonly reviews: readonly ReviewCount[];
  /** Why its head may come from one who cannot write here; null: it does not. */
  readonly outside: OutsideReason | null;
}

export interface MergeView {
  /** Its parents are absent where only its tree was read. */
  readonly commit: Ground & { readonly parents?: readonly CommitSha[] };
  /** Is the verified tip an ancestor of it? Null: not read yet, or not to be known. */
  readonly standsOnTip: boolean | null;
  /** The verified tip holds it: the forge merged nothing, and a person has named a commit that was there. Absent: it does not, or that is not known. */
  readonly isInTip?: true;
}
