import type { BatchOutcome, GateVerdict, MemberAction, Receipt } from '#core/domain/batch.ts';
import type { PullRequest } from '#core/domain/forge.ts';
import { asksForkForMergeRight } from '#core/domain/forge-version.ts';
import type { CommitSha, EpochMs, NodeRowId, PullRequestNumber } from '#core/domain/ids.ts';
import type { ReconcileErrorCode } from '#core/domain/repo.ts';
import { isForgeRun } from '#core/domain/status-gate.ts';
import type { Action, Alarm } from './actions.ts';
import { inFlightOf } from './batches/pipeline.ts';
import { canMove, isTerminal } from './batches/transitions.ts';
import { BASE_FANOUT } from './policy/auto-fanout.ts';
import { factorOf, withSignals } from './policy/forecast.ts';
import { runnersOf } from './policy/pace.ts';
import { goodChance, policyOf, type SpeculationPolicy } from './policy/policy.ts';
import { NO_HISTORY } from './policy/rate.ts';
import { cloneRecord } from './record/clone.ts';
import type { DecidedEvent } from './record/decided-event.ts';
import type { PendingStatus } from './record/pending-status.ts';
import { authored, type QueueEntry } from './record/queue-entry.ts';
import type { Batch, Node, QueueRecord } from './record/record.ts';
import type { Snapshot } from './snapshot.ts';

/** Everything one pass of `decide` works on: the snapshot, a draft of the record, and what comes of it. */
export interface DecisionContext {
  readonly s: Snapshot;
  readonly record: QueueRecord;
  readonly actions: Action[];
  readonly events: DecidedEvent[];
  readonly alarms: Alarm[];
  readonly log: string[];
  /** Verified tip when the pass began: a reading of the base says nothing about a later one. */
  readonly tipBefore: CommitSha | null;
  /** Pull requests that a batch spoke for when the pass began. */
  readonly inFlightBefore: ReadonlySet<PullRequestNumber>;
  /** Batches that ended in this pass: their rows are stored with the record that no longer holds them. */
  readonly closedBatches: Batch[];
  idsUsed: number;
  pollMs: number | null;
  /** When the pipeline may take its next batch though nothing else happens. */
  nextStartAt: EpochMs | null;
  refresh: boolean;
  /** A proven pull request only waits for the look that comes at once. */
  landsAtNextLook: boolean;
  wakeAt: EpochMs | null;
  errorCode: ReconcileErrorCode | null;
}

export function beginPass(s: Snapshot, record: QueueRecord): DecisionContext {
  return {
    s,
    record: cloneRecord(record),
    actions: [],
    events: [],
    alarms: [],
    log: [],
    tipBefore: record.tip,
    inFlightBefore: inFlightOf(record),
    closedBatches: [],
    idsUsed: 0,
    pollMs: null,
    nextStartAt: null,
    refresh: false,
    landsAtNextLook: false,
    wakeAt: null,
    errorCode: null,
  };
}

export function emitEvent(
  pass: DecisionContext,
  event: DecidedEvent['event'],
  subject: Pick<QueueEntry, 'pr' | 'head' | 'title' | 'author'>,
  reason: string | null = null,
  facts: Pick<DecidedEvent, 'scheduledAt'> = {},
): void {
  const { pr, head, title } = subject;
  pass.events.push({ event, pr, head, title, reason, ...authored(subject), ...facts });
  pass.log.push(`${event} #${subject.pr}${reason === null ? '' : ` ${reason}`}`);
}

/** Once per head, schedule and reason: it stands aside anew each time the base moves, and that is no news. */
export function tellRefusal(pass: DecisionContext, entry: QueueEntry, reason: string): void {
  if (entry.toldRefusals?.includes(reason) === true) return;
  entry.toldRefusals = [...(entry.toldRefusals ?? []), reason];
  emitEvent(pass, 'pr_refused', entry, reason);
}

export function wakeNoLaterThan(pass: DecisionContext, at: EpochMs): void {
  if (pass.wakeAt === null || at < pass.wakeAt) pass.wakeAt = at;
}

export function pollNoLaterThan(pass: DecisionContext, ms: number): void {
  if (pass.pollMs === null || ms < pass.pollMs) pass.pollMs = ms;
}

/** The first thing that stands in the way is what the outcome names. */
export function reportCode(pass: DecisionContext, code: ReconcileErrorCode): void {
  pass.errorCode ??= code;
}

