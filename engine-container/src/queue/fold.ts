import type { EpochMs, TreeHash } from '#core/domain/ids.ts';
import { CONTRADICTED_REFUSAL_MS, SCHEDULE_PROBES_MAX } from '#core/domain/limits.ts';
import { isMergeRefusal } from '#core/domain/merge-refusal.ts';
import type { Action, ActionOutcome, CutReason } from './actions.ts';
import { defer, dissolve, startTeardown } from './batches/batch.ts';
import { LATE_EFFECT_MS, sweepLate } from './batches/late-branches.ts';
import { answerFromEvidence } from './batches/nodes.ts';
import { findNode, inFlightOf, landingOf, treesAhead } from './batches/pipeline.ts';
import { noteSettings } from './batches/settings-notes.ts';
import { countStagingFailure, countUnfinished, deferWithBackoff } from './batches/staging-failure.ts';
import { beginPass, type DecisionContext, emitEvent, entryOf, reportCode } from './decision-context.ts';
import { addEvidence, verdictOfPrefix } from './gate/evidence.ts';
import { countPostFailure, type PostStatus } from './landing/post-failure.ts';
import { noteRun } from './policy/fanout-choice.ts';
import { fanoutOf } from './policy/in-force.ts';
import type { DeferReason } from './record/aside.ts';
import type { Batch, Member, Node, QueueRecord } from './record/record.ts';
import type { Snapshot } from './snapshot.ts';

/** A pull request whose head the base repository does not hold yet is looked at again after this. */
const HEAD_COPY_WAIT_MS = 30_000;
const HEAD_COPY_WAIT_MS_MAX = 10 * 60_000;
const GATE_FILE_WAIT_MS = 5 * 60_000;

/** The outcome of an action, written into the record. Pure, like `decide`; `at` is when the outcome was known. */
export function fold(
  s: Snapshot,
  record: QueueRecord,
  action: Action,
  outcome: ActionOutcome,
  at: EpochMs,
): DecisionContext {
  const pass = beginPass({ ...s, now: at }, record);
  if (outcome.kind === 'unfinished') {
    countUnfinished(pass, action);
    return pass;
  }
  if (outcome.kind === 'failed') {
    foldFailure(pass, action, outcome.forgeAnswers);
    if (outcome.forgeAnswers) countStagingFailure(pass, action);
    return pass;
  }
  switch (action.kind) {
    case 'stage_batch':
      foldBatch(pass, action, outcome);
      break;
    case 'stage_tree':
      foldNode(pass, action, outcome);
      break;
    case 'post_status':
      foldStatus(pass, action, outcome);
      break;
    case 'probe_schedule':
      foldProbe(pass, action, outcome);
      break;
    case 'delete_branch':
      // An entry that is not due yet speaks of a call that may still create the branch again.
      pass.record.garbage = pass.record.garbage.filter(
        (garbage) => garbage.branch !== action.branch || garbage.notBefore > at,
      );
      break;
    case 'cancel_gate_run':
      pass.record.garbage = pass.record.garbage.map((garbage) =>
        garbage.branch === action.branch ? { ...garbage, runKey: null } : garbage,
      );
      break;
  }
  return pass;
}

function foldFailure(pass: DecisionContext, action: Action, forgeAnswers: boolean): void {
  if (action.kind === 'delete_branch') return reserveName(pass, action.branch);
  if (action.kind === 'probe_schedule' && forgeAnswers) return countProbeFailure(pass, action);
  if (action.kind === 'post_status' && action.purpose === 'landing') return noteUnanswered(pass, action);
  if (action.kind === 'post_status') return countPostFailure(pass, action, forgeAnswers);
  const isStaging = action.kind === 'stage_batch' || action.kind === 'stage_tree';
  if (isStaging) sweepLate(pass, [action.branch, action.workBranch]);
}

/** It was sent just now at the latest, and may be carried out for as long as any. */
function noteUnanswered({ record, s }: DecisionContext, { sha }: PostStatus): void {
  const landing = landingOf(record);
  if (landing?.head === sha) landing.askedAt = s.now;
}

