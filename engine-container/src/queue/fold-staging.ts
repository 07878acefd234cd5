import type { EpochMs, TreeHash } from '#core/domain/ids.ts';
import { CONTRADICTED_REFUSAL_MS } from '#core/domain/limits.ts';
import { isMergeRefusal } from '#core/domain/pulls/merge-refusal.ts';
import type { Action, ActionOutcome, CutReason, StageBatch } from './actions.ts';
import { defer } from './batches/defer.ts';
import { dissolve, startTeardown } from './batches/end-batch.ts';
import { answerFromEvidence } from './batches/nodes.ts';
import { findNode, inFlightOf, treesAhead } from './batches/pipeline.ts';
import { deferWithBackoff, judgeOneByOne } from './batches/staging-failure.ts';
import { type DecisionContext, emitEvent, entryOf, reportCode } from './decision-context.ts';
import { addEvidence, verdictOfPrefix } from './gate/evidence.ts';
import { describeWanted, noteMissingGate } from './gate/missing-gate.ts';
import { countRunStarted } from './policy/fanout-choice.ts';
import { fanoutOf } from './policy/in-force.ts';
import type { DeferReason } from './record/deferral.ts';
import type { Batch, Member, Node } from './record/record.ts';
import { noteSettings } from './words/settings-words.ts';

/** A pull request whose head the base repository does not hold yet is looked at again after this. */
const HEAD_COPY_WAIT_MS = 30_000;
const HEAD_COPY_WAIT_MS_MAX = 10 * 60_000;
const GATE_FILE_WAIT_MS = 5 * 60_000;

/** A batch that was staged, in whole or in part, or why it was not. */
export function foldBatch(pass: DecisionContext, action: StageBatch, outcome: ActionOutcome): void {
  if (outcome.kind === 'name_in_the_way') noticeNameInTheWay(pass, action, outcome);
  const found = findNode(pass.record, action.nodeRow);
  if (found === null || found.batch.batchId !== action.batchId) return;
  const { batch, node } = found;
  if (outcome.kind === 'name_in_the_way') return dissolve(pass, batch);
  if (outcome.kind === 'base_moved') {
    pass.record.doubtedTip = action.groundSha;
    return dissolve(pass, batch);
  }
  if (outcome.kind === 'gate_missing') return deferWithoutGate(pass, batch, node, outcome.members);
  if (outcome.kind === 'nothing_staged') {
    splitOffSlow(pass, batch, outcome.cut);
    deferCut(pass, batch, outcome.cut, batch.stagedOn === null ? null : batch.groundTree);
    return dissolve(pass, batch);
  }
  if (outcome.kind === 'batch_staged') foldStaged(pass, batch, node, outcome);
}

type BatchStaged = Extract<ActionOutcome, { kind: 'batch_staged' }>;

function foldStaged(pass: DecisionContext, batch: Batch, node: Node, outcome: BatchStaged): void {
  splitOffSlow(pass, batch, outcome.cut);
  const last = outcome.chain.at(-1);
  const shared = outcome.sharesRun === true && last !== undefined ? outcome.cut : null;
  // Next come those behind it: it waits until they are decided.
  if (shared !== null && last !== undefined) deferCut(pass, batch, shared, last.tree);
  adoptChain(pass, batch, node, outcome);
  if (shared !== null) {
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
    countPublished(pass, node);
    return;
  }
  const verdict = verdictOfPrefix(pass.record, batch, node.to);
  const evidence = verdict.proof ?? verdict.failures.at(-1);
  node.state = 'done';
  node.branch = null;
  if (evidence !== undefined) answerFromEvidence(node, evidence);
}

/** From now on it is tried alone, on top of no other, in turn with the others. */
function splitOffSlow(pass: DecisionContext, batch: Batch, cut: BatchStaged['cut']): void {
  if (cut?.reason === 'slow_patch') judgeOneByOne(pass, batch.members.slice(cut.index, cut.index + 1));
}

/** The staged commits, of a prefix of the members that were asked for. */
function adoptChain(pass: DecisionContext, batch: Batch, node: Node, outcome: BatchStaged): void {
  const { chain, gateKey, baseGate, gateFile } = outcome;
  batch.members = batch.members.slice(0, chain.length);
  batch.limit = batch.members.length;
  batch.chain = [...chain];
  batch.gateKey = gateKey;
  batch.baseGateKey = baseGate?.id ?? null;
  batch.baseGateFile = baseGate?.file ?? null;
  batch.gateFile = gateFile;
  noteChangedGate(pass, batch, outcome);
  // A batch that brings the gate does not show that the base has it, and neither does one on top of that.
  if (baseGate !== null && batch.stagedOn === null) delete pass.record.gateMissing;
  node.to = batch.members.length;
  node.tree = chain.at(-1)?.tree ?? null;
  node.stagedAt = pass.s.now;
  delete pass.record.setAsideInARow;
  delete pass.record.stagingFailuresInARow;
  for (const member of batch.members) {
    const entry = entryOf(pass.record, member.pr);
    delete entry?.stagingTries;
    delete entry?.refusedBefore;
    emitEvent(pass, 'pr_staged', member);
  }
  noteSettings(pass, batch, outcome.settingsTold);
}