/** The reasons why the queue cannot stage. A queue that is off stages nothing, and these must not hold up its wind-down. */
export function raiseStandstill(pass: DecisionContext, code: ReconcileErrorCode): void {
  if (pass.s.repo.queueEnabled) reportCode(pass, code);
}

/** A fresh UUID, or null when the pass has used its share: whatever needs it is done in the next pass. */
export function takeId(pass: DecisionContext): string | null {
  const id = pass.s.ids[pass.idsUsed];
  if (id === undefined) {
    pollNoLaterThan(pass, 0);
    return null;
  }
  pass.idsUsed += 1;
  return id;
}

export function policyFor(pass: DecisionContext): SpeculationPolicy {
  return pass.s.policy ?? policyOf(fanoutOf(pass));
}

/** Gate runs at once that the owner allows, or that the engine has chosen in their place (A28). */
export function fanoutOf({ record, s }: DecisionContext): number {
  const { fanoutAuto, bisectFanout } = s.repo;
  return fanoutAuto ? (record.autoFanout?.inForce ?? BASE_FANOUT) : bisectFanout;
}

/** Gate runs that may be out at once: what the owner allows (A28), and no more than the runners take. */
export function gateRunsMax(pass: DecisionContext): number {
  const fanout = fanoutOf(pass);
  if (!policyFor(pass).pieces.learning) return fanout;
  const { rate, runnersSeen = Number.POSITIVE_INFINITY } = pass.record;
  return Math.min(fanout, runnersOf(rate), runnersSeen);
}

/** Chance that a pull request is good, by what the repo has taught and what it has passed itself. */
export function chanceOfGood(pass: DecisionContext, subject: { readonly pr: PullRequestNumber }): number {
  const entry = entryOf(pass.record, subject.pr);
  return goodChance(policyFor(pass).pieces.learning ? pass.record.rate : NO_HISTORY, {
    passedOnStaleBase: entry?.passedOnStaleBase ?? false,
    failureProbability: entry?.failureProbability?.chance ?? null,
  });
}

/** The same with what was known of it before any gate run: it orders nothing and judges nothing, it only sizes. */
export function forecastOfGood(pass: DecisionContext, subject: { readonly pr: PullRequestNumber }): number {
  const good = chanceOfGood(pass, subject);
  const entry = entryOf(pass.record, subject.pr);
  const { forecast } = pass.record;
  const isKnown = entry === undefined || entry.passedOnStaleBase || entry.failureProbability !== null;
  if (isKnown || forecast === undefined || !policyFor(pass).pieces.forecasts) return good;
  return 1 - withSignals(1 - good, factorOf(forecast, entry.signals ?? []));
}

export function entryOf(record: QueueRecord, pr: PullRequestNumber): QueueEntry | undefined {
  return record.entries.find((entry) => entry.pr === pr);
}

/** For its receipt: who scheduled this head, and who approved it; nothing where that is not known. */
export function askersOf(
  record: QueueRecord,
  pr: PullRequestNumber,
  head: CommitSha,
): Pick<Receipt, 'scheduledBy' | 'approvedBy'> {
  const entry = entryOf(record, pr);
  const approvedBy = record.readings.find((each) => each.pr === pr && each.head === head)?.approvedBy;
  return {
    ...(entry?.head !== head || entry.scheduledBy === undefined ? {} : { scheduledBy: entry.scheduledBy }),
    ...(approvedBy === undefined ? {} : { approvedBy }),
  };
}

/** A retargeted pull request is merged by another base's rules, and into that base: no landing of ours, whatever its tree. */
export function isMergedHere(pass: DecisionContext, pull: PullRequest): boolean {
  return pull.merged && pull.baseRef === pass.s.repo.baseBranch;
}

/** Does this forge ask the fork whether who scheduled may merge (forge facts, 11)? Null: unknown. */
export function asksFork({ record }: DecisionContext): boolean | null {
  const version = record.forge?.version ?? null;
  return version === null ? null : asksForkForMergeRight(version);
}

/** Queues a status; a newer wish for the same head replaces an older one that was not written yet. */
export function wishStatus(pass: DecisionContext, status: Omit<PendingStatus, 'context'>): void {
  const { context, pendingStatuses } = pass.record;
  const isReplaced = (waiting: PendingStatus): boolean =>
    waiting.sha === status.sha && waiting.context === context;
  const entry = entryOf(pass.record, status.pr);
  if (entry?.head === status.sha)
    entry.said = { head: status.sha, state: status.state, description: status.description };
  const before = pendingStatuses.find((waiting) => isReplaced(waiting) && waiting.takesBack === true);
  pass.record.pendingStatuses = pendingStatuses.filter((waiting) => !isReplaced(waiting));
  pass.record.pendingStatuses.push({ ...status, context, ...(before === undefined ? {} : triesOf(before)) });
}

