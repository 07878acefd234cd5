import type { CommitSha } from '#core/domain/ids.ts';
import {
  LANDING_NUDGE_AGES_MS,
  LANDING_POLL_MS_MAX,
  LANDING_POLL_MS_MIN,
  LANDING_TIMEOUT_MS,
  LEASE_SAFETY_MARGIN_MS,
  LEASE_TTL_MS,
} from '#core/domain/limits.ts';
import { requiresContext } from '../admission/admission.ts';
import { headSettlesAt, LATE_PUSH_ENTRY_MS } from '../admission/eligibility.ts';
import { awaitJudgement, isJudged } from '../admission/replaced-schedule.ts';
import { lostGround, startTeardown } from '../batches/end-batch.ts';
import { moveNodeIfLegal } from '../batches/nodes.ts';
import {
  landingBatchOf,
  mayLand,
  nextToLand,
  noteNextToLand,
  proofOf,
  provenLength,
  provenTogether,
} from '../batches/pipeline.ts';
import { isTerminal } from '../batches/transitions.ts';
import {
  askersOf,
  type DecisionContext,
  entryOf,
  isMergedHere,
  pollNoLaterThan,
  reportCode,
  wakeNoLaterThan,
} from '../decision-context.ts';
import type { Landing } from '../record/landing-state.ts';
import { isUnderContext } from '../record/pending-status.ts';
import { isBound } from '../record/queue-entry.ts';
import { type Batch, type Member, type QueueRecord, treeOf } from '../record/record.ts';
import type { FocusView } from '../snapshot.ts';
import { leaveQueue } from '../words/departure.ts';
import { sayLastWord, sayLostSchedule } from '../words/last-word.ts';
import { describeLanding } from '../words/phrases.ts';
import {
  findBlock,
  holdBlocked,
  holdUnclear,
  isAnswerAwaited,
  isBlock,
  isOfForge,
  isSure,
  takeBackBlocked,
} from './blockers.ts';
import { giveUpLanding, landEarlierHead } from './given-up.ts';
import { isReplacedTip } from './landed.ts';
import { calledMergedMs, nextLookMs } from './landing-pace.ts';
import { awaitNoTag, giveUpLostPass, isLastUnread, refuseAtLast } from './last-refusal.ts';
import { countMergeTimeout } from './merge-timeout.ts';
import { awaitMergeable, isForgeConflict, noteMergeable, setNextAside } from './mergeable.ts';
import { tellMergedInstead } from './merged-instead.ts';
import { isMarkedMerged, isMergeOf, judgeMerge } from './proof.ts';
import { askForSchedule, isScheduleDoubted } from './schedule-question.ts';
import { awaitTakenBack, releaseHarmless } from './standing.ts';
import { adoptTwin } from './twins.ts';
import { noteContradiction } from './two-heads.ts';
import { graceEndsAt, isWatched, watchUnheard } from './unheard.ts';
import { endUnposted, isUnpostable } from './unposted.ts';
import { outwaitReading, outwaitUnread } from './unreadable.ts';

/** A `success` that is decided on is sent within this, or not at all: the lease is over then. */
const SUCCESS_SENT_WITHIN_MS = LEASE_TTL_MS - LEASE_SAFETY_MARGIN_MS;

/** Looks at the merge that is awaited: done and proven, done and wrong, refused, too late, or still to come. */
export function observeLanding(pass: DecisionContext): void {
  const batch = landingBatchOf(pass.record);
  const landing = batch?.landing;
  if (batch === undefined || landing == null) return;
  const { ownMerge } = pass.s;
  if (ownMerge === 'not_yet') {
    if (landing.postedAt !== null) nudgeOrTimeOut(pass, batch, landing, landing.postedAt);
    return;
  }
  if (ownMerge != null && isMergeOf(landing, ownMerge)) return judgeMerge(pass, batch, landing, ownMerge);
  const focus = pass.s.focus.get(landing.pr);
  if (focus?.known === true && isMergedHere(pass, focus.value.pull) && !isMarkedMerged(focus.value)) {
    const { merge } = focus.value;
    if (merge?.known !== true) return pollNoLaterThan(pass, LANDING_POLL_MS_MIN);
    if (landEarlierHead(pass, batch, landing, focus.value) === 'no')
      judgeMerge(pass, batch, landing, merge.value);
    return;
  }
  const twin = adoptTwin(pass, batch, landing);
  if (twin !== null) return judgeMerge(pass, batch, twin.landing, twin.merge);
  if (focus === undefined || !focus.known) return outwaitUnread(pass, batch, landing);
  const { pull } = focus.value;
  if (landing.takeBack !== null) return concludeTakeBack(pass, batch, landing);
  if (hasChanged(pass, focus.value, landing)) return startTeardown(pass, batch, 'candidate_changed');
  if (isReplacedTip(pass.record, pull.baseTip, pass.s)) return pollNoLaterThan(pass, LANDING_POLL_MS_MIN);
  if (pull.baseTip !== landing.baseBefore) return judgeStrangeTip(pass, batch, landing, focus.value);
  if (landing.postedAt === null) return;
  noteMergeable(landing, pull.mergeable, pass.s.now);
  if (isForgeConflict(landing, pass.s.now)) return startTeardown(pass, batch, 'merge_conflict');
  nudgeOrTimeOut(pass, batch, landing, landing.postedAt, focus.value);
}