/** A deletion that may still be carried out must not meet a new branch of that name: until then the name is taken. */
function reserveName({ record, s }: DecisionContext, branch: string): void {
  const notBefore = s.now + LATE_EFFECT_MS;
  record.garbage = record.garbage.map((each) =>
    each.branch === branch && each.notBefore < notBefore ? { ...each, notBefore } : each,
  );
}

type StageBatch = Extract<Action, { kind: 'stage_batch' }>;

function foldBatch(pass: DecisionContext, action: StageBatch, outcome: ActionOutcome): void {
  if (outcome.kind === 'name_in_the_way') noticeNameInTheWay(pass, action, outcome);
  const found = findNode(pass.record, action.nodeRow);
  if (found === null || found.batch.batchId !== action.batchId) return;
  const { batch, node } = found;
  if (outcome.kind === 'name_in_the_way') return dissolve(pass, batch);
  if (outcome.kind === 'base_moved') return dissolve(pass, batch);
  if (outcome.kind === 'gate_missing') return deferWithoutGate(pass, batch, node, outcome.members);
  if (outcome.kind === 'nothing_staged') {
    deferCut(pass, batch, outcome.cut, batch.stagedOn === null ? null : batch.baseTree);
    return dissolve(pass, batch);
  }
  if (outcome.kind !== 'batch_staged') return;
  const last = outcome.chain.at(-1);
  const isShared = outcome.sharesRun === true && last !== undefined && outcome.cut !== null;
  // Next come those behind it: it waits until they are decided.
  if (isShared && outcome.cut !== null) deferCut(pass, batch, outcome.cut, last.tree);
  batch.members = batch.members.slice(0, outcome.chain.length);
  batch.limit = batch.members.length;
  batch.chain = [...outcome.chain];
  batch.gateKey = outcome.gateKey;
  batch.baseGateKey = outcome.baseGate?.id ?? null;
  batch.baseGateFile = outcome.baseGate?.file ?? null;
  batch.gateFile = outcome.gateFile;
  judgeAlone(pass, batch, outcome);
  node.to = batch.members.length;
  node.tree = last?.tree ?? null;
  node.stagedAt = pass.s.now;
  delete pass.record.setAsideInARow;
  delete pass.record.stagingFailuresInARow;
  for (const member of batch.members) {
    delete entryOf(pass.record, member.pr)?.stagingTries;
    emitEvent(pass, 'pr_staged', member);
  }
  noteSettings(pass, batch, outcome.settingsTold);
  if (isShared) {
    batch.sharesRun = true;
    node.branch = null;
    pass.refresh = true;
    return;
  }
  // More batches may be built on this one.
  if (fanoutOf(pass) > 1 && pass.record.entries.length > inFlightOf(pass.record).size) pass.refresh = true;
  if (outcome.headRun !== undefined && last !== undefined) {
    const verdict = { tree: last.tree, gate: outcome.gateKey, verdict: 'success', ofHead: true } as const;
    addEvidence(pass.record, { ...verdict, ...outcome.headRun, at: pass.s.now });
  }
  if (outcome.published !== null) {
    node.sha = outcome.published.sha;
    node.state = 'gating';
    countStartedRun(pass, node);
    return;
  }
  const verdict = verdictOfPrefix(pass.record, batch, node.to);
  const evidence = verdict.proof ?? verdict.failures.at(-1);
  node.state = 'done';
  node.branch = null;
  if (evidence !== undefined) answerFromEvidence(node, evidence);
}

/**
 * Its own judge, which may never speak: it is tried beside the pipeline, so that no other waits for it, until it has
 * passed once (D-18).
 */
