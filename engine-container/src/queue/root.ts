import type { EpochMs } from '#core/domain/ids.ts';
import { LANDING_POLL_MAX_MS, RETEST_PAUSE_MS } from '#core/domain/limits.ts';
import { workBranch } from '#core/domain/queue-names.ts';
import type { Deferred } from './aside.ts';
import {
  type DecisionContext,
  emitEvent,
  entryOf,
  isMergedHere,
  pollNoLaterThan,
  resolveNode,
  retireNode,
  tellRefusal,
  wishStatus,
} from './decision-context.ts';
import { blamesHead, sayDeferred } from './deferral-words.ts';
import { describeRevoke } from './describe.ts';
import { isReplacedTip } from './landed.ts';
import type { RevokeReason } from './landing-state.ts';
import { activeMembers, isWhole, startOf } from './pipeline.ts';
import { type Fate, type QueueRecord, type Root, type Teardown, treeOf } from './record.ts';
import { isTerminal } from './transitions.ts';

/** Which batches have lost their ground: base moved by another writer, a member changed, the queue switched off (A23)? */
export function checkGround(pass: DecisionContext): void {
  const { record, s } = pass;
  const reason = lostGround(pass);
  for (const root of record.roots) {
    if (root.teardown !== null) continue;
    if (reason !== null) startTeardown(pass, root, reason);
    else if (s.full) checkMembers(pass, root);
  }
}

function lostGround(pass: DecisionContext): Teardown | null {
  const { record, s } = pass;
  if (!s.repo.queueEnabled) return 'queue_disabled';
  if (record.context !== s.repo.statusContext) return 'context_changed';
  // While a merge is awaited the base may move by it; what was read before a landing of this pass is older than the tip.
  const landing = record.roots.some((root) => root.landing !== null);
  const baseSettled = !landing && record.tip === pass.tipBefore;
  return baseSettled && s.base.known && s.base.value.sha !== record.tip ? 'base_advanced' : null;
}

function checkMembers(pass: DecisionContext, root: Root): void {
  for (const member of activeMembers(root)) {
    const entry = entryOf(pass.record, member.pr);
    if (
      entry !== undefined &&
      entry.head === member.head &&
      entry.scheduleId !== 0 &&
      entry.refusedFor === null
    ) {
      continue;
    }
    if (root.landing?.pr === member.pr && isMerged(pass, member.pr)) continue;
    if (entry === undefined) root.fates.push({ pr: member.pr, action: 'skipped', reason: 'left_the_queue' });
    else if (entry.refusedFor !== null)
      root.fates.push({ pr: member.pr, action: 'refused', reason: entry.refusedFor });
    startTeardown(pass, root, 'candidate_changed');
  }
}

function isMerged(pass: DecisionContext, pr: number): boolean {
  const focus = pass.s.focus.get(pr);
  return focus?.known === true && isMergedHere(pass, focus.value.pull);
}

/** Begins to tear a root down. A posted `success` is taken back first and given a grace period to show a late merge. */
export function startTeardown(pass: DecisionContext, root: Root, reason: Teardown): void {
  root.teardown ??= reason;
  const { landing } = root;
  if (landing === null || landing.revoke !== null) return;
  const words: RevokeReason = isRevokeReason(reason) ? reason : 'candidate_changed';
  landing.revoke = { reason: words, postedAt: null };
  wishStatus(pass, {
    pr: landing.pr,
    sha: landing.head,
    state: 'pending',
    description: describeRevoke(words),
    targetUrl: null,
    takesBack: true,
  });
}

function isRevokeReason(reason: Teardown): reason is RevokeReason {
  return (
    reason !== 'gate_missing' &&
    reason !== 'gate_infrastructure' &&
    reason !== 'gate_given_up' &&
    reason !== 'staging_failed'
  );
}

