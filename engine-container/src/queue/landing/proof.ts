import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { TURN_RENEWED_AFTER_MS, WAKE_DELAY_MS_MIN } from '#core/domain/limits.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import type { HaltEvidence } from '#core/domain/queue/queue-view.ts';
import { startTeardown } from '../batches/end-batch.ts';
import {
  type DecisionContext,
  emitEvent,
  entryOf,
  reportCode,
  wakeNoLaterThan,
} from '../decision-context.ts';
import { noteLanding } from '../policy/signals.ts';
import type { Landing } from '../record/landing-state.ts';
import { isUnderContext } from '../record/pending-status.ts';
import { authored } from '../record/queue-entry.ts';
import type { Batch, Member, Untraced } from '../record/record.ts';
import type { FocusView, MergeView } from '../snapshot.ts';
import { describeUnverified } from '../words/phrases.ts';
import { wishStatus } from '../words/wish-status.ts';
import { concludeLanding, tellLeftBehind } from './landed.ts';
import { firstLookAfter } from './landing-pace.ts';
import { giveUpMerge, isItsMerge, nameOwnMerge } from './merged-instead.ts';
import { nameTwin } from './twin-names.ts';
import { watchUnheard } from './unheard.ts';

/**
 * The staged tree on top of the verified tip: nothing else can be this landing's merge (A2). The tree alone says what
 * the base holds now, and is known before anything else lands; its history may be read later (`traceLandings`). Ancestry,
 * not the line of first parents: a fast-forward lands a head that had merged the base, and that base is its second parent.
 */
export function isMergeOf(landing: Pick<Landing, 'tree'>, merge: MergeView): boolean {
  return merge.commit.tree === landing.tree && merge.standsOnTip !== false;
}

/**
 * A person has marked it as merged by hand, and named a commit that the verified tip holds: the base is what it was. Each account that
 * may merge can, where the repository allows manual merges.
 */
export function isMarkedMerged({ pull, merge }: Pick<FocusView, 'pull' | 'merge'>): boolean {
  return pull.merged && merge?.known === true && merge.value.isInTip === true;
}

/** A merge is a landing only if its tree is the staged one and it stands on the verified tip (A2). */
export function judgeMerge(pass: DecisionContext, batch: Batch, landing: Landing, merge: MergeView): void {
  learnMergeTime(pass, batch, landing);
  watchUnheard(pass, landing);
  moveTip(pass, batch, landing, merge.commit.sha);
  const isProven = isMergeOf(landing, merge);
  forgetMerged(pass, landing, merge.commit.sha, isProven);
  if (!isProven) return haltAt(pass, batch, landing, merge);
  // The base that looked foreign was this very merge, seen between its push and its bookkeeping.
  for (const each of pass.record.batches) if (each.teardown === 'base_advanced') each.teardown = null;
  const landed = { index: landing.index, receipt: receiptOf(landing, merge.commit.sha, pass.s.now) };
  const waiting = batch.untraced ?? [];
  // Receipts come in order.
  if (merge.standsOnTip === null || waiting.length > 0) batch.untraced = [...waiting, landed];
  else acknowledge(pass, batch, landed);
}

function learnMergeTime({ s }: DecisionContext, batch: Batch, { postedAt }: Landing): void {
  if (postedAt === null) return;
  const mergeMs = firstLookAfter(s.now - postedAt, batch.firstLooks?.mergeMs);
  batch.firstLooks = { ...batch.firstLooks, mergeMs };
}

/** The base ends with this merge, proven or not, and the turn of the next member begins. */
function moveTip({ record, s }: DecisionContext, batch: Batch, { index }: Landing, merge: CommitSha): void {
  batch.landing = null;
  batch.unmergeableSince = null;
  batch.landed = index + 1;
  // Not at every landing: each change of it is a row that is written.
  if (s.now - (batch.turnAt ?? s.now) >= TURN_RENEWED_AFTER_MS) batch.turnAt = s.now;
  batch.tip = merge;
  record.tip = merge;
}

/** A merged pull request is in no queue, whatever its merge came to. */
function forgetMerged(pass: DecisionContext, landing: Landing, merge: CommitSha, isProven: boolean): void {
  const { record } = pass;
  const { pr, head } = landing;
  const entry = entryOf(record, pr);
  record.entries = record.entries.filter((each) => each !== entry);
  record.pendingStatuses = record.pendingStatuses.filter((waiting) => !isUnderContext(record, head, waiting));
  concludeLanding(pass, landing, merge, isProven);
  // Not where the tree is another one: then the newer head may be what the forge merged.
  if (isProven) tellLeftBehind(pass, entry, head);
  record.mergeTimeoutCounts = record.mergeTimeoutCounts.filter((counted) => counted.pr !== pr);
}

function haltAt(pass: DecisionContext, batch: Batch, landing: Landing, { commit }: MergeView): void {
  const { index, pr, head, tree: provenTree, baseBefore } = landing;
  halt(pass, pr, { mergeCommit: commit.sha, landedTree: commit.tree, provenTree, baseBefore });
  const { title = '', ...member } = batch.members[index] ?? {};
  emitEvent(pass, 'pr_landed', { pr, head, title, ...authored(member) }, 'unverified');
}

