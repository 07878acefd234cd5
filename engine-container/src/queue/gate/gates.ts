import type { ForeignStatus } from '#core/domain/forge/status-gate.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import {
  CHANGED_GATE_END_FACTOR,
  CHANGED_GATE_END_MS,
  CHANGED_GATE_START_MS,
  GATE_CONTEXTS_SETTLE_MS,
  GATE_DEADLINE_ATTEMPTS_MAX,
  GATE_DEADLINE_FACTOR,
  GATE_JOBS_SETTLE_MS,
  GATE_PHASE_ALARM_AGE_MS,
  GATE_RETRY_BACKOFF_MS,
  WAKE_DELAY_MS_MIN,
} from '#core/domain/limits.ts';
import { defer } from '../batches/defer.ts';
import { startTeardown } from '../batches/end-batch.ts';
import { createNode, resolveNode, retireNode } from '../batches/nodes.ts';
import { activeMembers, batchBelow } from '../batches/pipeline.ts';
import { deferWithBackoff, judgeOneByOne } from '../batches/staging-failure.ts';
import { type DecisionContext, reportCode, wakeNoLaterThan } from '../decision-context.ts';
import { countDuration, gateMsOf } from '../policy/pace.ts';
import { countGateRun } from '../policy/policy.ts';
import { countBegun, noteRunners } from '../policy/runners-seen.ts';
import type { Evidence } from '../record/evidence-state.ts';
import { BASE_NODE_ID, type Batch, type Node, treeOf } from '../record/record.ts';
import type { GateView } from '../snapshot.ts';
import { addEvidence } from './evidence.ts';
import { deadlineAt, gateDeadlineMs, withGateTime } from './gate-deadline.ts';
import { noteFoundVerdict } from './gate-looks.ts';
import { noteRunnerWait, runSince, waitsForRunner } from './runner-wait.ts';

/** A gate run that the forge cannot read, while it reads the base, is ended after this where no deadline is known. */
const UNREAD_GATE_WAIT_MS = 20 * 60_000;

type StartedGate = Extract<GateView, { kind: 'running' | 'finished' }>;
type AwaitedGate = Extract<GateView, { kind: 'none' | 'running' }>;
type FinishedGate = Extract<GateView, { kind: 'finished' }>;
type JudgedGate = FinishedGate & Pick<Evidence, 'verdict'>;
/** A node whose gate run is out. */
type GatedNode = Node & { readonly sha: CommitSha; readonly tree: TreeHash };

/** Reads the verdicts of finished gate runs into the evidence. Cancelled and broken ones are no member's fault (A22, D-07). */
export function observeGates(pass: DecisionContext): void {
  const begunBefore = countBegun(pass.record);
  for (const batch of pass.record.batches) {
    for (const node of batch.nodes) if (isGated(node)) observeGate(pass, batch, node);
  }
  noteRunners(pass, begunBefore);
}

function isGated(node: Node): node is GatedNode {
  return node.state === 'gating' && node.sha !== null && node.tree !== null;
}

function observeGate(pass: DecisionContext, batch: Batch, node: GatedNode): void {
  const reading = pass.s.gates.get(node.id);
  if (reading === undefined) return;
  if (!reading.known) return outwaitUnreadGate(pass, batch, node);
  delete node.unreadSince;
  const gate = reading.value;
  if (gate.kind === 'finished') return heedFinishedGate(pass, batch, node, gate);
  if (gate.foreign !== undefined) tellForeign(pass, node, gate.foreign);
  if (gate.kind === 'branch_gone' || gate.kind === 'run_gone')
    return stageLostAnew(pass, batch, node, gate.kind);
  outwaitGate(pass, batch, node, gate);
}

/** Waits for a gate run that has not ended, or not begun, until its deadline is over. */
function outwaitGate(pass: DecisionContext, batch: Batch, node: Node, gate: AwaitedGate): void {
  if (gate.kind === 'running')
    noteRunnerWait(node, gate.waitsForRunner === true, pass.s.now, gate.runnerLabels);
  const reason = judgeChangedGate(pass, batch, node, gate.kind);
  const isOverdue = reason === null && awaitDeadline(pass, batch, node);
  // Perhaps seen for the first time: its row links to it all the same.
  if (gate.kind === 'running' && (reason !== null || isOverdue)) linkRun(node, gate);
  if (reason !== null) return giveUp(pass, batch, reason);
  if (isOverdue) return endOverdue(pass, batch, node, gate);
  if (gate.kind === 'none') return noticeMissingGateRun(pass, node);
  if (gate.settlesInMs !== undefined) wakeNoLaterThan(pass, pass.s.now + gate.settlesInMs);
  awaitSettled(pass, node, gate);
}