const TEARDOWN_OUTCOMES = {
  merge_timeout: 'error',
  merge_conflict: 'error',
  gate_missing: 'error',
  gate_infrastructure: 'operational_error',
  gate_given_up: 'error',
  staging_failed: 'operational_error',
  base_advanced: 'invalidated',
  merge_blocked: 'invalidated',
  candidate_changed: 'invalidated',
  queue_disabled: 'invalidated',
  context_changed: 'invalidated',
} as const satisfies Record<Teardown, string>;

/** Ends the roots that are torn down once nothing posted is left, those that have nothing more to do, and what stood on them. */
export function closeRoots(pass: DecisionContext): void {
  for (const root of [...pass.record.roots]) {
    // One that stood on another may have ended with it.
    if (!pass.record.roots.includes(root) || root.landing !== null) continue;
    const isFinished = root.chain.length > 0 && startOf(root) >= root.limit && noneRuns(root);
    if ((root.teardown !== null || isFinished) && (root.untraced ?? []).length > 0) {
      // Its landings are traced before its rows end.
      pollNoLaterThan(pass, pass.s.traces === undefined ? 0 : LANDING_POLL_MAX_MS);
    } else if (root.teardown !== null) closeTornDown(pass, root, root.teardown);
    else if (isFinished) closeFinished(pass, root);
    else if (root.place === 'pipeline' && root.chain.length > 0 && !isWhole(root)) supersedeAbove(pass, root);
  }
  if (pass.record.roots.length === 0) pass.record.tip = null;
}

function closeTornDown(pass: DecisionContext, root: Root, teardown: Teardown): void {
  supersedeAbove(pass, root);
  for (const node of root.nodes) {
    if (node.to > 0 && node.to <= root.landed) resolveNode(pass, root, node, 'success');
    else resolveNode(pass, root, node, TEARDOWN_OUTCOMES[teardown], teardown);
  }
  if (teardown === 'gate_infrastructure') pass.record.pausedUntil = pass.s.now + RETEST_PAUSE_MS;
  for (const member of root.members.slice(startOf(root))) {
    const leaves = root.fates.some((fate) => fate.pr === member.pr && fate.action !== 'requeued');
    // A head that moved was announced when it moved; who was let go of before is in other hands.
    const moved = entryOf(pass.record, member.pr)?.head !== member.head;
    const elsewhere = pass.record.roots.some(
      (other) => other !== root && activeMembers(other).some((each) => each.pr === member.pr),
    );
    if (!leaves && !moved && !elsewhere) emitEvent(pass, 'pr_requeued', member, teardown);
  }
  endRoot(pass, root);
}

function closeFinished(pass: DecisionContext, root: Root): void {
  if (root.landed < root.members.length) supersedeAbove(pass, root);
  for (const node of root.nodes) {
    if (isTerminal(node.outcome)) continue;
    if (node.to <= root.landed) resolveNode(pass, root, node, 'success');
    // Proven, but the base has moved by our own landings: it goes on in another batch.
    else if (node.to <= root.released) resolveNode(pass, root, node, 'invalidated', 'cleared');
    // Some of it landed by the proof of a batch that is gone since: the row tells who.
    else if (node.from < root.landed) resolveNode(pass, root, node, 'invalidated', 'candidate_changed');
    else resolveNode(pass, root, node, 'superseded');
  }
  endRoot(pass, root);
}

/** What is built on a batch that does not land whole was built on nothing; its members keep their order. */
export function supersedeAbove(pass: DecisionContext, below: Root): void {
  for (const root of [...pass.record.roots]) {
    if (root.onto !== below.runId) continue;
    supersedeAbove(pass, root);
    for (const node of root.nodes) resolveNode(pass, root, node, 'superseded');
    endRoot(pass, root);
  }
}

/** When its tip was verified: by its latest landing, or by the look that it was begun with. */
function verifiedAt({ receipts, untraced, createdAt }: Root): EpochMs {
  return untraced?.at(-1)?.receipt.landedAt ?? receipts.at(-1)?.landedAt ?? createdAt;
}

/** Clocks of engines differ: a tip that our landing replaced was seen before it, whatever time was written down. */
function seenBefore(record: QueueRecord, verified: EpochMs): boolean {
  const { sha, at = 0 } = record.baseSeen ?? {};
  return at <= verified || (sha !== undefined && isReplacedTip(record, sha, { now: at }));
}