function judgeAlone(
  { record }: DecisionContext,
  batch: Batch,
  { baseGate, gateKey, gateFile }: Extract<ActionOutcome, { kind: 'batch_staged' }>,
): void {
  if (baseGate?.id === gateKey && baseGate.file === gateFile) return;
  batch.editsGate = true;
  const [only] = batch.members;
  const hasPassed = record.entries.some((entry) => entry.pr === only?.pr && entry.passedOnStaleBase);
  if (batch.place === 'pipeline' && !hasPassed) batch.place = 'trial';
}

/** No pull request is at fault: the person who looks after the repository is told what is in the way, in fixed phrases. */
function noticeNameInTheWay(
  pass: DecisionContext,
  action: StageBatch | StageNode,
  { ref, branch }: Extract<ActionOutcome, { kind: 'name_in_the_way' }>,
): void {
  pass.record.nameInTheWay = { kind: ref.kind, branches: [...new Set([action.branch, action.workBranch])] };
  const isBelow = ref.name.startsWith(`${branch}/`);
  pass.log.push(`a ${ref.kind} ${isBelow ? `below ${branch}` : ref.name} is in the way of ${branch}`);
  reportCode(pass, 'branch_name_taken');
}

const CUT_REASONS: Readonly<Record<CutReason, DeferReason | null>> = {
  conflict: 'conflict',
  criss_cross: 'criss_cross',
  merge_unsure: 'merge_unsure',
  directory_renamed: 'directory_renamed',
  merge_rules: 'merge_rules',
  file_too_large: 'file_too_large',
  name_not_utf8: 'name_not_utf8',
  base_name_not_utf8: 'base_name_not_utf8',
  suspect_ahead: 'suspect_ahead',
  no_changes: 'no_changes',
  removes_gate: 'removes_gate',
  head_not_ready: 'head_not_ready',
  edits_gate: null,
  out_of_time: null,
  known_failure: null,
};

/** Refusals that hold of a pull request whatever it is staged on. */
const OF_ITSELF: readonly DeferReason[] = ['head_not_ready', 'removes_gate', 'name_not_utf8'];

/**
 * The member itself could not be staged. On the bare base it waits for the base or its own head to move; on top of the tree of
 * what is in flight, until that is decided.
 */
function deferCut(
  pass: DecisionContext,
  batch: Batch,
  cut: { readonly index: number; readonly reason: CutReason },
  ahead: TreeHash | null,
): void {
  const member = batch.members[cut.index];
  if (cut.reason === 'suspect_ahead' && member !== undefined) {
    const [suspects] = treesAhead(pass.record, member.pr);
    if (suspects !== undefined)
      defer(pass, member, { reason: 'suspect_ahead', baseTree: suspects, until: null });
    return;
  }
  const onBase = CUT_REASONS[cut.reason];
  // On top of a batch that is in flight it only says that these two do not go together.
  const isRelative = onBase !== null && !OF_ITSELF.includes(onBase);
  const reason = ahead !== null && isRelative ? 'conflict_ahead' : onBase;
  if (member === undefined || reason === null) return;
  if (reason === 'head_not_ready') noteNotReady(pass, member);
  if (reason === 'head_not_ready' && isHeadOverdue(pass, member))
    return deferWithBackoff(pass, member, batch);
  const until = lookAgainAt(pass, batch, member, reason);
  defer(pass, member, { reason, baseTree: ahead ?? batch.baseTree, until });
}

/** A refusal that the forge contradicts may be a mistake of ours: it does not stand for ever. */
function lookAgainAt(
  pass: DecisionContext,
  batch: Batch,
  member: Member,
  reason: DeferReason,
): EpochMs | null {
  const { now, pulls } = pass.s;
  if (reason === 'head_not_ready') return now + HEAD_COPY_WAIT_MS;
  const pull = pulls.known ? pulls.value.find((view) => view.pull.number === member.pr)?.pull : undefined;
  const isContradicted =
    pull?.mergeable === true && pull.headSha === member.head && pull.baseTip === batch.baseSha;
  return isContradicted && isMergeRefusal(reason) ? now + CONTRADICTED_REFUSAL_MS : null;
}