/** Other words in its place take the same success back, and the forge has failed on them as often. */
function triesOf(waiting: PendingStatus): Partial<PendingStatus> {
  const { pr, sha, context, state, description, targetUrl, ...tries } = waiting;
  return tries;
}

export function createNode(
  pass: DecisionContext,
  batch: Batch,
  spec: { readonly nodeId: string; readonly parent: Node | null; readonly from: number; readonly to: number },
): Node | null {
  const id = takeId(pass);
  if (id === null) return null;
  const node: Node = {
    id: id as NodeRowId,
    nodeId: spec.nodeId,
    parentNodeId: spec.parent?.nodeId ?? null,
    parentId: spec.parent?.id ?? null,
    from: spec.from,
    to: spec.to,
    attempt: 1,
    state: 'wanted',
    branch: null,
    sha: null,
    tree: null,
    verdict: 'none',
    gateSource: null,
    runKey: null,
    runUrl: null,
    runs: 0,
    outcome: 'running',
    terminalReason: null,
    actions: [],
    createdAt: pass.s.now,
    stagedAt: null,
    resolvedAt: null,
    retryAt: null,
    faults: 0,
    load: 1,
  };
  batch.nodes.push(node);
  return node;
}

/** Moves a node's outcome; an illegal move is a defect of `decide` and stops the reconcile. */
export function moveNode(pass: DecisionContext, node: Node, outcome: BatchOutcome): void {
  if (node.outcome === outcome) return;
  if (!canMove(node.outcome, outcome)) throw new Error(`illegal outcome move ${node.outcome} -> ${outcome}`);
  node.outcome = outcome;
  node.resolvedAt = outcome === 'running' ? null : pass.s.now;
}

/** The same, where an older outcome may stand: a failure that is held does not turn into a pass that is held. */
export function moveNodeIfLegal(pass: DecisionContext, node: Node, outcome: BatchOutcome): void {
  if (canMove(node.outcome, outcome)) moveNode(pass, node, outcome);
}

/** Ends a node for good: outcome, one durable action per member (A42), and its branch goes. */
export function resolveNode(
  pass: DecisionContext,
  batch: Batch,
  node: Node,
  outcome: BatchOutcome,
  terminalReason: string | null = null,
): void {
  if (isTerminal(node.outcome)) return;
  // A row that says "landed" says it with the receipt.
  if (
    outcome === 'success' &&
    (batch.untraced ?? []).some(({ index }) => node.from <= index && index < node.to)
  )
    return;
  moveNode(pass, node, outcome);
  node.terminalReason = terminalReason;
  node.actions = batch.members.slice(node.from, node.to).map((member, offset): MemberAction => {
    const cursor = node.from + offset;
    const base = { pr: member.pr, stagingSha: node.sha, gateVerdict: node.verdict as GateVerdict, cursor };
    const receipt = batch.receipts[cursor];
    // A superseded or split node speaks for no member: its members are decided elsewhere (A14, A26).
    const undecided = outcome === 'superseded' || outcome === 'bisected';
    if (!undecided && cursor < batch.landed) {
      return receipt === undefined
        ? { ...base, action: 'landed', reason: 'unverified' }
        : { ...base, action: 'landed', receipt };
    }
    const fate = undecided ? undefined : batch.fates.find((candidate) => candidate.pr === member.pr);
    return fate === undefined
      ? { ...base, action: 'requeued' }
      : { ...base, action: fate.action, reason: fate.reason };
  });
  retireNode(pass, node);
}

/** The node needs no gate run any more: one that goes on is cancelled, its branch is deleted once that is safe. */
export function retireNode(pass: DecisionContext, node: Node): void {
  const unfinished = node.state === 'gating';
  node.state = 'done';
  if (node.branch === null) return;
  const isGateRunSeen = node.runKey !== null;
  pass.record.garbage.push({
    branch: node.branch,
    notBefore: isGateRunSeen ? pass.s.now : (node.stagedAt ?? pass.s.now) + BRANCH_SETTLE_MS,
    runKey: unfinished && node.runKey !== null && isForgeRun(node.runKey) ? node.runKey : null,
  });
  node.branch = null;
}

/** A branch whose gate run is not visible yet is kept this long (D-65). */
const BRANCH_SETTLE_MS = 10_000;
