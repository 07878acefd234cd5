import type { ForgeVersion } from '#core/domain/forge/forge-version.ts';
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
import type {
  BatchOutcome,
  GateVerdict,
  MemberAction,
  MemberActionKind,
  Receipt,
} from '#core/domain/queue/batch.ts';
import type { Signal } from '#core/domain/queue/forecast.ts';
import type { SettingsSeen } from '#core/domain/repos/settings-file.ts';
import type { HookSeen } from '#core/domain/set-up/hook-seen.ts';
import type { RuleSeen } from '#core/domain/set-up/provisioning.ts';
import type { PullRequestReading } from '../admission/readings.ts';
import type { FirstLooks } from '../landing/landing-pace.ts';
import { NO_HISTORY } from '../policy/rate.ts';
import type { Deferred } from './deferral.ts';
import type { EngineClock } from './engine-clock.ts';
import type { Evidence } from './evidence-state.ts';
import type { GateLooks, MissingGate, RunnerWait } from './gate-looks-state.ts';
import type { GivenUp, Landing, TakeBackReason } from './landing-state.ts';
import type { Learned } from './learned-state.ts';
import type { OutsideMove, Outsider } from './merged-outside-state.ts';
import type { PendingStatus, UnheardPost } from './pending-status.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { Recalling } from './recall-state.ts';
import type { Halt, Rest, Rival } from './stop-state.ts';
import type { Bounced, HeadAttempts, MergeTimeoutCount } from './tried-heads-state.ts';

/**
 * The queue record: bookkeeping of one repo, kept by the lease holder and never authoritative (contract, Queue execution
 * model, 8). Losing it costs time and gate runs, never safety: the forge is read again and everything is proven again (A32).
 */
export interface QueueRecord extends Learned, Recalling, Rest {
  readonly schema: 2;
  /** Status context that everything below was posted under. */
  context: string;
  /** True until one look at the forge was taken: statuses of unknown origin are checked first. */
  rebuilding: boolean;
  /** Pull requests whose timeline or statuses that look could not read: not staged before they are read. Absent: none. */
  unread?: readonly PullRequestNumber[];
  entries: QueueEntry[];
  /** Batches in flight: the pipeline bottom first, each on the one before, then those beside it. */
  batches: Batch[];
  /** Verified tip of the base while batches are in flight: what was read first, or our latest landing. */
  tip: CommitSha | null;
  evidence: Evidence[];
  /** Native merge time-outs per exact head (A21). */
  mergeTimeoutCounts: MergeTimeoutCount[];
  /** Removed for cause: not staged again until the head or the schedule changes (D-05, A37). */
  bounced: Bounced[];
  /** Kept where the settings limit the attempts of one head; absent: none. */
  attempts?: readonly HeadAttempts[];
  /** Authors of those staged last, in lower case; absent: no author crowds the line. */
  turns?: readonly string[];
  /** When others were last noted in line beside a crowd; absent: not lately. */
  othersAt?: EpochMs;
  /** Never changed in place (`deferralsOf`). */
  deferred: readonly Deferred[];
  /** Statuses still to be written; survives a crash, drained before anything else lands on the same head. */
  pendingStatuses: PendingStatus[];
  /** Branches of resolved nodes. */
  garbage: GarbageBranch[];
  /** Set when a landed tree was not the proven one: nothing more lands until a person switches the queue on again. */
  halted: Halt | null;
  /** Pull requests that another queue merged: nothing is staged until a person switches this one on again. Absent: none. */
  rival?: Rival;
  /** Since when the forge shows the repository as archived; absent: it does not. */
  archivedSince?: EpochMs;
  /** The known timeline and reviews of each open pull request, so that an unchanged one is not read again. */
  readings: PullRequestReading[];
  /** Base tip last read and its tree; `at` is since when it is known, `isGuarded` that only the queue could open a merge while it was. */
  baseSeen: (Ground & { readonly at?: EpochMs; readonly isGuarded?: true }) | null;
  /** The tip to which the base was moved past the queue, and since when it is known; absent: what is on it is proven. */
  unprovenBase?: { readonly sha: CommitSha; readonly at: EpochMs };
  /** The tip on which staging failed last, or met another one: a list that shows it is not believed. Absent: none. */
  doubtedTip?: CommitSha;
  /** The rule of the base, no matter who wrote it; absent: never seen. */
  rule?: RuleSeen;
  /** The hook that wakes it; absent: never looked at. */
  hook?: HookSeen;
  /** The settings file of the base; absent: never read, or not asked for. */
  settingsSeen?: SettingsSeen;
  /** Pull requests set aside since something was staged last; absent: none. */
  setAsideInARow?: number;
  /** Pull requests that failed alone for the first time since then; absent: none. */
  stagingFailuresInARow?: number;
  /** The latest batch is one that staging had failed with: the others have the next turn. Absent: it is not. */
  stagedAlone?: boolean;
  /** How long the latest gate runs took, ms, oldest first; absent: none ended since this is kept. */
  gateTimes?: readonly number[];
  /** Since when a reading of some pull request fails; absent: none does. */
  unreadSince?: EpochMs;
  /** A reference that makes a branch of ours impossible: nothing is staged until it is gone. Absent: nothing does. */
  nameInTheWay?: NameInTheWay;
  /** Branch of the queue that a branch rule covers: nothing is staged until that rule is gone. Absent: none does. */
  ruledBranch?: string;
  /** Each try to stage since `since` was refused by the forge, the latest at `at`. Absent: the latest was not. */
  stagingRefused?: { readonly since: EpochMs; readonly at: EpochMs };
  /** The id that the forge gave the repository; absent: never seen. */
  repoId?: number;
  /** Which forge this is; absent until it was asked. */
  forge?: KnownForge;
  /** A move of the base without the queue, while it is looked for who was merged; absent: nothing did. */
  outsideMove?: OutsideMove;
  /** Told to be merged outside the queue in the last minutes, oldest first; absent: none. */
  outside?: readonly Outsider[];
  /** Our landings of the last minutes, oldest first; absent: none. */
  landed?: readonly LandedHead[];
  /** Who landed by this queue or merged along with a landing, oldest first, whenever that was: a merge is read again when the base is pushed back, or for a twin. Absent: none. */
  landedNumbers?: readonly PullRequestNumber[];
  /** Landings that ended without a merge in the last hour, oldest first; absent: none. */
  givenUp?: readonly GivenUp[];
  /** The last full look had no room for all that were to enter, or for all that was to be said. Absent: it had. */
  hasLeftOut?: true;
  /** Polls of gates whose verdict an event tells of; absent: never one was. */
  gateLooks?: GateLooks;
  /** Until a batch is staged on a base that has it; absent: none is missed. */
  gateMissing?: MissingGate;
  /** Heads on which a `success` may still appear that was posted long ago; absent: none. */
  unheard?: readonly UnheardPost[];
  /** The engine that stored this, and its clocks when it began to look; absent: an older version did. */
  storedBy?: EngineClock;
}