/** The forge has said for minutes that it does not have what it shows as the head: it is not copying any more. */
function isHeadOverdue({ record, s }: DecisionContext, { pr, head }: Member): boolean {
  const notReady = entryOf(record, pr)?.notReady;
  return notReady?.head === head && s.now - notReady.since >= HEAD_COPY_WAIT_MS_MAX;
}

function noteNotReady({ record, s }: DecisionContext, { pr, head }: Member): void {
  const entry = entryOf(record, pr);
  if (entry?.head === head && entry.notReady?.head !== head) entry.notReady = { head, since: s.now };
}

/** One of those behind them may bring the gate: it is tried next. */
function deferWithoutGate(pass: DecisionContext, batch: Batch, node: Node, members: number): void {
  reportCode(pass, 'gate_missing');
  for (const member of batch.members.slice(0, members)) {
    defer(pass, member, {
      reason: 'gate_missing',
      baseTree: batch.baseTree,
      until: pass.s.now + GATE_FILE_WAIT_MS,
    });
  }
  node.branch = null;
  node.state = 'done';
  startTeardown(pass, batch, 'gate_missing');
}

type StageNode = Extract<Action, { kind: 'stage_tree' }>;

function foldNode(pass: DecisionContext, action: StageNode, outcome: ActionOutcome): void {
  const found = findNode(pass.record, action.nodeRow);
  if (found === null || found.node.state !== 'wanted') return;
  const { node } = found;
  if (outcome.kind === 'name_in_the_way') {
    node.branch = null;
    return noticeNameInTheWay(pass, action, outcome);
  }
  if (outcome.kind === 'base_moved') {
    // The queue's own landing moved it, or another writer did: the next look tells which.
    node.branch = null;
    pass.refresh = true;
    return;
  }
  if (outcome.kind !== 'tree_staged') return;
  node.sha = outcome.sha;
  node.tree = action.tree;
  node.state = 'gating';
  node.stagedAt = pass.s.now;
  node.retryAt = null;
  countStartedRun(pass, node);
}

/** A commit that is pushed is gated. A node of before gate runs were counted stays uncounted: half a count is none. */
function countStartedRun({ record }: DecisionContext, node: Node): void {
  noteRun(record);
  if (node.runs !== undefined) node.runs += 1;
}

type ProbeSchedule = Extract<Action, { kind: 'probe_schedule' }>;

function foldProbe(pass: DecisionContext, action: ProbeSchedule, outcome: ActionOutcome): void {
  const landing = landingOf(pass.record);
  if (outcome.kind !== 'schedule' || landing?.pr !== action.pr || landing.takeBack === null) return;
  landing.takeBack.schedule = outcome.found;
}

/** Some forges fail on the question itself: then the answer is unknown, and the landing ends without it. */
function countProbeFailure(pass: DecisionContext, action: ProbeSchedule): void {
  const takeBack = landingOf(pass.record)?.takeBack;
  if (landingOf(pass.record)?.pr !== action.pr || takeBack == null) return;
  takeBack.probeFailures = (takeBack.probeFailures ?? 0) + 1;
  if (takeBack.probeFailures >= SCHEDULE_PROBES_MAX) takeBack.schedule = 'unknown';
}

function foldStatus(pass: DecisionContext, action: PostStatus, outcome: ActionOutcome): void {
  const { record } = pass;
  if (action.purpose === 'landing') {
    const landing = landingOf(pass.record);
    if (landing === null || landing.head !== action.sha || outcome.kind !== 'done') return;
    landing.askedAt = pass.s.now;
    landing.postedAt ??= pass.s.now;
    landing.answered = (landing.answered ?? 0) + 1;
    return;
  }
  record.pendingStatuses = record.pendingStatuses.filter(
    (waiting) =>
      waiting.sha !== action.sha ||
      waiting.context !== action.context ||
      waiting.description !== action.description,
  );
  const landing = landingOf(pass.record);
  if (landing?.takeBack != null && landing.head === action.sha) landing.takeBack.postedAt ??= pass.s.now;
}