/** A root leaves the record; what stood on it stands on the base now, which has exactly its last tree. */
function endRoot(pass: DecisionContext, root: Root): void {
  const { record } = pass;
  pass.closedRoots.push(root);
  // The tip that this root verified is most likely what the next look finds, unless the base was seen to move since.
  const tree = treeOf(root, root.landed);
  const isNewest = seenBefore(record, verifiedAt(root));
  if (
    record.halted === null &&
    tree !== undefined &&
    root.tip === record.tip &&
    root.onto === null &&
    isNewest
  )
    record.baseSeen = { sha: root.tip, tree, at: pass.s.now };
  sweepWorkBranch(pass, root);
  record.roots = record.roots.filter((other) => other !== root);
  for (const above of record.roots) {
    if (above.onto !== root.runId) continue;
    above.onto = null;
    above.tip = root.tip;
    if (above.chain.length === 0) above.baseSha = root.tip;
  }
  pass.refresh = true;
  pass.pollMs = 0;
}

/** Removes a root that was never built, with what stands on it: no row, no blame, every member keeps its place. */
export function dissolve(pass: DecisionContext, root: Root): void {
  supersedeAbove(pass, root);
  // An earlier attempt may have made its branch, and died before it could say so.
  if (root.builds > 1) for (const node of root.nodes) retireNode(pass, node);
  sweepWorkBranch(pass, root);
  pass.record.roots = pass.record.roots.filter((other) => other !== root);
  if (pass.record.roots.length === 0) pass.record.tip = null;
  pass.refresh = true;
}

/** A run beyond the limit does not keep a root open; one at or below it could still prove something. */
function noneRuns(root: Root): boolean {
  return !root.nodes.some(
    (node) => node.state !== 'done' && node.to > startOf(root) && node.to <= root.limit,
  );
}

/** Takes a member out of this root for now, with everything behind it: the limit falls to what stands before it. */
export function cutRootAt(root: Root, index: number): void {
  root.limit = Math.min(root.limit, index);
}

/** Sets a pull request aside until the base moves (or a time), and says why on its head if there are words for it. */
export function defer(
  pass: DecisionContext,
  member: { readonly pr: number; readonly head: string },
  deferred: Omit<Deferred, 'pr' | 'head'>,
): Fate {
  const { reason, baseTree } = deferred;
  const isSaid = pass.record.deferred.some(
    (known) =>
      known.pr === member.pr &&
      known.head === member.head &&
      known.reason === reason &&
      known.baseTree === baseTree,
  );
  pass.record.deferred = pass.record.deferred.filter((known) => known.pr !== member.pr);
  pass.record.deferred.push({ pr: member.pr, head: member.head, ...deferred });
  const blamesNobody = !blamesHead(deferred.reason);
  const entry = entryOf(pass.record, member.pr);
  // The words of a refusal that stands are kept; once it has ended, these are said.
  const isRefused = entry?.head === member.head && entry.refusedFor !== null;
  if (!isSaid && !isRefused) sayDeferred(pass, { pr: member.pr, head: member.head, reason });
  if (entry !== undefined && !blamesNobody) tellRefusal(pass, entry, deferred.reason);
  return { pr: member.pr, action: blamesNobody ? 'requeued' : 'refused', reason: deferred.reason };
}

/** Where a root is built: no push on it starts the gate (E22). */
export function workBranchOf({ s }: DecisionContext, root: Root): string {
  return workBranch(s.queueName, s.repo.baseBranch, root.runId.slice(0, 8));
}

/** A root that ends before it was built, or was built anew, may have left a work branch where the engine died or failed. */
export function sweepWorkBranch(pass: DecisionContext, root: Root): void {
  if (root.chain.length > 0 && root.builds === 1) return;
  const branch = workBranchOf(pass, root);
  pass.record.garbage.push({ branch, notBefore: pass.s.now, runKey: null });
}