/** A branch or a gate run that was deleted on the forge: no verdict comes. */
function stageLostAnew(
  pass: DecisionContext,
  batch: Batch,
  node: Node,
  kind: 'branch_gone' | 'run_gone',
): void {
  pass.log.push(
    kind === 'run_gone'
      ? `gate run ${node.runKey ?? 'of ours'} on ${node.branch} is gone: staged anew`
      : `${node.branch} is gone and no gate run has begun on it: staged anew`,
  );
  node.verdict = 'cancelled';
  retryNode(pass, batch, node);
}

/** A failure counts at once; a success once nothing more is to be expected that may still fail. */
function heedFinishedGate(pass: DecisionContext, batch: Batch, node: GatedNode, gate: FinishedGate): void {
  const isSettled = awaitSettled(pass, node, gate);
  const isNews = gate.isOpenEnded !== true || node.settledSince === pass.s.now;
  if (isNews && isJudged(gate)) noteFoundVerdict(pass);
  if (gate.verdict === 'success' && !isSettled) return;
  node.verdict = gate.verdict;
  if (gate.isSkipped === true && isOfChangedGate(batch, node)) return giveUp(pass, batch, 'gate_not_started');
  if (!isJudged(gate)) return retryNode(pass, batch, node);
  concludeNode(pass, batch, node, gate);
}

function isJudged(gate: FinishedGate): gate is JudgedGate {
  return gate.verdict === 'success' || gate.verdict === 'failure';
}

/** The verdict becomes evidence of the tree; what it teaches is learned once, however often it is read. */
function concludeNode(pass: DecisionContext, batch: Batch, node: GatedNode, run: JudgedGate): void {
  const { record, s } = pass;
  const { sha, tree } = node;
  const { verdict, runId: runKey, url: runUrl } = run;
  const gate = node.nodeId === BASE_NODE_ID ? batch.baseGateKey : batch.gateKey;
  if (gate === null) return;
  const isNew = addEvidence(record, { tree, gate, verdict, runKey, runUrl, sha, at: s.now });
  if (isNew) learnDuration(pass, node);
  if (isNew && verdict === 'success') countSuccess(pass, batch, node.to, gate);
  node.judgedAt = s.now;
  node.state = 'done';
  retireNode(pass, node);
}

function learnDuration({ record, s }: DecisionContext, node: Node): void {
  const since = runSince(node);
  if (since !== null) record.gateTimes = withGateTime(record, s.now - since);
  // With the wait for a runner: that runs wait is how the number of runners shows.
  if (node.stagedAt !== null) record.rate = countDuration(record.rate, node.load, s.now - node.stagedAt);
}

/** A status of an account that may not answer for the gate counts for nothing; while a verdict is awaited it is told. */
function tellForeign(pass: DecisionContext, node: Node, { context, author }: ForeignStatus): void {
  pass.log.push(
    `${author} posted ${context} on ${node.sha}: not an author of the gate, so it does not count`,
  );
  reportCode(pass, 'foreign_gate_status');
}

/**
 * Keeps which gate run it is. True once nothing has come for a while to what answers so far, where more may still answer; until
 * then the next look comes with it.
 */
function awaitSettled(pass: DecisionContext, node: Node, run: StartedGate): boolean {
  const isSettled = run.isOpenEnded !== true || awaitQuiet(pass, node, run);
  // A job that was told late has begun, or waits for a runner: the next pass has to stand anew.
  if (run.kind === 'running' && run.isOpenEnded !== true) delete node.settledSince;
  linkRun(node, run);
  return isSettled;
}

/** The row of the node names this gate run from now on. */
function linkRun(node: Node, { runId, url }: Pick<StartedGate, 'runId' | 'url'>): void {
  node.runKey = runId;
  node.runUrl = url;
}

