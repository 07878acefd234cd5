import { isSameGate, statusGateOf } from '#core/domain/forge/status-gate.ts';
import type { EpochMs } from '#core/domain/ids.ts';
import { LANDING_POLL_MS_MAX, RETEST_PAUSE_MS } from '#core/domain/limits.ts';
import { workBranch } from '#core/domain/queue/queue-names.ts';
import {
  type DecisionContext,
  emitEvent,
  entryOf,
  isMergedHere,
  pollNoLaterThan,
} from '../decision-context.ts';
import { forgetHeadEvidence, restsOnHead } from '../gate/own-run-evidence.ts';
import { isReplacedTip } from '../landing/landed.ts';
import { hasStopped, holdAt, isKeptFromLanding } from '../line/holds.ts';
import type { TakeBackReason } from '../record/landing-state.ts';
import { isBound } from '../record/queue-entry.ts';
import {
  type Batch,
  type Member,
  type QueueRecord,
  startOf,
  type Teardown,
  treeOf,
} from '../record/record.ts';
import type { RestCause } from '../record/stop-state.ts';
import { sayTakenBack } from '../words/last-word.ts';
import { resolveNode, retireNode } from './nodes.ts';
import { activeMembers, isWhole, landingOf } from './pipeline.ts';
import { isTerminal } from './transitions.ts';

/** Begins the end of batches that have lost their ground: a stop, a base moved by another writer, a member changed, the queue switched off (A23). */
export function tearDownGroundless(pass: DecisionContext): void {
  const { record, s } = pass;
  for (const batch of record.batches) {
    if (batch.teardown !== null) continue;
    const reason = lostGround(pass, batch);
    if (reason !== null) startTeardown(pass, batch, reason);
    else if (hasOtherGate(pass, batch)) startTeardown(pass, batch, 'gate_changed');
    else if (s.full) checkMembers(pass, batch);
  }
}

function hasOtherGate({ record, s }: DecisionContext, batch: Batch): boolean {
  if (!isSameGate(batch.statusGate ?? null, statusGateOf(s.repo))) return true;
  return !s.repo.reuseCi && restsOnHead(record, batch);
}

/** Why this batch may not go on; null: nothing is against it. */
export function lostGround(pass: DecisionContext, batch: Batch): Teardown | null {
  const { record, s } = pass;
  if (!s.repo.queueEnabled) return 'queue_disabled';
  if (hasStopped(record)) return 'base_advanced';
  const hold = holdAt(record, s.repo, s.now);
  if (activeMembers(batch).some(({ pr }) => isKeptFromLanding(hold, entryOf(record, pr))))
    return hold?.isArchived === true ? 'archived' : 'paused';
  if (record.context !== s.repo.statusContext) return 'context_changed';
  // While a merge is awaited the base may move by it; what was read before a landing of this pass is older than the tip.
  const baseSettled = landingOf(record) === null && record.tip === pass.tipBefore;
  return baseSettled && s.base.known && s.base.value.sha !== record.tip ? 'base_advanced' : null;
}

function checkMembers(pass: DecisionContext, batch: Batch): void {
  for (const member of activeMembers(batch)) {
    const entry = entryOf(pass.record, member.pr);
    if (entry !== undefined && entry.head === member.head && isBound(entry) && entry.refusedFor === null) {
      continue;
    }
    if (batch.landing?.pr === member.pr && isMerged(pass, member.pr)) continue;
    if (entry === undefined) batch.fates.push({ pr: member.pr, action: 'skipped', reason: 'left_the_queue' });
    else if (entry.refusedFor !== null)
      batch.fates.push({ pr: member.pr, action: 'refused', reason: entry.refusedFor });
    startTeardown(pass, batch, 'candidate_changed');
  }
}

function isMerged(pass: DecisionContext, pr: number): boolean {
  const focus = pass.s.focus.get(pr);
  return focus?.known === true && isMergedHere(pass, focus.value.pull);
}

/** Begins to tear a batch down. A posted `success` is taken back first and given a grace period to show a late merge. */
export function startTeardown(pass: DecisionContext, batch: Batch, reason: Teardown): void {
  batch.teardown ??= reason;
  const { landing } = batch;
  if (landing === null || landing.takeBack !== null) return;
  const words: TakeBackReason = isTakeBackReason(reason) ? reason : 'candidate_changed';
  landing.takeBack = { reason: words, postedAt: null };
  sayTakenBack(pass, landing, words);
}

