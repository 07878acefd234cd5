import type { Decision } from './actions.ts';
import { admitEntries } from './admission/admit-entries.ts';
import { noteAttempts } from './admission/attempts-and-places.ts';
import { syncQueue } from './admission/entries.ts';
import { closeBatches, tearDownGroundless } from './batches/end-batch.ts';
import { openBatches } from './batches/fill.ts';
import { stageWanted } from './batches/stage.ts';
import { sweep } from './batches/sweep.ts';
import { dissolveOvertaking } from './batches/unbuilt.ts';
import { beginPass, type DecisionContext } from './decision-context.ts';
import { observeGates } from './gate/gates.ts';
import { advanceSearch } from './gate/search.ts';
import { noticeBase } from './landing/base-seen.ts';
import { forgetGivenUp } from './landing/given-up.ts';
import { forgetLanded, withoutLateBase } from './landing/landed.ts';
import { advanceLanding, observeLanding } from './landing/landing.ts';
import { settleOutside } from './landing/merged-outside.ts';
import { traceLandings } from './landing/proof.ts';
import { recallLost } from './landing/recall.ts';
import { settleStanding } from './landing/standing.ts';
import { settleUnheard } from './landing/unheard.ts';
import { sayPaused } from './line/pauses.ts';
import { orderLine } from './line/turns.ts';
import { chooseWake } from './next-look.ts';
import { adoptFanout } from './policy/fanout-choice.ts';
import { adoptSnapshot } from './record/adopt-snapshot.ts';
import { forgetOldest, lookForLeftOut } from './record/bounds.ts';
import type { QueueRecord } from './record/record.ts';
import type { Snapshot } from './snapshot.ts';
import { sayOff } from './words/departure.ts';
import { replaceOldWords } from './words/replace-old-words.ts';
import { sayProgress } from './words/say-progress.ts';
import { retryStuck, writeWords } from './words/write-words.ts';

/**
 * The queue, in the order in which it thinks: what changed, what still holds, what is proven, what lands, what is
 * tested next. Pure: no clock, no network, no store; every reading may be unknown. It throws only on an illegal outcome move, a
 * defect.
 *
 * What it returns is a new record (stored before anything is done) and the actions that the record's intents ask for.
 * An action that is never performed, or performed twice, is asked for again by the next pass on the next snapshot.
 */
export function decide(read: Snapshot, record: QueueRecord): Decision {
  // A reading of the base from before a landing of the queue says nothing of the base of now.
  const pass = beginPass(withoutLateBase(read, record), record);
  adoptSnapshot(pass);
  adoptFanout(pass);
  takeBackStrays(pass);
  readLine(pass);
  readProgress(pass);
  advance(pass);
  fill(pass);
  say(pass);
  stageWanted(pass);
  retryStuck(pass);
  tidy(pass);
  chooseWake(pass);
  return {
    record: pass.record,
    closedBatches: pass.closedBatches,
    events: pass.events,
    actions: pass.actions,
    refresh: pass.refresh,
    pollMs: pass.pollMs,
    wakeAt: pass.wakeAt,
    nextStartAt: pass.nextStartAt,
    errorCode: pass.errorCode,
    alarms: pass.alarms,
    log: pass.log,
  };
}

/** Where a `success` may stand that no landing of this record accounts for, it is taken back before anything else (A24). */
function takeBackStrays(pass: DecisionContext): void {
  recallLost(pass);
  settleUnheard(pass);
  settleStanding(pass);
}

/**
 * Who is in the queue, and may be staged? Skipped where the queue is off and has nothing left to undo: `sayOff` then tells each
 * pull request that is in it.
 */
function readLine(pass: DecisionContext): void {
  const { record, s } = pass;
  if (!s.repo.queueEnabled && record.batches.length === 0 && record.reread === undefined) return;
  syncQueue(pass);
  admitEntries(pass);
}

/** Merges by others, landings of the queue, verdicts of gate runs, and the merge that is awaited: each is read and noted. */
function readProgress(pass: DecisionContext): void {
  settleOutside(pass);
  forgetLanded(pass);
  forgetGivenUp(pass);
  traceLandings(pass);
  observeGates(pass);
  observeLanding(pass);
}

/** Batches that have lost their ground end, proven pull requests land, and the search for a culprit goes on. */
function advance(pass: DecisionContext): void {
  tearDownGroundless(pass);
  advanceSearch(pass);
  advanceLanding(pass);
  // Asked before the batches are closed, which may clear the tip.
  const hasLandedNow = pass.record.tip !== pass.tipBefore;
  closeBatches(pass);
  // A base that was taken for the awaited merge is judged again: that merge may have failed in this pass.
  if (!hasLandedNow) noticeBase(pass);
}

/** Opens batches, then orders what is left in the line, for the page. */
function fill(pass: DecisionContext): void {
  dissolveOvertaking(pass);
  openBatches(pass);
  orderLine(pass);
  noteAttempts(pass);
}

/** Every author reads where the pull request stands. Words are written before anything is staged, which may take long (A24). */
function say(pass: DecisionContext): void {
  replaceOldWords(pass);
  sayPaused(pass);
  sayProgress(pass);
  sayOff(pass);
  writeWords(pass);
}

/** The record stays bounded, and what ended leaves no branch behind. */
function tidy(pass: DecisionContext): void {
  forgetOldest(pass);
  lookForLeftOut(pass);
  sweep(pass);
}