function awaitQuiet(pass: DecisionContext, node: Node, { runId, unanswered }: StartedGate): boolean {
  if (node.runKey !== runId) node.settledSince = pass.s.now;
  node.settledSince ??= pass.s.now;
  const settleMs = unanswered === undefined ? GATE_JOBS_SETTLE_MS : GATE_CONTEXTS_SETTLE_MS;
  const until = node.settledSince + settleMs;
  if (until > pass.s.now) wakeNoLaterThan(pass, until);
  return until <= pass.s.now;
}

/** A success, and with it each failure of a tree that it contains: that failure was a flake. */
function countSuccess(pass: DecisionContext, batch: Batch, length: number, gate: string): void {
  const { record } = pass;
  const contained = new Set<string | undefined>();
  let upTo = length;
  for (let at: Batch | undefined = batch; at !== undefined; ) {
    for (let each = at.landed; each <= upTo; each += 1) contained.add(treeOf(at, each));
    at = batchBelow(record, at);
    upTo = at?.members.length ?? 0;
  }
  let flakes = 0;
  record.evidence = record.evidence.map((entry) => {
    const isFlake =
      entry.verdict === 'failure' &&
      entry.flake === undefined &&
      entry.gate === gate &&
      contained.has(entry.tree);
    if (!isFlake) return entry;
    flakes += 1;
    return { ...entry, flake: true };
  });
  record.rate = countGateRun(countGateRun(record.rate, 'steady'), 'flaked', flakes);
}

/** A gate run that is late is waited for; it costs nothing but time (D-06, A20). */
function noticeMissingGateRun(pass: DecisionContext, node: Node): void {
  const age = pass.s.now - (node.stagedAt ?? pass.s.now);
  if (age >= GATE_PHASE_ALARM_AGE_MS) pass.alarms.push({ name: 'gate_phase_age', pr: null });
}

/** True once the deadline of the run is over; until then the next look comes with it. */
function awaitDeadline(pass: DecisionContext, batch: Batch, node: Node): boolean {
  // A landing rests on what has passed already: it is not taken back for what has not.
  const deadlineMs = batch.landing === null ? gateDeadlineMs(pass.s.repo, pass.record) : null;
  if (deadlineMs === null) return false;
  const at = deadlineAt(node, deadlineMs, pass.s.now);
  if (at > pass.s.now) wakeNoLaterThan(pass, at);
  return at <= pass.s.now;
}

/**
 * The forge answers for the base and not for this gate run. After its deadline, or some minutes and usual gate durations where
 * none is known, it is staged anew. Where no gate run can be read the forge is given time as a whole, and an owner who wants
 * no deadline is only alarmed.
 */
function outwaitUnreadGate(pass: DecisionContext, batch: Batch, node: Node): void {
  const { record, s } = pass;
  const readings = [...s.gates.values()];
  const isOfThisOne = readings.length === 1 || readings.some(({ known }) => known);
  if (!s.base.known || !isOfThisOne || batch.landing !== null) {
    delete node.unreadSince;
    return;
  }
  node.unreadSince ??= s.now;
  const usualMs = Math.max(UNREAD_GATE_WAIT_MS, GATE_DEADLINE_FACTOR * (gateMsOf(record.rate) ?? 0));
  const until = node.unreadSince + (gateDeadlineMs(s.repo, record) ?? usualMs);
  if (s.now < until) return wakeNoLaterThan(pass, until);
  pass.alarms.push({ name: 'gate_phase_age', pr: null });
  if (s.repo.gateTimeoutMinutes === 0) return;
  pass.log.push(`the gate run on ${node.branch} cannot be read: staged anew`);
  node.verdict = 'error';
  retryNode(pass, batch, node, 'gate_timeout');
}

/** Staged anew once, which also ends the attempt; then each member is judged in a batch of its own. It is no member's fault. */
function endOverdue(pass: DecisionContext, batch: Batch, node: Node, gate: GateView): void {
  const unanswered = gate.unanswered ?? [];
  const what = gate.kind === 'running' ? 'did not end' : 'did not begin';
  pass.log.push(
    `the gate on ${node.branch} ${what} within its deadline${unanswered.length === 0 ? '' : `; no answer under ${unanswered.join(', ')}`}`,
  );
  node.verdict = 'error';
  if (node.faults + 1 < GATE_DEADLINE_ATTEMPTS_MAX) return retryNode(pass, batch, node, 'gate_timeout');
  endWithoutVerdict(pass, batch, node, 'gate_timeout');
}

