import type { RunId } from '#core/domain/ids.ts';
import { BATCH_PULL_REQUESTS_MAX, RETEST_PAUSE_MS } from '#core/domain/limits.ts';
import { requiresContext } from './admission.ts';
import { describePark, describeRevoke } from './describe.ts';
import { readyEntries } from './line.ts';
import {
  createNode,
  emitEvent,
  entryOf,
  type Pass,
  raise,
  resolveNode,
  takeId,
  wakeNoLaterThan,
  wishStatus,
} from './pass.ts';
import { chooseBatchSize } from './policy.ts';
import {
  type Fate,
  type LineEntry,
  type Parked,
  type ParkReason,
  type RevokeReason,
  type Root,
  type Teardown,
  treeOf,
} from './record.ts';
import { isTerminal } from './transitions.ts';

/** Opens the next batch when there is none: ready pull requests in order, after lingering, as many as pay off. */
export function openRoot(pass: Pass): void {
  const { record, s } = pass;
  if (record.root !== null || record.halted !== null || !s.repo.queueEnabled) return;
  // A look at what is in flight carries an older list: nothing is spent on it.
  if (!s.full || !s.base.known || !s.protection.known) return;
  if (record.rebuilding || record.context !== s.repo.statusContext) return;
  const base = s.base.value;
  record.parked = record.parked.filter(
    (parked) => parked.baseTree === base.tree && (parked.until === null || parked.until > s.now),
  );
  const ready = readyEntries(pass, base.tree);
  if (record.parked.some((parked) => parked.reason === 'base_red')) raise(pass, 'base_red');
  if (record.parked.some((parked) => parked.reason === 'gate_missing')) raise(pass, 'gate_missing');
  for (const parked of record.parked) if (parked.until !== null) wakeNoLaterThan(pass, parked.until);
  if (ready.length === 0) return;
  if (s.protection.value === null || !requiresContext(s.protection.value, record.context)) {
    // Without the rule a merge needs no proof of ours: staging would only pretend (execution model 7).
    raise(pass, 'protection_conflict');
    return;
  }
  if (record.pausedUntil !== null && record.pausedUntil > s.now) {
    wakeNoLaterThan(pass, record.pausedUntil);
    return;
  }
  if (!hasLingered(pass, ready)) return;
  const outdatedRule = s.protection.value.blockOnOutdatedBranch;
  const size = outdatedRule
    ? 1
    : chooseBatchSize({ ready: ready.length, rate: record.rate, fanout: s.repo.bisectFanout });
  startRoot(pass, ready.slice(0, size));
}

/** Nothing is staged before the linger has passed since the newest ready pull request, unless enough wait (A33). */
function hasLingered(pass: Pass, ready: readonly LineEntry[]): boolean {
  const { repo, now } = pass.s;
  const enough =
    repo.batchTarget > 0 ? Math.min(repo.batchTarget, BATCH_PULL_REQUESTS_MAX) : BATCH_PULL_REQUESTS_MAX;
  if (repo.batchLingerSeconds === 0 || ready.length >= enough) return true;
  const newest = Math.max(...ready.map((entry) => entry.readyAt ?? now));
  const until = newest + repo.batchLingerSeconds * 1000;
  if (now >= until) return true;
  wakeNoLaterThan(pass, until);
  return false;
}

function startRoot(pass: Pass, entries: readonly LineEntry[]): void {
  const { record, s } = pass;
  const runId = takeId(pass);
  if (runId === null || !s.base.known) return;
  const root: Root = {
    runId: runId as RunId,
    members: entries.map(({ pr, head, scheduleId, title }) => ({ pr, head, scheduleId, title })),
    baseSha: s.base.value.sha,
    baseTree: s.base.value.tree,
    builds: 0,
    chain: [],
    gateKey: null,
    baseGateKey: null,
    gateFile: null,
    landed: 0,
    receipts: [],
    fates: [],
    tip: s.base.value.sha,
    limit: entries.length,
    nodes: [],
    landing: null,
    unmergeableSince: null,
    teardown: null,
    createdAt: s.now,
  };
  if (createNode(pass, root, { nodeId: 'r', parent: null, from: 0, to: entries.length }) === null) return;
  record.root = root;
}

/** Has the root lost its ground: base moved by somebody else, a member changed, the queue switched off (A23)? */
export function checkGround(pass: Pass): void {
  const { record, s } = pass;
  const { root } = record;
  if (root === null || root.teardown !== null) return;
  if (!s.repo.queueEnabled) return startTeardown(pass, root, 'queue_disabled');
  if (record.context !== s.repo.statusContext) return startTeardown(pass, root, 'context_changed');
  // While a merge is awaited the base may move by it; what was read before a landing of this pass is older than the tip.
  const baseSettled = root.landing === null && root.tip === pass.tipBefore;
  if (baseSettled && s.base.known && s.base.value.sha !== root.tip) {
    return startTeardown(pass, root, 'base_advanced');
  }
  if (!s.full) return;
  for (const member of root.members.slice(root.landed, root.limit)) {
    const entry = entryOf(record, member.pr);
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

function isMerged(pass: Pass, pr: number): boolean {
  const focus = pass.s.focus.get(pr);
  return focus?.known === true && focus.value.pull.merged;
}

/** Begins to tear a root down. A posted `success` is taken back first and given a grace period to show a late merge. */
export function startTeardown(pass: Pass, root: Root, reason: Teardown): void {
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
  });
}