/** The pull request itself is not what was staged any more: closed, a draft, retargeted, or with another head or schedule. */
function hasChanged(pass: DecisionContext, focus: FocusView, { head }: Pick<Member, 'head'>): boolean {
  const { pull, schedule } = focus;
  if (pull.state !== 'open' || pull.draft || pull.headSha !== head) return true;
  if (pull.baseRef !== pass.s.repo.baseBranch) return true;
  return schedule?.known === true && schedule.value.kind !== 'bound';
}

/** The base has moved although this pull request does not say "merged" yet: its own merge in progress, or another commit. */
function judgeStrangeTip(pass: DecisionContext, batch: Batch, landing: Landing, focus: FocusView): void {
  const tip = focus.strangeTip;
  if (tip === null || !tip.known) return pollNoLaterThan(pass, LANDING_POLL_MS_MIN);
  const own = isMergeOf(landing, tip.value);
  if (own && tellMergedInstead(pass, landing, tip.value.commit))
    return startTeardown(pass, batch, 'base_advanced');
  const mayBeCalledMerged =
    landing.postedAt !== null &&
    pass.s.now - landing.postedAt < calledMergedMs(landing.head, tip.value.commit.sha);
  if (own && mayBeCalledMerged) return pollNoLaterThan(pass, LANDING_POLL_MS_MIN);
  startTeardown(pass, batch, 'base_advanced');
}

function nudgeOrTimeOut(
  pass: DecisionContext,
  batch: Batch,
  landing: Landing,
  postedAt: number,
  focus?: FocusView,
): void {
  const age = pass.s.now - postedAt;
  if (pass.s.blockers !== undefined) {
    landing.blockerLooks = landing.nudges - 1;
    const block = findBlock(pass, landing);
    if (isBlock(block)) return takeBackBlocked(pass, batch, landing, block);
  }
  if (age >= LANDING_TIMEOUT_MS) return startTeardown(pass, batch, 'merge_timeout');
  const nextNudge = LANDING_NUDGE_AGES_MS[landing.nudges];
  if (nextNudge !== undefined && age >= nextNudge) {
    landing.nudges += 1;
    // A forge can lose the trigger for ever; the same success written once more sets it off again (D-11). Not while
    // something that the rule asks for is known to be missing again: the forge could not merge. Nor where this very look
    // takes it back.
    const entry = entryOf(pass.record, landing.pr);
    const isAdmitted = entry === undefined || focus === undefined || isJudged(entry, focus);
    if (!isAdmitted) pass.refresh = true;
    else if (entry?.readyAt !== null && lostGround(pass, batch) === null) postSuccess(pass, batch, landing);
  }
  pollNoLaterThan(pass, nextLookMs(age, batch.firstLooks?.mergeMs));
}

