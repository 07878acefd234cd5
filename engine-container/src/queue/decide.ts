import { isSetUpLookDue } from '#core/domain/hook-seen.ts';
import { GATE_QUICK_LOOK_MS, LANDING_POLL_MAX_MS, WAKE_DELAY_MIN_MS } from '#core/domain/limits.ts';
import type { Action, Decision } from './actions.ts';
import { requiresContext } from './admission/admission.ts';
import { admitEntries } from './admission/admit-entries.ts';
import { syncQueue } from './admission/entries.ts';
import { noteRule } from './admission/rule-notes.ts';
import { noteAttempts } from './admission/who-may.ts';
import { checkGround, closeBatches } from './batches/batch.ts';
import { openBatches } from './batches/fill.ts';
import { stageWanted } from './batches/stage.ts';
import { dissolveOvertaking } from './batches/unbuilt.ts';
import {
  beginPass,
  type DecisionContext,
  pollNoLaterThan,
  raiseStandstill,
  wakeNoLaterThan,
} from './decision-context.ts';
import { forgetGateLook, gateLookAt } from './gate/gate-looks.ts';
import { observeGates } from './gate/gates.ts';
import { advanceSearch } from './gate/search.ts';
import { forgetGivenUp, isProvenStep } from './landing/given-up.ts';
import { forgetLanded, withoutLateBase } from './landing/landed.ts';
import { advanceLanding, observeLanding } from './landing/landing.ts';
import { alarmBase, keepRival, searchPassed, settlePassed } from './landing/merged-past.ts';
import { traceLandings } from './landing/proof.ts';
import { recallLost } from './landing/recall.ts';
import { settleStanding } from './landing/standing.ts';
import { settleUnheard } from './landing/unheard.ts';
import { sayPaused } from './line/pauses.ts';
import { orderLine } from './line/turns.ts';
import { adoptFanout } from './policy/fanout-choice.ts';
import { gateMsOf } from './policy/pace.ts';
import { forgetOldest, goOnWithCrowd } from './record/bounds.ts';
import type { PendingStatus } from './record/pending-status.ts';
import { type Batch, type QueueRecord, treeOf } from './record/record.ts';
import type { Snapshot } from './snapshot.ts';
import { sayOff } from './words/departure.ts';
import { sayProgress } from './words/progress.ts';
import { replaceOldWords } from './words/said.ts';

/** First look at a gate after this share of what it usually takes: never later than that, or it would seem to take ever longer. */
const GATE_FIRST_LOOK_SHARE = 0.9;
/** The soonest look at a gate run that was just started. */
const FIRST_QUICK_LOOK_MS = 500;
/** Statuses written per pass; the rest follow in the next. */
const STATUS_POSTS_MAX = 20;

/**
 * The queue, in the order in which it thinks: what changed, what still holds, what is proven, what lands, what is
 * tested next. Total and pure: no clock, no network, no store; every reading may be unknown.
 *
 * What it returns is a new record (stored before anything is done) and the actions that the record's intents ask for.
 * An action that is never performed, or performed twice, is asked for again by the next pass on the next snapshot.
 */