export function isTakeBackReason(reason: Teardown): reason is TakeBackReason {
  return (
    reason !== 'gate_missing' &&
    reason !== 'gate_infrastructure' &&
    reason !== 'gate_given_up' &&
    reason !== 'gate_timeout'
  );
}

const TEARDOWN_OUTCOMES = {
  merge_timeout: 'error',
  merge_conflict: 'error',
  gate_missing: 'error',
  gate_infrastructure: 'operational_error',
  gate_given_up: 'error',
  gate_timeout: 'error',
  staging_failed: 'operational_error',
  base_advanced: 'invalidated',
  merge_blocked: 'invalidated',
  candidate_changed: 'invalidated',
  queue_disabled: 'invalidated',
  paused: 'invalidated',
  archived: 'invalidated',
  overtaken: 'invalidated',
  context_changed: 'invalidated',
  gate_changed: 'invalidated',
  own_run_lost: 'invalidated',
} as const satisfies Record<Teardown, string>;

export function isTeardown(reason: unknown): reason is Teardown {
  return typeof reason === 'string' && Object.hasOwn(TEARDOWN_OUTCOMES, reason);
}

/** Ends the batches that are torn down once nothing posted is left, those that have nothing more to do, and what stood on them. */
export function closeBatches(pass: DecisionContext): void {
  for (const batch of [...pass.record.batches]) {
    // One that stood on another may have ended with it.
    if (!pass.record.batches.includes(batch) || batch.landing !== null) continue;
    const isFinished = batch.chain.length > 0 && startOf(batch) >= batch.limit && isIdle(batch);
    if ((batch.teardown !== null || isFinished) && (batch.untraced ?? []).length > 0) {
      // Its landings are traced before its rows end.
      pollNoLaterThan(pass, pass.s.traces === undefined ? 0 : LANDING_POLL_MS_MAX);
    } else if (batch.teardown !== null) closeTornDown(pass, batch, batch.teardown);
    else if (isFinished) closeFinished(pass, batch);
    else if (batch.place === 'pipeline' && batch.chain.length > 0 && !isWhole(batch))
      supersedeAbove(pass, batch);
  }
  if (pass.record.batches.length === 0) pass.record.tip = null;
}

function closeTornDown(pass: DecisionContext, batch: Batch, teardown: Teardown): void {
  supersedeAbove(pass, batch);
  for (const node of batch.nodes) {
    if (node.to > 0 && node.to <= batch.landed) resolveNode(pass, batch, node, 'success');
    else resolveNode(pass, batch, node, TEARDOWN_OUTCOMES[teardown], teardown);
  }
  if (teardown === 'gate_infrastructure' || teardown === 'gate_timeout') beginRest(pass, teardown);
  for (const member of batch.members.slice(startOf(batch))) {
    const leaves = batch.fates.some((fate) => fate.pr === member.pr && fate.action !== 'requeued');
    // A head that moved was announced when it moved; who was let go of before is in other hands.
    const moved = entryOf(pass.record, member.pr)?.head !== member.head;
    const elsewhere = pass.record.batches.some(
      (other) => other !== batch && activeMembers(other).some((each) => each.pr === member.pr),
    );
    if (!leaves && !moved && !elsewhere)
      emitEvent(pass, 'pr_requeued', member, whyRequeued(batch, member, teardown));
  }
  endBatch(pass, batch);
}

/** It is no fault of a pull request, and is given time. */
export function beginRest({ record, s }: DecisionContext, cause: RestCause): void {
  record.restsUntil = s.now + RETEST_PAUSE_MS;
  record.restsFor = cause;
}

/** The failure of one member is no reason that holds of the others. */
function whyRequeued({ fates }: Batch, { pr }: Member, teardown: Teardown): Teardown | undefined {
  if (teardown !== 'staging_failed') return teardown;
  return fates.some((fate) => fate.pr === pr && fate.reason === teardown) ? teardown : undefined;
}

function closeFinished(pass: DecisionContext, batch: Batch): void {
  if (batch.landed < batch.members.length) supersedeAbove(pass, batch);
  for (const node of batch.nodes) {
    if (isTerminal(node.outcome)) continue;
    if (node.to <= batch.landed) resolveNode(pass, batch, node, 'success');
    // Proven, but the base has moved by our own landings: it goes on in another batch.
    else if (node.to <= batch.released) resolveNode(pass, batch, node, 'invalidated', 'passed_on_stale_base');
    // Some of it landed by the proof of a batch that is gone since: the row tells who.
    else if (node.from < batch.landed) resolveNode(pass, batch, node, 'invalidated', 'candidate_changed');
    else resolveNode(pass, batch, node, 'superseded');
  }
  endBatch(pass, batch);
}