export interface LandedHead {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  /** Tip of the base that the landing replaced. */
  readonly baseBefore: CommitSha;
  /** Absent in records of before it was kept. */
  readonly merge?: CommitSha;
  readonly at: EpochMs;
}

export interface NameInTheWay {
  readonly kind: 'branch' | 'tag';
  /** Branches that could not be made. */
  readonly branches: readonly string[];
  /** It is taken for the base, so that the forge merges nothing. */
  readonly isNamesake?: true;
}

/** Null version: it names none that we can read. */
export interface KnownForge {
  readonly version: ForgeVersion | null;
  readonly readAt: EpochMs;
}

export interface Member {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly scheduleId: number;
  readonly title: string;
  /** As in `QueueEntry`, and whether it had passed on an older base, when its batch was opened. */
  readonly author?: string;
  readonly signals?: readonly Signal[];
  readonly passedBefore?: boolean;
}

/** A commit that something is staged on, and its tree. */
export interface Ground {
  readonly sha: CommitSha;
  readonly tree: TreeHash;
}

/** A commit of a chain, which is the ground of the next one. */
export type Staged = Ground;

/**
 * `pipeline`: lands next, or stands on one that does. `suspect`: failed, and is searched off the pipeline. `trial`:
 * tried on the base beside the pipeline, because nothing more may stand on a pipeline so likely to fail.
 */
export type Place = 'pipeline' | 'suspect' | 'trial';

/** One batch and its bisection tree. Prefix length i has the tree `trees(i)`: T0 = `groundTree`, Ti = `chain[i-1].tree`. */
export interface Batch {
  readonly batchId: BatchId;
  place: Place;
  /** The batch of the pipeline whose last staged commit this one is built on; null = it stands on the base. */
  stagedOn: BatchId | null;
  members: Member[];
  /** Commit it is built on: a tip of the base, or the last staged commit of the batch below. */
  groundSha: CommitSha;
  readonly groundTree: TreeHash;
  /** Times that staging was begun. */
  builds: number;
  /** Empty until staged; then one entry per member. */
  chain: Staged[];
  /** Commit statuses judge it, not a workflow of the forge. Absent: the workflow does. */
  statusGate?: StatusGate;
  /** Half of the evidence key: blob of the gate file in all trees of the chain, or a hash of what a gate by statuses asks and tells. */
  gateKey: BlobId | null;
  /** The same file in the base tree; null when the base has none, which then cannot be probed. */
  baseGateKey: BlobId | null;
  gateFile: string | null;
  /** Its name in the base tree; absent in records of before a batch could rename it. */
  baseGateFile?: string | null;
  /** Members landed and verified, a prefix. */
  landed: number;
  /** Members, a prefix, that passed here on a base which has moved since: they are in the queue again. */
  released: number;
  /** One per landed member, in order. */
  receipts: Receipt[];
  /** Landings whose trees are proven and whose ancestry is not read yet; absent: none. */
  untraced?: readonly Untraced[];
  /** How members leave it otherwise than by landing, and why. One that has none here goes back to the queue without a reason. */
  fates: Fate[];
  /** The commit below the rest of it: `groundSha`, or the merge commit of the last landed member, here or in the batch below. */
  tip: CommitSha;
  /** Members up to here can still land in this batch; lowered by a bounce, a deferral or a flake. */
  limit: number;
  /** Its one member changes the gate workflow, or a file beside it, and with it its own judge (D-18). */
  editsGate?: true;
  /** It ended at a member that did not go along: the run of what comes on top speaks for it. Absent: it has its own. */
  sharesRun?: true;
  /** Attempts to build it that failed while the forge was otherwise well; absent: none. */
  stagingFailures?: number;
  /** It failed when it was longer: what is left of it is not tried twice. */
  isHalved?: true;
  /** Reconciles that ended before all was read that it needs; absent: none. */
  unfinished?: number;
  nodes: Node[];
  landing: Landing | null;
  /** Since when it is its turn to land, or when it last got on; absent before. */
  turnAt?: EpochMs;
  /** Absent before the first merge. */
  firstLooks?: FirstLooks;
  /** Since when the next member is not mergeable; null while it is or nothing waits. */
  unmergeableSince: EpochMs | null;
  /** Since when the next member cannot be read; null or absent while it can. */
  unreadableSince?: EpochMs | null;
  /** The batch is being torn down for this reason, once nothing posted is left. */
  teardown: Teardown | null;
  readonly createdAt: EpochMs;
}