function isRevokeReason(reason: Teardown): reason is RevokeReason {
  return reason !== 'merge_conflict' && reason !== 'gate_missing' && reason !== 'gate_infrastructure';
}

const TEARDOWN_OUTCOMES = {
  merge_timeout: 'error',
  merge_conflict: 'error',
  gate_missing: 'error',
  gate_infrastructure: 'operational_error',
  base_advanced: 'invalidated',
  candidate_changed: 'invalidated',
  queue_disabled: 'invalidated',
  context_changed: 'invalidated',
} as const satisfies Record<Teardown, string>;

/** Ends a root that is being torn down once nothing posted is left, or one that has nothing more to do. */
export function closeRoot(pass: Pass): void {
  const { root } = pass.record;
  if (root === null || root.landing !== null) return;
  if (root.teardown !== null) {
    for (const node of root.nodes) {
      if (node.to > 0 && node.to <= root.landed) resolveNode(pass, root, node, 'success');
      else resolveNode(pass, root, node, TEARDOWN_OUTCOMES[root.teardown], root.teardown);
    }
    if (root.teardown === 'gate_infrastructure') pass.record.pausedUntil = pass.s.now + RETEST_PAUSE_MS;
    for (const member of root.members.slice(root.landed)) {
      const leaves = root.fates.some((fate) => fate.pr === member.pr && fate.action !== 'requeued');
      // A head that moved was announced when it moved.
      const moved = entryOf(pass.record, member.pr)?.head !== member.head;
      if (!leaves && !moved) emitEvent(pass, 'pr_requeued', member, root.teardown);
    }
    endRoot(pass, root);
    return;
  }
  const finished = root.chain.length > 0 && root.landed === root.limit && noneRuns(root);
  if (!finished) return;
  for (const node of root.nodes) {
    if (isTerminal(node.outcome)) continue;
    if (node.to <= root.landed) resolveNode(pass, root, node, 'success');
    else resolveNode(pass, root, node, 'superseded');
  }
  endRoot(pass, root);
}

function endRoot(pass: Pass, root: Root): void {
  pass.closedRoot = root;
  // The tip that this root verified is most likely what the next look finds.
  const tree = treeOf(root, root.landed);
  if (pass.record.halted === null && tree !== undefined)
    pass.record.baseSeen = { sha: root.tip, tree, at: pass.s.now };
  sweepWorkBranch(pass, root);
  pass.record.root = null;
  pass.refresh = true;
  pass.pollMs = 0;
}

/** A run beyond the limit does not keep a root open; one at or below it could still prove something. */
function noneRuns(root: Root): boolean {
  return !root.nodes.some((node) => node.state !== 'done' && node.to > root.landed && node.to <= root.limit);
}

/** Takes a member out of this root for now, with everything behind it: the limit falls to what stands before it. */
export function cutRootAt(root: Root, index: number): void {
  root.limit = Math.min(root.limit, index);
}

/** Reasons that the author can do something about; the others are nobody's fault. */
const BLAMING_PARKS: readonly ParkReason[] = ['conflict', 'no_changes'];

/** Sets a pull request aside until the base moves (or a time), and says why on its head if there are words for it. */
export function park(
  pass: Pass,
  member: { readonly pr: number; readonly head: string },
  parked: Omit<Parked, 'pr' | 'head'>,
): Fate {
  pass.record.parked = pass.record.parked.filter((known) => known.pr !== member.pr);
  pass.record.parked.push({ pr: member.pr, head: member.head, ...parked });
  const words = describePark(parked.reason);
  const blamesNobody = !BLAMING_PARKS.includes(parked.reason);
  if (words !== null) {
    wishStatus(pass, {
      pr: member.pr,
      sha: member.head,
      state: blamesNobody ? 'pending' : 'error',
      description: words,
      targetUrl: null,
    });
  }
  const entry = entryOf(pass.record, member.pr);
  if (entry !== undefined && !blamesNobody) emitEvent(pass, 'pr_refused', entry, parked.reason);
  return { pr: member.pr, action: blamesNobody ? 'requeued' : 'refused', reason: parked.reason };
}

/** Where a root is built: outside `mq/**`, so that no push on it starts the gate (E22). */
export function workBranchOf(baseBranch: string, root: Root): string {
  return `mq-work/${baseBranch}/${root.runId.slice(0, 8)}`;
}

/** A root that ends before it was built, or was built anew, may have left a work branch where the engine died or failed. */
export function sweepWorkBranch(pass: Pass, root: Root): void {
  if (root.chain.length > 0 && root.builds === 1) return;
  const branch = workBranchOf(pass.s.repo.baseBranch, root);
  pass.record.garbage.push({ branch, notBefore: pass.s.now, runKey: null });
}