export function decide(read: Snapshot, record: QueueRecord): Decision {
  const s = withoutLateBase(read, record);
  const pass = beginPass(s, record);
  adoptSettings(pass);
  adoptFanout(pass);
  recallLost(pass);
  settleUnheard(pass);
  settleStanding(pass);
  // A queue that is off and has nothing left to undo writes no status.
  if (s.repo.queueEnabled || record.batches.length > 0 || record.reread !== undefined) {
    syncQueue(pass);
    admitEntries(pass);
  }
  settlePassed(pass);
  forgetLanded(pass);
  forgetGivenUp(pass);
  traceLandings(pass);
  observeGates(pass);
  observeLanding(pass);
  checkGround(pass);
  advanceSearch(pass);
  advanceLanding(pass);
  const isSettled = pass.record.tip === pass.tipBefore;
  closeBatches(pass);
  // The awaited merge may have failed in this pass. Then that merge did not move the base, so the base is judged again.
  if (isSettled) noticeBase(pass);
  dissolveOvertaking(pass);
  openBatches(pass);
  // The page shows the order in which the next look goes on.
  orderLine(pass);
  noteAttempts(pass);
  replaceOldWords(pass);
  sayPaused(pass);
  sayProgress(pass);
  sayOff(pass);
  sayWaiting(pass);
  stageWanted(pass);
  forgetOldest(pass);
  goOnWithCrowd(pass);
  sweep(pass);
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

/** The readings for the next look to compare with, and settings that changed under the record. */
function adoptSettings(pass: DecisionContext): void {
  const { record, s } = pass;
  if (s.full && s.readings !== null) record.readings = [...s.readings];
  if (s.forge?.known === true) record.forge = s.forge.value;
  if (s.settingsSeen !== undefined) record.settingsSeen = s.settingsSeen;
  if (!s.repo.settingsFile) delete record.settingsSeen;
  keepRule(pass);
  keepHook(pass);
  noticeName(pass);
  noticeBase(pass);
  if (record.halted !== null) {
    if (s.repo.queueEnabled && s.repo.enabledAt > record.halted.at) record.halted = null;
    else raiseStandstill(pass, 'tree_mismatch');
  }
  keepRival(pass);
  const idle = record.batches.length === 0 && record.pendingStatuses.length === 0;
  if (record.context !== s.repo.statusContext && idle) record.context = s.repo.statusContext;
}

/** Written only where it says something new, and once in an hour: an idle record must stay as it is. */
function keepRule({ record, s }: DecisionContext): void {
  if (!s.protection.known) return;
  const reasons = noteRule(s.protection.value, record.context);
  const told = record.rule;
  const isTold = told !== undefined && String(told.reasons) === String(reasons);
  if (!isTold || told.at < (s.repo.provisioning.lastProvisionedAt ?? 0)) record.rule = { at: s.now, reasons };
  else if (isSetUpLookDue(told.lookedAt ?? told.at, s.now)) record.rule = { ...told, lookedAt: s.now };
}

/** Told to the owner: where deliveries do not come, the tick still does. */
function keepHook({ record, s }: DecisionContext): void {
  if (s.hook?.known !== true) return;
  const state = s.hook.value;
  const since = record.hook?.state === state ? record.hook.since : s.now;
  record.hook = { since, at: s.now, state };
}

/** The reference that made our branches impossible may be gone; where that was a branch, a tag is none. */
function noticeName(pass: DecisionContext): void {
  const { record, s } = pass;
  const ref = s.nameInTheWay?.known === true ? s.nameInTheWay.value : undefined;
  const isGone = ref === null || (ref?.kind === 'tag' && record.nameInTheWay?.kind === 'branch');
  if (isGone) delete record.nameInTheWay;
  if (record.nameInTheWay !== undefined) raiseStandstill(pass, 'branch_name_taken');
}

/**
 * Keeps the tip of the base, and alarms when it moved although only the queue can open a merge: what is on it is not verified
 * now (A39). A batch that ends puts its verified tip here.
 */
function noticeBase(pass: DecisionContext): void {
  const { record, s } = pass;
  if (!s.full || !s.base.known) return;
  const { sha, tree } = s.base.value;
  const seen = record.baseSeen;
  const seenAt = seen?.at ?? Number.NEGATIVE_INFINITY;
  // A base that moved while the queue was off was not bypassed.
  const watched = s.repo.queueEnabled && seenAt >= s.repo.enabledAt;
  if (seen?.sha === sha && watched) return;
  // It may be the merge that is awaited: said once that is decided, and not forgotten until then.
  if (record.tip !== sha && record.batches.some((batch) => batch.landing !== null)) return;
  record.baseSeen = { sha, tree, at: s.now };
  const guarded =
    s.protection.known &&
    s.protection.value !== null &&
    !s.protection.value.directPushAllowed &&
    requiresContext(s.protection.value, record.context);
  if (seen === null || seen.sha === sha || !watched || !guarded || record.tip === sha) return;
  // The state is what it was: a second merge of a head that had landed, for example.
  if (seen.tree === tree || isTreeOfTip(record, tree) || isProvenStep(record, seen.sha, tree)) return;
  searchPassed(pass, seen.sha, sha);
  alarmBase(pass, sha);
}

/** The tree of the base by our latest landing. */
function isTreeOfTip(record: QueueRecord, tree: string): boolean {
  const bottom = record.batches.find((batch) => batch.stagedOn === null && batch.tip === record.tip);
  return bottom !== undefined && treeOf(bottom, bottom.landed) === tree;
}

/**
 * Writes waiting statuses before anything is staged, which can take many reconciles; first of all what takes back a
 * `success`, which opens a merge as long as it stands (A24).
 */
function sayWaiting(pass: DecisionContext): void {
  const { record, actions, s } = pass;
  const rank = (status: PendingStatus): number => (status.takesBack === true ? 0 : 1);
  const due = record.pendingStatuses.filter(({ retryAt = s.now }) => retryAt <= s.now);
  for (const { retryAt = s.now } of record.pendingStatuses)
    if (retryAt > s.now) wakeNoLaterThan(pass, retryAt);
  due.sort((one, other) => rank(one) - rank(other));
  for (const { failures: _, retryAt: __, told: ___, ...status } of due.slice(0, STATUS_POSTS_MAX)) {
    actions.push({ kind: 'post_status', ...status, purpose: 'pending' });
  }
}

/** Removes what resolved nodes left behind. */
function sweep(pass: DecisionContext): void {
  const { record, s } = pass;
  const inUse = new Set(record.batches.flatMap((batch) => batch.nodes.map((node) => node.branch)));
  const swept = new Set<string>();
  for (const garbage of record.garbage) {
    if (inUse.has(garbage.branch)) continue;
    if (garbage.notBefore > s.now) {
      wakeNoLaterThan(pass, garbage.notBefore);
      continue;
    }
    if (garbage.runKey !== null) {
      pass.actions.push({ kind: 'cancel_gate_run', runKey: garbage.runKey, branch: garbage.branch });
    }
    // One deletion for a name, however many entries: a second that is carried out late meets who has the name by then (E7).
    if (!swept.has(garbage.branch)) pass.actions.push({ kind: 'delete_branch', branch: garbage.branch });
    swept.add(garbage.branch);
  }
}

/** When may something change by itself? While a gate or a merge is awaited the repo is due again soon (D-95). */
function chooseWake(pass: DecisionContext): void {
  const { record } = pass;
  if (pass.actions.some((action) => !isQuiet(record, action))) pollNoLaterThan(pass, 0);
  if (pass.nextStartAt !== null) wakeNoLaterThan(pass, pass.nextStartAt);
  forgetGateLook(pass);
  for (const batch of record.batches) chooseWakeFor(pass, batch);
}

/** A merge takes a moment after its success, and a last word on what has landed changes nothing; all else shows at once. */
function isQuiet({ landed = [] }: QueueRecord, action: Action): boolean {
  if (action.kind !== 'post_status') return false;
  return action.purpose === 'landing' || landed.some(({ head }) => head === action.sha);
}

/** When to look again within this reconcile; null: the gate takes longer than a reconcile should wait for it. */
function quickLookMs(ageMs: number, usualMs: number | null): number | null {
  if (ageMs >= GATE_QUICK_LOOK_MS) return null;
  const dueMs = (usualMs ?? 0) * GATE_FIRST_LOOK_SHARE - ageMs;
  if (dueMs + ageMs > GATE_QUICK_LOOK_MS) return null;
  return Math.round(Math.max(FIRST_QUICK_LOOK_MS, dueMs, Math.min(3_000, ageMs)));
}

function chooseWakeFor(pass: DecisionContext, batch: Batch): void {
  const { s } = pass;
  if (batch.landing !== null && batch.landing.takeBack === null) pollNoLaterThan(pass, LANDING_POLL_MAX_MS);
  for (const node of batch.nodes) {
    if (node.state !== 'gating') continue;
    const age = s.now - (node.stagedAt ?? s.now);
    // A gate that ends within seconds is read in the reconcile that started it.
    const lookMs = quickLookMs(age, gateMsOf(pass.record.rate));
    if (lookMs !== null) pollNoLaterThan(pass, lookMs);
    wakeNoLaterThan(pass, gateLookAt(pass, age));
  }
  if (batch.landing !== null || batch.teardown !== null) wakeNoLaterThan(pass, s.now + WAKE_DELAY_MIN_MS);
}