/** A landing whose tree is proven. Several are traced to the verified tip in one read, at the latest before the batch ends (A2). */
export interface Untraced {
  readonly index: number;
  readonly receipt: Receipt;
}

/** Node that probes the bare base before a member is blamed on it (D-09, A35). */
export const BASE_NODE_ID = 'b';

/** One gate run and the interval (from, to] of the batch's members it speaks for. The bare base has from = to = 0. */
export interface Node {
  readonly id: NodeRowId;
  readonly nodeId: string;
  readonly parentNodeId: string | null;
  readonly parentId: NodeRowId | null;
  readonly from: number;
  to: number;
  attempt: number;
  /** `wanted` is staged next, `gating` waits for its gate run, `done` has its verdict (or needs none). */
  state: 'wanted' | 'gating' | 'done';
  branch: string | null;
  sha: CommitSha | null;
  tree: TreeHash | null;
  verdict: GateVerdict;
  gateSource: 'cached' | null;
  runKey: string | null;
  runUrl: string | null;
  /** Since when nothing has come to what its pattern of contexts, or the statuses of its jobs, show; absent: it has not passed yet. */
  settledSince?: EpochMs;
  /** Gate runs that were started for it; absent in records of before they were counted. */
  runs?: number;
  outcome: BatchOutcome;
  terminalReason: string | null;
  actions: MemberAction[];
  readonly createdAt: EpochMs;
  stagedAt: EpochMs | null;
  /** When a verdict of its gate was first seen; absent: none was, or it is of before that was kept. */
  judgedAt?: EpochMs;
  /** Absent: its gate run was not seen to begin. */
  runnerWait?: RunnerWait;
  /** Since when its gate run cannot be read while the base can; absent: it was read last, or not asked for. */
  unreadSince?: EpochMs;
  resolvedAt: EpochMs | null;
  /** Not staged before this time; null = at once. */
  retryAt: EpochMs | null;
  /** Attempts of this node that ended in infrastructure trouble. */
  faults: number;
  /** Attempts to publish it that failed while the forge was otherwise well; absent: none. */
  stagingFailures?: number;
  /** Gate runs that were out when its own began, itself included. */
  load: number;
}

export interface Fate {
  readonly pr: PullRequestNumber;
  readonly action: MemberActionKind;
  readonly reason: string;
}

export type Teardown =
  | TakeBackReason
  | 'gate_missing'
  | 'gate_infrastructure'
  | 'gate_given_up'
  | 'gate_timeout';

export interface GarbageBranch {
  readonly branch: string;
  /** A branch deleted before its gate run is visible kills that run in a way that looks like a failure (D-65). */
  readonly notBefore: EpochMs;
  readonly runKey: string | null;
}

export function emptyRecord(context: string): QueueRecord {
  return {
    schema: 2,
    context,
    rebuilding: true,
    entries: [],
    batches: [],
    tip: null,
    evidence: [],
    mergeTimeoutCounts: [],
    bounced: [],
    deferred: [],
    pendingStatuses: [],
    garbage: [],
    halted: null,
    restsUntil: null,
    readings: [],
    baseSeen: null,
    rate: NO_HISTORY,
  };
}

/** Tree of the prefix of length i. */
export function treeOf(batch: Batch, length: number): TreeHash | undefined {
  return length === 0 ? batch.groundTree : batch.chain[length - 1]?.tree;
}

/** Members before this one have landed or are back in the queue. */
export function startOf(batch: Batch): number {
  return Math.max(batch.landed, batch.released);
}
