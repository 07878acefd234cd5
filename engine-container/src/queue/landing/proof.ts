import type { Receipt } from '#core/domain/batch.ts';
import type { PullRequestNumber } from '#core/domain/ids.ts';
import { TURN_RENEWED_AFTER_MS } from '#core/domain/limits.ts';
import type { HaltEvidence } from '#core/domain/queue-view.ts';
import { startTeardown } from '../batches/batch.ts';
import { type DecisionContext, emitEvent, reportCode } from '../decision-context.ts';
import { noteLanding } from '../policy/signals.ts';
import type { Landing } from '../record/landing-state.ts';
import { authored } from '../record/queue-entry.ts';
import type { Batch, Untraced } from '../record/record.ts';
import type { MergeView } from '../snapshot.ts';
import { concludeLanding } from './landed.ts';
import { firstLookAfter } from './landing-pace.ts';
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

/** A merge is a landing only if its tree is the staged one and it stands on the verified tip (A2). */
export function judgeMerge(pass: DecisionContext, batch: Batch, landing: Landing, merge: MergeView): void {
  const proven = isMergeOf(landing, merge);
  const { title = '', ...member } = batch.members[landing.index] ?? {};
  const subject = { pr: landing.pr, head: landing.head, title, ...authored(member) };
  if (landing.postedAt !== null) {
    const mergeMs = firstLookAfter(pass.s.now - landing.postedAt, batch.firstLooks?.mergeMs);
    batch.firstLooks = { ...batch.firstLooks, mergeMs };
  }
  watchUnheard(pass, landing);
  batch.landing = null;
  batch.unmergeableSince = null;
  batch.landed = landing.index + 1;
  // Not at every landing: each change of it is a row that is written.
  if (pass.s.now - (batch.turnAt ?? pass.s.now) >= TURN_RENEWED_AFTER_MS) batch.turnAt = pass.s.now;
  batch.tip = merge.commit.sha;
  pass.record.tip = merge.commit.sha;
  pass.record.entries = pass.record.entries.filter((entry) => entry.pr !== landing.pr);
  pass.record.pendingStatuses = pass.record.pendingStatuses.filter((waiting) => waiting.sha !== landing.head);
  concludeLanding(pass, landing);
  pass.record.mergeTimeoutCounts = pass.record.mergeTimeoutCounts.filter(
    (counted) => counted.pr !== landing.pr,
  );
  if (!proven) {
    halt(pass, landing.pr, {
      mergeCommit: merge.commit.sha,
      landedTree: merge.commit.tree,
      provenTree: landing.tree,
      baseBefore: landing.baseBefore,
    });
    emitEvent(pass, 'pr_landed', subject, 'unverified');
    return;
  }
  const receipt: Receipt = {
    baseBefore: landing.baseBefore,
    head: landing.head,
    stagedSha: landing.proof.sha,
    tree: landing.tree,
    ...(landing.proof.tree === undefined ? {} : { gatedTree: landing.proof.tree }),
    runUrl: landing.proof.runUrl,
    ...(landing.proof.ofHead === undefined ? {} : { ofHead: landing.proof.ofHead }),
    ...(landing.scheduledBy === undefined ? {} : { scheduledBy: landing.scheduledBy }),
    ...(landing.approvedBy === undefined ? {} : { approvedBy: landing.approvedBy }),
    mergeCommit: merge.commit.sha,
    landedAt: pass.s.now,
  };
  // The base that looked foreign was this very merge, seen between its push and its bookkeeping.
  for (const each of pass.record.batches) if (each.teardown === 'base_advanced') each.teardown = null;
  const landed = { index: landing.index, receipt };
  const waiting = batch.untraced ?? [];
  // Receipts come in order.
  if (merge.standsOnTip === null || waiting.length > 0) batch.untraced = [...waiting, landed];
  else acknowledge(pass, batch, landed);
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
  pass.record.halted = { reason: 'tree_mismatch', pr, mergeCommit, at: pass.s.now, evidence };
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
    for (const landed of batch.untraced ?? []) {
      const trace = pass.s.traces?.get(landed.receipt.mergeCommit);
      if (trace === undefined || !trace.known) break;
      if (!trace.value) {
        disown(pass, batch);
        break;
      }
      batch.untraced = (batch.untraced ?? []).filter((each) => each !== landed);
      acknowledge(pass, batch, nameTwin(pass, batch, landed));
    }
  }
}

/** The first of these does not stand where it was to stand, and the others stand on it. */
function disown(pass: DecisionContext, batch: Batch): void {
  const [first] = batch.untraced ?? [];
  for (const { index } of batch.untraced ?? []) {
    const member = batch.members[index];
    if (member !== undefined) emitEvent(pass, 'pr_landed', member, 'unverified');
    if (member === undefined || index !== first?.index) continue;
    const { mergeCommit, tree, baseBefore } = first.receipt;
    halt(pass, member.pr, { mergeCommit, landedTree: tree, provenTree: tree, baseBefore });
  }
  batch.untraced = [];
}