/** After a success was taken back: one grace period, one more look, then the landing is over (D-11, E5). */
function concludeTakeBack(pass: DecisionContext, batch: Batch, landing: Landing): void {
  const { takeBack } = landing;
  if (takeBack === null) return;
  if (takeBack.postedAt === null) return releaseHarmless(pass, batch, landing);
  const until = graceEndsAt(landing, takeBack.postedAt);
  if (pass.s.now < until) {
    if (!isWatched(pass.record, landing.head)) watchUnheard(pass, landing);
    return wakeNoLaterThan(pass, until);
  }
  if (isUnpostable(landing)) return endUnposted(pass, batch, landing);
  const block = isOfForge(takeBack.reason) ? findBlock(pass, landing) : 'nothing';
  if (block === 'unknown' && isAnswerAwaited(pass, until)) return pollNoLaterThan(pass, LANDING_POLL_MS_MAX);
  const isUnasked =
    takeBack.schedule === undefined && isScheduleDoubted(pass, landing, takeBack.reason) && !isSure(block);
  // An archived repository refuses the question, and its archive may be why the merge did not come.
  const isArchived = pass.record.archivedSince !== undefined;
  if (isUnasked && !isArchived) return askForSchedule(pass, batch, landing);
  giveUpLanding(pass, batch, landing);
  sayLastWord(pass, landing, takeBack.reason);
  if (takeBack.schedule === 'lost' && !isSure(block)) loseSchedule(pass, batch, landing);
  else if (isBlock(block)) holdBlocked(pass, batch, landing, block);
  else if (block === 'unknown' || (isUnasked && isArchived)) holdUnclear(pass, batch, landing);
  else if (takeBack.reason === 'merge_timeout') countMergeTimeout(pass, batch, landing);
  else if (takeBack.reason === 'merge_conflict') setNextAside(pass, batch);
}

/** The forge dropped the schedule before a merge that then failed: no proof against the pull request (E21). */
function loseSchedule(pass: DecisionContext, batch: Batch, landing: Landing): void {
  const entry = entryOf(pass.record, landing.pr);
  batch.fates.push({ pr: landing.pr, action: 'skipped', reason: 'schedule_lost' });
  if (entry !== undefined) leaveQueue(pass, entry, 'schedule_lost');
  sayLostSchedule(pass, { pr: landing.pr, head: entry?.head ?? landing.head });
}

/** Lets the next proven pull request land: everything is as it was staged, the intent is recorded, then `success`. */
export function advanceLanding(pass: DecisionContext): void {
  const { record, s } = pass;
  if (record.halted !== null || !awaitTakenBack(pass)) return;
  for (const each of record.batches) {
    if (mayLand(record, each)) showPhases(pass, each, provenLength(record, each));
  }
  const batch = nextToLand(record);
  noteNextToLand(record, batch, s.now);
  if (batch === null || batch.teardown !== null) return;
  if (batch.landing === null) beginLanding(pass, batch);
  else postAgain(pass, batch, batch.landing);
}

/** An intent whose `success` no answer has confirmed: it is posted again while everything is as it was staged. */
function postAgain(pass: DecisionContext, batch: Batch, landing: Landing): void {
  if (landing.postedAt !== null || landing.takeBack !== null) return;
  if (isUnpostable(landing)) return startTeardown(pass, batch, 'staging_failed');
  const focus = pass.s.focus.get(landing.pr);
  if (focus?.known === true && confirmAsStaged(pass, batch, focus.value)) postSuccess(pass, batch, landing);
}

function beginLanding(pass: DecisionContext, batch: Batch): void {
  const { record, s } = pass;
  const low = provenLength(record, batch);
  const member = batch.members[batch.landed];
  const tree = treeOf(batch, batch.landed + 1);
  if (low <= batch.landed || member === undefined || tree === undefined) return;
  forgetUnwritable(record, member.head);
  if (!awaitWords(pass, member)) return;
  const focus = s.focus.get(member.pr);
  if (focus === undefined) {
    pass.landsAtNextLook = true;
    return pollNoLaterThan(pass, 0);
  }
  if (!focus.known) return outwaitReading(pass, batch);
  if (!confirmAsStaged(pass, batch, focus.value)) return;
  const proof = proofOf(record, batch, low);
  if (proof === null || !awaitSettledHead(pass, member)) return;
  const { sha, runUrl, tree: provenTree, ofHead } = proof;
  const landing: Landing = {
    index: batch.landed,
    pr: member.pr,
    head: member.head,
    baseBefore: batch.tip,
    tree,
    proof: { sha, runUrl, tree: provenTree, ...(ofHead === undefined ? {} : { ofHead }) },
    ...askersOf(record, member.pr, member.head),
    fence: s.fence,
    intentAt: s.now,
    postedAt: null,
    nudges: 0,
    takeBack: null,
  };
  batch.landing = landing;
  postSuccess(pass, batch, landing);
}

/** Words that cannot be written: the success that follows outdates those under its own context. */
function forgetUnwritable(record: QueueRecord, head: CommitSha): void {
  record.pendingStatuses = record.pendingStatuses.filter(
    (status) =>
      !isUnderContext(record, head, status) || status.retryAt === undefined || status.takesBack === true,
  );
}