/**
 * A batch that changes the gate is judged by the gate that it brings, which may never answer. It is tried beside the pipeline until
 * it has passed once, so that no other waits for it (D-18).
 */
function noteChangedGate({ record }: DecisionContext, batch: Batch, { editsGate }: BatchStaged): void {
  if (editsGate === undefined) return;
  batch.editsGate = true;
  const [only] = batch.members;
  const hasPassed = record.entries.some((entry) => entry.pr === only?.pr && entry.passedOnStaleBase);
  if (batch.place === 'pipeline' && !hasPassed) batch.place = 'trial';
}

/** No pull request is at fault: the person who looks after the repository is told what is in the way, in fixed phrases. */
function noticeNameInTheWay(
  pass: DecisionContext,
  action: StageBatch | StageTree,
  { ref, branch }: Extract<ActionOutcome, { kind: 'name_in_the_way' }>,
): void {
  pass.record.nameInTheWay = { kind: ref.kind, branches: [...new Set([action.branch, action.workBranch])] };
  const isBelow = ref.name.startsWith(`${branch}/`);
  pass.log.push(`a ${ref.kind} ${isBelow ? `below ${branch}` : ref.name} is in the way of ${branch}`);
  reportCode(pass, 'branch_name_taken');
}

/** Cuts for which the member is set aside under another name, or not at all: each other one is a reason of its own. */
const OTHER_NAMES = {
  unlisted_ahead: 'not_on_batch',
  edits_gate: null,
  slow_patch: null,
  out_of_time: null,
  known_failure: null,
} as const satisfies Partial<Record<CutReason, DeferReason | null>>;

function hasOtherName(reason: CutReason): reason is keyof typeof OTHER_NAMES {
  return Object.hasOwn(OTHER_NAMES, reason);
}

/** Refusals that hold of a pull request whatever it is staged on. */
const OF_ITSELF: readonly DeferReason[] = [
  'head_not_ready',
  'removes_gate',
  'name_not_utf8',
  'unrelated_history',
];

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
  const onBase: DeferReason | null = hasOtherName(cut.reason) ? OTHER_NAMES[cut.reason] : cut.reason;
  // On top of a batch that is in flight it says only that the two do not go together.
  const isRelative = onBase !== null && !OF_ITSELF.includes(onBase);
  const mayGoOnBase = isRelative || cut.reason === 'slow_patch';
  const reason = ahead !== null && mayGoOnBase ? reasonOnBatch(cut.reason) : onBase;
  if (member === undefined || reason === null) return;
  if (reason === 'head_not_ready') {
    noteNotReady(pass, member);
    if (isHeadOverdue(pass, member)) return deferWithBackoff(pass, member, batch);
  }
  const until = lookAgainAt(pass, batch, member, reason);
  defer(pass, member, { reason, baseTree: ahead ?? batch.groundTree, until });
}

/** It may conflict with the base too; that is found out once its turn comes. */
function reasonOnBatch(reason: CutReason): DeferReason {
  return reason === 'conflict' ? 'conflict_ahead' : 'not_on_batch';
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
    pull?.mergeable === true && pull.headSha === member.head && pull.baseTip === batch.groundSha;
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

/** Sets members aside on a base without a gate. One of those behind them may bring the gate: it is tried next. */
function deferWithoutGate(pass: DecisionContext, batch: Batch, node: Node, members: number): void {
  reportCode(pass, 'gate_missing');
  const gate = describeWanted(pass, batch.statusGate ?? null);
  noteMissingGate(pass, gate);
  for (const member of batch.members.slice(0, members)) {
    defer(pass, member, {
      reason: 'gate_missing',
      baseTree: batch.groundTree,
      until: pass.s.now + GATE_FILE_WAIT_MS,
      gate,
    });
  }
  node.branch = null;
  node.state = 'done';
  startTeardown(pass, batch, 'gate_missing');
}

type StageTree = Extract<Action, { kind: 'stage_tree' }>;

/** A prefix that was published for a gate run of its own. */
export function foldNode(pass: DecisionContext, action: StageTree, outcome: ActionOutcome): void {
  const found = findNode(pass.record, action.nodeRow);
  if (found === null || found.node.state !== 'wanted') return;
  const { node } = found;
  if (outcome.kind === 'name_in_the_way') {
    node.branch = null;
    return noticeNameInTheWay(pass, action, outcome);
  }
  if (outcome.kind === 'base_moved') {
    // The queue's own landing moved it, or another writer did: the next look tells which.
    pass.record.doubtedTip = action.groundSha;
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
  countPublished(pass, node);
}

/** A commit that is pushed is gated. A node of before gate runs were counted stays uncounted: half a count is none. */
function countPublished({ record }: DecisionContext, node: Node): void {
  countRunStarted(record);
  if (node.runs !== undefined) node.runs += 1;
}
