import type {
  BatchId,
  CommitSha,
  EpochMs,
  NodeRowId,
  PullRequestNumber,
  RepoId,
  TenantId,
  TreeHash,
} from '../ids.ts';

export const BATCH_OUTCOMES = [
  'running',
  'success',
  'bounced',
  'bisected',
  'error',
  'held_success',
  'held_failure',
  'superseded',
  'invalidated',
  'operational_error',
] as const;
export type BatchOutcome = (typeof BATCH_OUTCOMES)[number];

export const BATCH_PHASES = ['waiting_gate', 'waiting_merge'] as const;
export type BatchPhase = (typeof BATCH_PHASES)[number];

/** The durable end of one member of a batch (D-27). `landed` and `bounced` are terminal for the pull request. */
export const MEMBER_ACTIONS = ['landed', 'bounced', 'requeued', 'skipped', 'refused'] as const;
export type MemberActionKind = (typeof MEMBER_ACTIONS)[number];

export const GATE_VERDICTS = ['success', 'failure', 'cancelled', 'error', 'none'] as const;
export type GateVerdict = (typeof GATE_VERDICTS)[number];

/** Proof of one landing: what was proven, by which gate run, and the merge that carries exactly that tree (A2). */
export interface Receipt {
  readonly baseBefore: CommitSha;
  readonly head: CommitSha;
  /** Staged commit whose gate run proved the batch that this landing is part of; with `ofHead` the head that was judged. */
  readonly stagedSha: CommitSha;
  /** No gate run was started: one that a pull request's own head had, with exactly this tree, has proven it. */
  readonly ofHead?: boolean;
  /** Tree after this member, as staged and as landed. */
  readonly tree: TreeHash;
  /**
   * Tree that the gate run judged. Another one than `tree` means that `tree` is an exact prefix of it, which no gate run has judged
   * alone. Absent in receipts of before it was kept.
   */
  readonly gatedTree?: TreeHash;
  readonly runUrl: string | null;
  /** Login on the forge of who scheduled this head; absent: not known. */
  readonly scheduledBy?: string;
  /** Logins of those who had officially approved exactly this head; absent: no rule asked for reviews, or they are not known. */
  readonly approvedBy?: readonly string[];
  readonly mergeCommit: CommitSha;
  readonly landedAt: EpochMs;
}

export interface MemberAction {
  readonly pr: PullRequestNumber;
  readonly action: MemberActionKind;
  readonly stagingSha: CommitSha | null;
  readonly gateVerdict: GateVerdict;
  /** Position of the member in its root, from 0. */
  readonly cursor: number;
  readonly receipt?: Receipt;
  /** Fixed phrase that says why; safe to show. */
  readonly reason?: string;
}

/** One node of a bisection tree, as stored and shown (contract, Queue batch). */
export interface NodeRow {
  readonly id: NodeRowId;
  readonly tenantId: TenantId;
  readonly repoId: RepoId;
  readonly repoSlug: string;
  readonly instanceUrl: string;
  readonly parentId: NodeRowId | null;
  readonly batchId: BatchId;
  /** `r` for the root; children append `.1`, `.2` … left to right; `b` is the probe of the bare base. */
  readonly nodeId: string;
  readonly parentNodeId: string | null;
  readonly attempt: number;
  readonly stagingSha: CommitSha | null;
  readonly stagingTree: TreeHash | null;
  readonly stagingBranch: string | null;
  readonly gateVerdict: GateVerdict;
  readonly gateSource: 'cached' | null;
  readonly runUrl: string | null;
  /** Gate runs that were started for this node; absent in rows of before they were counted. */
  readonly gateRuns?: number;
  /** Requests to the forge for the batch of this root, and the bytes of their bodies and answers; absent where that is not known. */
  readonly forgeCalls?: number;
  readonly forgeBytes?: number;
  readonly prs: readonly PullRequestNumber[];
  readonly outcome: BatchOutcome;
  /** Null exactly when the outcome is not `running` (A43). */
  readonly phase: BatchPhase | null;
  /** Since when it is its turn to merge and nothing of it has; absent while others land before it. */
  readonly phaseSince?: EpochMs;
  readonly terminalReason: string | null;
  readonly actions: readonly MemberAction[];
  readonly createdAt: EpochMs;
  /** When its staged commit was published last; absent: not yet, or in rows of before it was kept. */
  readonly stagedAt?: EpochMs;
  /** When a pass or a failure of its gate was seen; absent: none was, or in rows of before it was kept. */
  readonly judgedAt?: EpochMs;
  /** Null exactly while the outcome is `running` (A43). */
  readonly resolvedAt: EpochMs | null;
}

/** A43 both ways: `resolvedAt` is null exactly while running, `phase` is null exactly when not. The store refuses others. */
export function hasHonestPhase(row: Pick<NodeRow, 'outcome' | 'phase' | 'resolvedAt'>): boolean {
  const running = row.outcome === 'running';
  return (row.resolvedAt === null) === running && (row.phase !== null) === running;
}

/** Outcomes of batches that nothing has decided yet: in flight, or held until their root is resolved. */
export const OPEN_OUTCOMES: readonly BatchOutcome[] = ['running', 'held_success', 'held_failure'];

/**
 * A batch that cannot be brought to its end any more, closed as just that: who has landed of it keeps the receipt, and the
 * others are in no batch. `reason` is a fixed phrase.
 */
export function closeRow(row: NodeRow, at: EpochMs, reason: string): NodeRow {
  const { stagingSha, gateVerdict } = row;
  const ended = { action: 'requeued', stagingSha, gateVerdict } as const;
  return {
    ...row,
    outcome: 'operational_error',
    phase: null,
    resolvedAt: at,
    terminalReason: reason,
    stagingBranch: null,
    actions: row.prs.map((pr, cursor) => landedOf(row, pr) ?? { pr, ...ended, cursor, reason }),
  };
}

function landedOf({ actions }: NodeRow, pr: PullRequestNumber): MemberAction | undefined {
  return actions.find((each) => each.pr === pr && each.action === 'landed');
}

export const ACTIVITY_EVENTS = [
  'pr_queued',
  'pr_refused',
  'pr_staged',
  'pr_landed',
  'pr_bounced',
  'pr_requeued',
  'pr_skipped',
] as const;
export type ActivityEventName = (typeof ACTIVITY_EVENTS)[number];

/** Each pull request keeps a mark of the newest such event. */
export function endsPullRequest({ event }: Pick<ActivityEvent, 'event'>): boolean {
  return event === 'pr_landed' || event === 'pr_bounced';
}

export interface ActivityEvent {
  readonly tenantId: TenantId;
  readonly repoId: RepoId;
  readonly repoSlug: string;
  readonly at: EpochMs;
  readonly event: ActivityEventName;
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly title: string;
  readonly reason: string | null;
  /** Login on the forge; absent: not known, or in events of before it was kept. */
  readonly author?: string;
  /** When it was scheduled, by the forge's clock; only of `pr_queued`, and absent in events of before it was kept. */
  readonly scheduledAt?: EpochMs;
}

/** As the store gives it of one repository. */
export interface OwnEvent extends ActivityEvent {
  /**
   * Sorts by what was stored first, whatever the clocks said. It begins anew after a record that was lost. Absent: not known.
   */
  readonly stored?: string;
}