function receiptOf(landing: Landing, mergeCommit: CommitSha, landedAt: EpochMs): Receipt {
  const { baseBefore, head, tree, proof, scheduledBy, approvedBy } = landing;
  return {
    baseBefore,
    head,
    stagedSha: proof.sha,
    tree,
    ...(proof.tree === undefined ? {} : { gatedTree: proof.tree }),
    runUrl: proof.runUrl,
    ...(proof.ofHead === undefined ? {} : { ofHead: proof.ofHead }),
    ...(scheduledBy === undefined ? {} : { scheduledBy }),
    ...(approvedBy === undefined ? {} : { approvedBy }),
    mergeCommit,
    landedAt,
  };
}

/** Proven in full: it has its receipt, and is told. */
function acknowledge(pass: DecisionContext, batch: Batch, { index, receipt }: Untraced): void {
  const member = batch.members[index];
  batch.receipts[index] = receipt;
  noteLanding(pass, member);
  if (member !== undefined) emitEvent(pass, 'pr_landed', member);
}

function halt(pass: DecisionContext, pr: PullRequestNumber, evidence: HaltEvidence): void {
  const { mergeCommit, landedTree, provenTree, baseBefore } = evidence;
  const { now: at, repo } = pass.s;
  const { enabledAt } = repo;
  pass.record.halted = { reason: 'tree_mismatch', pr, mergeCommit, at, enabledAt, evidence };
  pass.log.push(
    landedTree === provenTree
      ? `stopped: ${mergeCommit} has the proven tree ${provenTree} but does not stand on ${baseBefore}`
      : `stopped: ${mergeCommit} has tree ${landedTree}, proven was ${provenTree} on ${baseBefore}`,
  );
  pass.alarms.push({ name: 'tree_mismatch', pr });
  reportCode(pass, 'tree_mismatch');
  for (const each of pass.record.batches) startTeardown(pass, each, 'base_advanced');
}

/**
 * Traces landings whose trees are proven to the verified tip below them: one read for several. Until then they have no
 * receipt and their landing is not told. Nothing unsafe can happen meanwhile: what the next one is opened on is
 * a base whose tree was read and is the proven one. What comes out only now is a history that was written anew.
 */
export function traceLandings(pass: DecisionContext): void {
  for (const batch of pass.record.batches) {
    let isWaiting = false;
    for (const landed of batch.untraced ?? []) {
      const trace = pass.s.traces?.get(landed.receipt.mergeCommit);
      if (trace === undefined || !trace.known) break;
      if (trace.value === 'lost') {
        forgetLost(pass, batch, landed);
        break;
      }
      if (!trace.value) {
        disown(pass, batch, landed);
        break;
      }
      // A history that was written anew stops the queue at once, whatever is awaited of a landing before it.
      isWaiting ||= !settleTraced(pass, batch, landed);
    }
    if (isWaiting) wakeNoLaterThan(pass, pass.s.now + WAKE_DELAY_MS_MIN);
  }
}

/** False: it is not known yet whether its pull request is merged. Those behind it wait: receipts come in order. */
function settleTraced(pass: DecisionContext, batch: Batch, landed: Untraced): boolean {
  const named = nameTwin(pass, batch, landed);
  const member = batch.members[landed.index];
  const isIts = member === undefined ? 'yes' : isItsMerge(pass, member.pr, named);
  if (isIts === 'unknown') return false;
  batch.untraced = (batch.untraced ?? []).filter((each) => each !== landed);
  if (isIts === 'no' && member !== undefined) giveUpMerge(pass, batch, member, landed);
  else if (isIts === 'below' && member !== undefined)
    acknowledge(pass, batch, nameOwnMerge(pass, member, named));
  else acknowledge(pass, batch, named);
  return true;
}

/**
 * The forge was put back from a copy of before this landing, and lost it and all that stood on it: each is in no base, and is
 * tested again where its pull request is open. That the base moved is alarmed for itself.
 */
function forgetLost(pass: DecisionContext, batch: Batch, first: Untraced): void {
  const { record, log } = pass;
  const untraced = batch.untraced ?? [];
  const lost = untraced.slice(untraced.indexOf(first));
  log.push(`the forge has lost ${lost.length} landings: ${first.receipt.mergeCommit} is not there any more`);
  batch.untraced = untraced.filter((each) => !lost.includes(each));
  const merges = new Set<string | undefined>(lost.map(({ receipt }) => receipt.mergeCommit));
  record.landed = (record.landed ?? []).filter(({ merge }) => !merges.has(merge));
  for (const { index } of lost) {
    const member = batch.members[index];
    if (member !== undefined) emitEvent(pass, 'pr_skipped', member, 'left_the_queue');
  }
  // Where it is open and scheduled it is queued again; this look has passed over it as what had landed.
  wakeNoLaterThan(pass, pass.s.now + WAKE_DELAY_MS_MIN);
  startTeardown(pass, batch, 'base_advanced');
}

function tellUnverified(pass: DecisionContext, member: Member): void {
  emitEvent(pass, 'pr_landed', member, 'unverified');
  const { pr, head } = member;
  wishStatus(pass, { pr, sha: head, state: 'pending', description: describeUnverified(), targetUrl: null });
}

/** This one does not stand where it was to stand, and those behind it stand on it. */
function disown(pass: DecisionContext, batch: Batch, first: Untraced): void {
  const untraced = batch.untraced ?? [];
  const disowned = untraced.slice(untraced.indexOf(first));
  for (const { index } of disowned) {
    const member = batch.members[index];
    if (member !== undefined) tellUnverified(pass, member);
    if (member === undefined || index !== first.index) continue;
    const { mergeCommit, tree, baseBefore } = first.receipt;
    halt(pass, member.pr, { mergeCommit, landedTree: tree, provenTree: tree, baseBefore });
  }
  batch.untraced = untraced.filter((each) => !disowned.includes(each));
}
