import type { RefInTheWay } from '#core/domain/forge/forge.ts';
import type { StatusGate } from '#core/domain/forge/status-gate.ts';
import type {
  BatchId,
  BlobId,
  CommitSha,
  EpochMs,
  NodeRowId,
  PullRequestNumber,
  TreeHash,
} from '#core/domain/ids.ts';
import type { MergeRefusal } from '#core/domain/pulls/merge-refusal.ts';
import type { ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import type { SettingsTold } from '#core/domain/repos/settings-file.ts';
import type { DecidedEvent } from './record/decided-event.ts';
import type { OwnStatus } from './record/pending-status.ts';
import type { Batch, QueueRecord, Staged } from './record/record.ts';

/** An action that `decide` wants done. Each is idempotent: done twice, or half done before a crash, it may be done again. */
export type Action =
  | {
      readonly kind: 'stage_batch';
      readonly batchId: BatchId;
      readonly nodeRow: NodeRowId;
      readonly branch: string;
      readonly workBranch: string;
      readonly groundSha: CommitSha;
      readonly groundTree: TreeHash;
      /** Null: `groundSha` is the tip of the base. Else it is the last staged commit of the batch below, with these heads yet to land under it. */
      readonly headsBelow: readonly CommitSha[] | null;
      /** Tip of the base, from which fork points are counted: staged commits are no ancestors of anything. */
      readonly forkSha: CommitSha;
      readonly members: readonly {
        readonly pr: PullRequestNumber;
        readonly head: CommitSha;
        /** As the forge computed it for exactly this base and head; null = to be computed. */
        readonly mergeBase: CommitSha | null;
        /** Branch of the repository itself that it was pushed with, where a run there may answer for it; null: none may. */
        readonly ownBranch: string | null;
        /** Trees of suspects that stand before it in the queue: it does not overtake those whose files it touches. */
        readonly behind: readonly TreeHash[];
      }[];
      /** Where this forge looks for workflows, first things first. */
      readonly workflowFolders: readonly string[];
      /** Where it may look instead, as far as is known; null: nowhere else. */
      readonly otherWorkflowFolders: readonly string[] | null;
      /** The forge checks out a head to rebase it also where that holds the whole base. */
      readonly rebasesUpToDate: boolean;
      /** Null: a workflow is the gate. */
      readonly statusGate: StatusGate | null;
      /** Where it ends at a member that does not go along, and others are behind that: they come on top, with one gate run for both. */
      readonly mayShareRun: boolean;
      /** Trees with a verdict in the evidence: a batch ends at the first known failure, and one that ends in either needs no gate run. */
      readonly knownTrees: readonly KnownTree[];
    }
  | {
      /** One commit of ours on `groundSha` that has exactly `tree`, published for its own gate run. The tree may be that of `groundSha`. */
      readonly kind: 'stage_tree';
      readonly nodeRow: NodeRowId;
      readonly branch: string;
      readonly groundSha: CommitSha;
      /** Branch that starts no gate run, for what has to be built first. */
      readonly workBranch: string;
      /** False: `groundSha` is the tip of the base. True: the work branch holds it while it is built on. */
      readonly isAnchored: boolean;
      readonly groundTree: TreeHash;
      readonly tree: TreeHash;
      readonly message: string;
    }
  | (OwnStatus & {
      readonly kind: 'post_status';
      /** `landing`: the success that lets the forge merge. `pending`: anything else. */
      readonly purpose: 'landing' | 'pending';
    })
  /** Asked only after `success` was taken back: on some forges the question itself could set the merge off. */
  | {
      readonly kind: 'probe_schedule';
      readonly pr: PullRequestNumber;
      readonly head: CommitSha;
      readonly scheduleId: number;
    }
  | { readonly kind: 'delete_branch'; readonly branch: string }
  | { readonly kind: 'cancel_gate_run'; readonly runKey: string; readonly branch: string };

export interface KnownTree {
  readonly tree: TreeHash;
  readonly gate: BlobId;
  readonly verdict: 'success' | 'failure';
}

export type StageBatch = Extract<Action, { kind: 'stage_batch' }>;

/** Why staging stopped before the last member. None of these is ever blamed on the members before it. */
export type CutReason =
  | MergeRefusal
  /** Touches what suspects ahead of it touch: landing first it could turn their turn into a conflict. */
  | 'suspect_ahead'
  | 'no_changes'
  | 'edits_gate'
  /** Deletes the gate workflow, renames it, or hides it behind a folder that the forge looks into first. */
  | 'removes_gate'
  | 'head_not_ready'
  /** One ahead of it brings more commits along than can be listed: nothing is planned on top of them. */
  | 'unlisted_ahead'
  /** Only a patch makes its commit, and the latest patch was given up: those beside it would wait for each of its tries. */
  | 'slow_patch'
  | 'out_of_time'
  | 'known_failure';

/** Cuts that end a batch and say nothing against the member at which it ends. */
const OF_BATCH: readonly CutReason[] = ['edits_gate', 'unlisted_ahead', 'out_of_time', 'known_failure'];

/** The member does not go along; those behind it may. */
export function isOfMember(reason: CutReason): boolean {
  return !OF_BATCH.includes(reason);
}

/** A success of the gate on a head whose tree is the staged one. */
export interface HeadRun {
  readonly sha: CommitSha;
  readonly runKey: string;
  readonly runUrl: string | null;
}

export interface FailedAction {
  readonly kind: 'failed';
  readonly forgeAnswers: boolean;
  /** Branch of the queue that a branch rule covers, which is why the forge refused. Absent: it was refused for something else. */
  readonly ruledBranch?: string;
  /** The forge refuses more than this one thing, as for want of a right, or over a quota. Absent: false. */
  readonly isRefused?: boolean;
}

export function isStaging(
  action: Action,
): action is Extract<Action, { readonly kind: 'stage_batch' | 'stage_tree' }> {
  return action.kind === 'stage_batch' || action.kind === 'stage_tree';
}

/** @property leavesWorkBranch - The staged commits count, and the work branch may stand: it has to be swept. */
export type ActionOutcome = KindOfOutcome & { readonly leavesWorkBranch?: true };

type KindOfOutcome =
  | {
      readonly kind: 'batch_staged';
      /** One entry per staged member, a prefix of the members asked for. */
      readonly chain: readonly Staged[];
      readonly gateKey: BlobId;
      /** Null: the base has none, and cannot be gated. */
      readonly baseGate: { readonly file: string; readonly id: BlobId } | null;
      readonly gateFile: string;
      /** The gate changed, or a file beside it, which it may call; absent: none did. */
      readonly editsGate?: true;
      /** Null when the last tree already has a verdict: nothing was published. */
      readonly published: { readonly sha: CommitSha } | null;
      /** Nothing was published although the last tree has no verdict: what comes on top of it is gated with it. */
      readonly sharesRun?: true;
      /** The verdict on the last tree, where the last member's own run has given it; absent: it has not. */
      readonly headRun?: HeadRun;
      /** Words for those that change the settings file; absent: none does, or the file is not read. */
      readonly settingsTold?: readonly SettingsTold[];
      readonly cut: { readonly index: number; readonly reason: CutReason } | null;
    }
  | { readonly kind: 'nothing_staged'; readonly cut: { readonly index: number; readonly reason: CutReason } }
  /** None of the first `members` has a gate workflow: the base has none, and they do not bring it. */
  | { readonly kind: 'gate_missing'; readonly members: number }
  | { readonly kind: 'base_moved' }
  /** A branch or tag of the repository makes our `branch` impossible. */
  | { readonly kind: 'name_in_the_way'; readonly ref: RefInTheWay; readonly branch: string }
  | { readonly kind: 'tree_staged'; readonly sha: CommitSha }
  | { readonly kind: 'schedule'; readonly found: 'scheduled' | 'lost' | 'unknown' }
  | { readonly kind: 'done' }
  | { readonly kind: 'gone' }
  /** The time was up before all was read that is needed; the next reconcile goes on from there. */
  | { readonly kind: 'unfinished' }
  /** The call failed; the wish stands and is tried again. `forgeAnswers`: others go well, so it may be what was asked. */
  | FailedAction;

export interface Decision {
  /** Record to store before the first action: every intent is durable before its effect (A5). */
  readonly record: QueueRecord;
  /** Batches that ended in this pass, with their last outcomes. */
  readonly closedBatches: readonly Batch[];
  readonly events: readonly DecidedEvent[];
  readonly actions: readonly Action[];
  /** The next look within this reconcile must read everything anew. */
  readonly refresh: boolean;
  /** Look again within this reconcile after this many ms; null = no need. */
  readonly pollMs: number | null;
  /** Earliest time at which something may change by itself; null = only an event or the tick. */
  readonly wakeAt: EpochMs | null;
  /** The part of `wakeAt` that is the queue's own plan: when the pipeline may take its next batch though nothing else happens. */
  readonly nextStartAt: EpochMs | null;
  /** First code that the pass reported, for the reconcile's outcome; null: nothing stands in the way. */
  readonly errorCode: ReconcileErrorCode | null;
  readonly alarms: readonly Alarm[];
  readonly log: readonly string[];
}

export interface Alarm {
  readonly name:
    | 'unverified_landing'
    | 'tree_mismatch'
    | 'foreign_status_writer'
    | 'base_red'
    | 'gate_phase_age'
    | 'success_stands';
  readonly pr: PullRequestNumber | null;
}