/** True once no earlier word is left to be written on this head: none may come after its `success`. */
function awaitWords(pass: DecisionContext, { head }: Member): boolean {
  const { record } = pass;
  if (!record.pendingStatuses.some((status) => isUnderContext(record, head, status))) return true;
  pollNoLaterThan(pass, 0);
  return false;
}

/** True once the head has stood for a while; until then the next look comes with it. */
function awaitSettledHead(pass: DecisionContext, { pr }: Member): boolean {
  const { record, s } = pass;
  const settlesAt = headSettlesAt(entryOf(record, pr), record.readings);
  if (s.now >= settlesAt) return true;
  // A wake comes ten seconds later at the soonest: what settles before that is waited for in this reconcile.
  // A clock that was put back makes that longer, and no wait.
  pollNoLaterThan(pass, Math.min(settlesAt - s.now, LATE_PUSH_ENTRY_MS));
  wakeNoLaterThan(pass, settlesAt);
  return false;
}

/**
 * Fresh facts against what was staged: true where `success` may be posted. Anything that differs is no ground for it (A3, A4), and
 * the wait, refusal or teardown that follows is begun here.
 */
function confirmAsStaged(pass: DecisionContext, batch: Batch, focus: FocusView): boolean {
  const member = batch.members[batch.landed];
  const { pull } = focus;
  const { protection } = pass.s;
  if (member === undefined || !protection.known) return false;
  const entry = entryOf(pass.record, member.pr);
  const changed =
    hasChanged(pass, focus, member) ||
    pull.merged ||
    entry === undefined ||
    entry.head !== member.head ||
    !isBound(entry);
  if (changed) {
    if (entry?.head === member.head) noteContradiction(pass, batch, entry, pull);
    else batch.fates.push({ pr: member.pr, action: 'requeued', reason: 'candidate_changed' });
    startTeardown(pass, batch, 'candidate_changed');
    return false;
  }
  const isUnread = isLastUnread(focus);
  if (isUnread) outwaitReading(pass, batch);
  if (isUnread || !awaitJudgement(pass, batch, entry, focus)) return false;
  batch.unreadableSince = null;
  if (awaitNoTag(pass, focus) || refuseAtLast(pass, batch, entry, focus)) return false;
  if (giveUpLostPass(pass, batch, focus)) return false;
  if (isReplacedTip(pass.record, pull.baseTip, pass.s)) {
    pollNoLaterThan(pass, LANDING_POLL_MS_MIN);
    return false;
  }
  if (pull.baseTip !== batch.tip) {
    startTeardown(pass, batch, 'base_advanced');
    return false;
  }
  if (protection.value === null || !requiresContext(protection.value, pass.record.context)) {
    reportCode(pass, 'protection_conflict');
    return false;
  }
  if (!awaitMergeable(pass, batch, focus)) return false;
  if (focus.opensAnother !== undefined) return true;
  pollNoLaterThan(pass, 0);
  return false;
}

function postSuccess(pass: DecisionContext, batch: Batch, landing: Landing): void {
  const isExact = landing.proof.tree === landing.tree;
  const size = isExact ? landing.index + 1 : provenTogether(pass.record, batch);
  landing.asked = (landing.asked ?? 0) + 1;
  // An engine that dies right after it may not have said when it was sent.
  landing.askedAt = pass.s.now + SUCCESS_SENT_WITHIN_MS;
  pass.actions.push({
    kind: 'post_status',
    pr: landing.pr,
    sha: landing.head,
    context: pass.record.context,
    state: 'success',
    description: describeLanding(landing.index + 1, Math.max(size, landing.index + 1)),
    targetUrl: landing.proof.runUrl,
    purpose: 'landing',
  });
  pollNoLaterThan(pass, nextLookMs(0, batch.firstLooks?.mergeMs));
}

/** The node that lands now is `running` in `waiting_merge`; proven ones behind it are held until it is their turn. */
function showPhases(pass: DecisionContext, batch: Batch, low: number): void {
  const proven = batch.nodes
    .filter((node) => node.to > batch.landed && node.to <= low && !isTerminal(node.outcome))
    .sort((a, b) => a.to - b.to);
  proven.forEach((node, position) => {
    moveNodeIfLegal(pass, node, position === 0 ? 'running' : 'held_success');
  });
}