/** A batch on one that does not land whole was built on nothing; its members keep their order. */
export function supersedeAbove(pass: DecisionContext, below: Batch): void {
  for (const batch of [...pass.record.batches]) {
    if (batch.stagedOn !== below.batchId) continue;
    supersedeAbove(pass, batch);
    for (const node of batch.nodes) resolveNode(pass, batch, node, 'superseded');
    endBatch(pass, batch);
  }
}

/** When its tip was verified: by its latest landing, or by the look that it was begun with. */
function verifiedAt({ receipts, untraced, createdAt }: Batch): EpochMs {
  return untraced?.at(-1)?.receipt.landedAt ?? receipts.at(-1)?.landedAt ?? createdAt;
}

/** Clocks of engines differ: a tip that our landing replaced was seen before it, whatever time was written down. */
function seenBefore(record: QueueRecord, verified: EpochMs): boolean {
  const { sha, at = 0 } = record.baseSeen ?? {};
  return at <= verified || (sha !== undefined && isReplacedTip(record, sha, { now: at }));
}

/** A batch leaves the record; what stood on it stands on the base now, which has exactly its last tree. */
function endBatch(pass: DecisionContext, batch: Batch): void {
  const { record } = pass;
  pass.closedBatches.push(batch);
  forgetHeadEvidence(record, batch);
  // The tip that this batch verified is most likely what the next look finds, unless the base was seen to move since.
  const tree = treeOf(batch, batch.landed);
  const isNewest = seenBefore(record, verifiedAt(batch));
  if (
    record.halted === null &&
    tree !== undefined &&
    batch.tip === record.tip &&
    batch.stagedOn === null &&
    isNewest
  )
    record.baseSeen = { ...record.baseSeen, sha: batch.tip, tree, at: pass.s.now };
  // Its gate run judged what it stands on as well.
  const { unprovenBase } = record;
  if (batch.landed > 0 && unprovenBase !== undefined && batch.createdAt >= unprovenBase.at)
    delete record.unprovenBase;
  sweepWorkBranch(pass, batch);
  record.batches = record.batches.filter((other) => other !== batch);
  for (const above of record.batches) {
    if (above.stagedOn !== batch.batchId) continue;
    above.stagedOn = null;
    above.tip = batch.tip;
    if (above.chain.length === 0) above.groundSha = batch.tip;
  }
  pass.refresh = true;
  pollNoLaterThan(pass, 0);
}

/** Removes a batch that was never built, with what stands on it: no row, no blame, every member keeps its place. */
export function dissolve(pass: DecisionContext, batch: Batch): void {
  supersedeAbove(pass, batch);
  // An earlier attempt may have made its branch, and died before it could say so.
  if (batch.builds > 1) for (const node of batch.nodes) retireNode(pass, node);
  sweepWorkBranch(pass, batch);
  pass.record.batches = pass.record.batches.filter((other) => other !== batch);
  if (pass.record.batches.length === 0) pass.record.tip = null;
  pass.refresh = true;
}

/** A gate run beyond the limit does not keep a batch open; one at or below it could still prove something. */
function isIdle(batch: Batch): boolean {
  return !batch.nodes.some(
    (node) => node.state !== 'done' && node.to > startOf(batch) && node.to <= batch.limit,
  );
}

/** Takes a member out of this batch for now, with everything behind it: the limit falls to what stands before it. */
export function cutBatchAt(batch: Batch, index: number): void {
  batch.limit = Math.min(batch.limit, index);
}

/** Where a batch is built: no push on it starts the gate (E22). */
export function workBranchOf({ s }: DecisionContext, batch: Batch): string {
  return workBranch(s.queueName, s.repo.baseBranch, batch.batchId.slice(0, 8));
}

/** A batch that ends before it was built, or was built anew, may have left a work branch where the engine died or failed. */
function sweepWorkBranch(pass: DecisionContext, batch: Batch): void {
  if (batch.chain.length > 0 && batch.builds === 1) return;
  const branch = workBranchOf(pass, batch);
  pass.record.garbage.push({ branch, notBefore: pass.s.now, runKey: null });
}