/** A gate run of a workflow that its own pull request changed, and on which no landing rests. */
function isOfChangedGate(batch: Batch, node: Node): boolean {
  return batch.editsGate === true && node.nodeId !== BASE_NODE_ID && batch.landing === null;
}

/** Why a gate workflow that its own pull request changed is not waited for any longer; null: it is. */
function judgeChangedGate(
  pass: DecisionContext,
  batch: Batch,
  node: Node,
  run: 'none' | 'running',
): 'gate_not_started' | 'gate_not_ended' | null {
  if (!isOfChangedGate(batch, node)) return null;
  // Nothing else can be gated before it has landed: what gate runs take here is not known.
  if (run === 'running' && batch.baseGateKey === null) return null;
  // The gate itself is the one of the base: once a runner has it, it is waited for as any run is.
  if (run === 'running' && batch.baseGateKey === batch.gateKey && !waitsForRunner(node)) return null;
  const { record, s } = pass;
  const endMs = Math.max(CHANGED_GATE_END_MS, CHANGED_GATE_END_FACTOR * (gateMsOf(record.rate) ?? 0));
  // Behind a run of ours it waits for the runner as any run does; else for one that its new label may not have.
  const waitsForOurs = record.runnersSeen !== undefined || !waitsForRunner(node);
  const times = waitsForOurs ? node : { stagedAt: node.stagedAt };
  const until =
    run === 'none' ? (node.stagedAt ?? s.now) + CHANGED_GATE_START_MS : deadlineAt(times, endMs, s.now);
  if (s.now >= until) return run === 'none' ? 'gate_not_started' : 'gate_not_ended';
  wakeNoLaterThan(pass, until);
  return null;
}

/** Set aside until its head changes or it is scheduled again: the base has nothing to do with it. */
function giveUp(pass: DecisionContext, batch: Batch, reason: 'gate_not_started' | 'gate_not_ended'): void {
  for (const member of batch.members) {
    batch.fates.push(defer(pass, member, { reason, baseTree: batch.groundTree, until: null }));
  }
  startTeardown(pass, batch, 'gate_given_up');
}

/** Gates the same members again under a new attempt and a new row, after a back-off; after the last one the batch ends without a verdict. */
function retryNode(pass: DecisionContext, batch: Batch, node: Node, reason = `gate_${node.verdict}`): void {
  const backoffMs = GATE_RETRY_BACKOFF_MS[node.faults];
  if (backoffMs === undefined) return endWithoutVerdict(pass, batch, node);
  const parent = batch.nodes.find((candidate) => candidate.id === node.parentId) ?? null;
  const again = createNode(pass, batch, { nodeId: node.nodeId, parent, from: node.from, to: node.to });
  if (again === null) return;
  again.attempt = node.attempt + 1;
  again.faults = node.faults + 1;
  again.retryAt = pass.s.now + backoffMs;
  resolveNode(pass, batch, node, 'error', reason);
}

/**
 * The CI breaks off one gate run after the other. Whether that is the CI or something in these changes is not known: each is judged in a
 * batch of its own, and one that is alone already is set aside, so that the others go on.
 */
function endWithoutVerdict(
  pass: DecisionContext,
  batch: Batch,
  node: Node,
  code: 'gate_infrastructure' | 'gate_timeout' = 'gate_infrastructure',
): void {
  // A landing rests on what has passed already: it ends first, and with it those that are proven behind it.
  if (batch.landing !== null) return wakeNoLaterThan(pass, pass.s.now + WAKE_DELAY_MS_MIN);
  const suspects = node.nodeId === BASE_NODE_ID ? [] : activeMembers(batch);
  reportCode(pass, code);
  const [only, ...others] = suspects;
  // Where no other waits there is nothing to hold up.
  const areOthersWaiting = pass.record.entries.some(({ pr }) => !suspects.some((member) => member.pr === pr));
  if (only !== undefined && others.length === 0 && areOthersWaiting)
    deferWithBackoff(pass, only, batch, 'runs_broken_off');
  if (others.length > 0) judgeOneByOne(pass, suspects);
  startTeardown(pass, batch, code);
}
