import { LEASE_SAFETY_MARGIN_MS, LEASE_TTL_MS, TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import { givenProject, givenScheduled } from '../scenario/stories.ts';
import { Judge } from './judge.ts';
import { hasAlarm, isSuccess, look, setStage, wordOn, wordsOn } from './scene-stage.ts';
import { headIsPushedAfterLanding, lowerComesAlong, lowerComesAlongUnseen } from './scenes/along-scenes.ts';
import {
  archiveBeforeStaging,
  archiveBetweenLandings,
  archiveInGate,
  archiveInLanding,
  leaveArchiveEmpty,
} from './scenes/archive-scenes.ts';
import {
  carryAfterWaiting,
  carryBeforeDying,
  carryBesideDying,
  carryBesideFailing,
  carryBesideLastTry,
  carryByLabels,
  carryClosed,
  carryFromSilentForge,
  carryFromSlowForge,
  carryInPieces,
  carryMergedLate,
  carryOnOtherBranch,
  carryOntoMoving,
  carryOntoPersons,
  carryToMany,
  carryUnasked,
  carryWrittenOtherwise,
  tellTwice,
} from './scenes/backport-scenes.ts';
import {
  hangOnMissingHead,
  hangOnToldHeads,
  hideBounced,
  hideGateRun,
  hideOneWatched,
  hideStatuses,
  hideUnanswered,
  hideUnansweredForGood,
  missHeadOfSuccess,
  refuseStagingBesideWord,
  standStillAndDie,
  standStillWithoutAnswer,
} from './scenes/bad-head-scenes.ts';
import {
  blockBeforeAnything,
  blockInLanding,
  conflictForTheForge,
  conflictSeenTooLate,
  droppedUnderHiddenRule,
  hiddenClosedDependency,
  hiddenDependency,
  hiddenLeft,
  hiddenOutdated,
  hiddenRejection,
  hiddenRight,
  lostUnderSignedRule,
  outOfTheTeam,
  pushFromOutsideTheTeam,
  reopenedWithoutBranch,
  schedulerLeaves,
  signedFromNowOn,
  silenceGate,
  slowUnderHiddenRule,
  styleOff,
  styleOffForSeveral,
  titleChangedAmidLanding,
  unmergeableTitle,
} from './scenes/blocked-scenes.ts';
import {
  landBesideBurial,
  takeContextOfAnother,
  tellSecondBranch,
  waitForBurial,
} from './scenes/branch-scenes.ts';
import {
  putClockBackAfterSchedule,
  putClockBackBeforeSchedule,
  putClockBackInLanding,
  putClockBackInRun,
  putClockBackUnderAnother,
  putClockBackUnderRefusal,
  putClockForward,
  putLateClockRight,
} from './scenes/clock-scenes.ts';
import { leaveInEachWay } from './scenes/code-scenes.ts';
import {
  addBeforeRule,
  changeAfterOwnRule,
  changeAutoText,
  changeConverted,
  changeConvertedOnForgejo,
  convertBehind,
  convertUpToDate,
  leaveConverted,
  removeConverted,
} from './scenes/converted-scenes.ts';
import { lookByOne, lookByOthers } from './scenes/cost-scenes.ts';
import {
  lookInBetween,
  tellAllTheTime,
  tellEachVerdict,
  tellNoMore,
  tellOfOtherThings,
} from './scenes/event-scenes.ts';
import {
  comeBehindFlight,
  comeBehindOldCrowd,
  comeBesideFullLine,
  comeBesideIncident,
  comeWithBad,
  failAfterAnHour,
  failForBot,
  failForPerson,
  failOnNewBase,
  scheduleBehindCrowd,
  scheduleFew,
  scheduleTwoCrowds,
  scheduleUnderShare,
  stageBesideCrowd,
  stageBesideCrowdUnlisted,
  standAfterTrial,
  standBehindAgedSuspect,
  standBehindLaterSuspect,
  tryBesidePerson,
  tryForHours,
  tryInLastSlot,
  tryInTurn,
} from './scenes/fair-scenes.ts';
import {
  chooseAfterDear,
  chooseForFew,
  chooseOfLittle,
  chooseOfPlenty,
  takeChoiceBack,
} from './scenes/fanout-scenes.ts';
import {
  changeAndRemoveFile,
  listOtherTree,
  makeFileWrong,
  obeyFile,
  seeBaseLate,
  tellChangeTwice,
} from './scenes/file-scenes.ts';
import { judgeInSpiteOfRisk, learnFromRisk, stageBeforeRisk } from './scenes/forecast-scenes.ts';
import {
  landingGoesUnread,
  otherCheckSkipped,
  scheduleWithinTheSecond,
  silentBase,
  successComesTwoMinutesLate,
  successOfBefore,
  twinAppearsLate,
  unknownWordByAnother,
} from './scenes/forge-scenes.ts';
import { drainAndFreeze, freezeInLanding, freezeWithLabels, pauseWithLabel } from './scenes/freeze-scenes.ts';
import {
  changeGateInFlight,
  chooseGateWhileMissing,
  skipChangedGate,
  waitBetweenJobs,
  waitForRunner,
} from './scenes/gate-scenes.ts';
import {
  glanceAtNight,
  glanceForAnHour,
  pressWithinTheSecond,
  pressWithoutEvent,
  promiseAtRest,
  promiseBeforeLostRecord,
} from './scenes/glance-scenes.ts';
import {
  enrollAfterBurial,
  enrollInLanding,
  holdInLanding,
  leaveInLanding,
  switchOffUnconfirmed,
  switchOnBesideAnother,
  workBesideAnother,
} from './scenes/hold-scenes.ts';
import { failAfterPushingBack, failUnderNewNumber } from './scenes/known-head-scenes.ts';
import {
  baseIsReadBeforeLanding,
  hideWhileLanding,
  mergeElsewhere,
  mergeEndsLate,
  mergeOneOfTheQueue,
  pushBeforeFirstLook,
  restoreBase,
  unlistWhileLanding,
} from './scenes/landing-scenes.ts';
import {
  branchComesLate,
  branchGoesEarly,
  branchIsMoved,
  deletionComesLate,
  hideBranchToDelete,
  stagingComesLate,
  successComesLate,
} from './scenes/late-scenes.ts';
import {
  leftAndPushed,
  leftAndUrgent,
  leftBesideAnother,
  leftBySearch,
  leftBySeveralCuts,
} from './scenes/left-by-search-scenes.ts';
import {
  answerLate,
  deleteOne,
  failSix,
  keepSilent,
  loseSightOfOne,
  sayTheSameOnThePage,
  stickSuccess,
} from './scenes/liveness-scenes.ts';
import {
  importFarBehind,
  replayTooMany,
  standOnTooMany,
  tellOldMergeBase,
  updateForWeeks,
  updateForWeeksAcross,
} from './scenes/long-branch-scenes.ts';
import {
  engineDiesWithAll,
  listShowsOlderHead,
  requestComesLate,
  storeThrottles,
  workerDies,
} from './scenes/machine-scenes.ts';
import {
  breakRunsOff,
  comeBackBeforeUnbuilt,
  holdFirstTwin,
  moveBaseUnderCrowd,
  moveBaseUnderStaging,
  neverMergeFirst,
  refuseStatuses,
  refuseTakingBack,
  refuseWords,
} from './scenes/others-scenes.ts';
import {
  provenRestComesBack,
  runOnEditedGate,
  runOnNamesakeOfFork,
  runOnOldBase,
  runThatFails,
  runUnderPattern,
  runWhereNoneIsWanted,
} from './scenes/own-run-scenes.ts';
import {
  drainInGate,
  pauseBeforeStaging,
  pauseBesideRefusedTwin,
  pauseInLanding,
  pauseOverLostRecord,
  pauseWithinLook,
  switchOffWithinLook,
} from './scenes/pause-scenes.ts';
import {
  incidentBesideSlot,
  incidentEarly,
  incidentInConflict,
  incidentLate,
  incidentOfStranger,
} from './scenes/priority-scenes.ts';
import {
  landBehindBesidePromotion,
  landBesidePromotion,
  landBesidePromotionCheckedLate,
} from './scenes/promotion-scenes.ts';
import { putForgeBack } from './scenes/put-back-scenes.ts';
import {
  editInMerge,
  importHistory,
  otherWhiteSpace,
  relandAfterRevert,
  relandInOneBatch,
  restOfCommit,
  standOnRewritten,
} from './scenes/rebase-scenes.ts';
import {
  beginBeforeAllRead,
  landBeforeLateSuccessOfLost,
  landBeforeLateSuccessTakenBack,
  landBesideUnreadable,
  landWithoutBotLogin,
  loseRecordBeforeLateSuccess,
  loseRecordOfDeleted,
  loseRecordOverUnreadable,
  loseRecordThatOwedWords,
  overwriteUnreadable,
  putRecordBack,
  putRecordBackUnscheduled,
  reopenAfterLateSuccess,
  scheduleAgainBeforeLateSuccess,
  stopOverUnreadable,
  switchOffPutBack,
} from './scenes/recall-scenes.ts';
import {
  approveByAnother,
  landBesideKnownFailure,
  landTwinBeforeAnother,
  landTwinOfAnother,
  landTwinOfOtherAuthor,
  landUnreadTwin,
  scheduleByAnother,
} from './scenes/receipt-scenes.ts';
import {
  crashBetweenWrites,
  loseRecordAfterBounce,
  loseRecordAndSchedule,
  loseRecordInLanding,
  loseRecordInRun,
  loseRecordWithoutRows,
  outgrowRow,
  outgrowRowInLanding,
  outgrowRowInStaging,
} from './scenes/record-scenes.ts';
import {
  backToApproved,
  fixAfterBounce,
  lateUnanswered,
  moveOffRefusedHead,
  pushBeforeFastGate,
  pushByKey,
  pushTwice,
  pushWhileClosed,
  sentElsewhereAndBack,
  sentHereBeforeUpgrade,
  sentHereUnderSchedule,
  sentHereWithLandedHead,
} from './scenes/renewal-scenes.ts';
import {
  forbiddenRepair,
  hookDriftAtRest,
  peoplesChoice,
  repairedTwice,
  ruleDriftAtRest,
  undoneRepairs,
} from './scenes/repair-scenes.ts';
import {
  askForOldContext,
  askForOpenClass,
  askForRangesOfForgejo,
  renameBase,
  ruleOverOwnBranches,
} from './scenes/rule-scenes.ts';
import {
  askForNoRunner,
  askRunnersSeldom,
  fillFewRunners,
  gainRunners,
  keepFewRunnersBusy,
  leaveRunners,
  runLongWithChangedGate,
  waitWithChangedGate,
} from './scenes/runner-scenes.ts';
import {
  buildNothingOnTop,
  changeGateOnTop,
  conflictInFewGood,
  conflictInManyGood,
  conflictInManyRisky,
  conflictInTheMiddle,
  failOnTop,
  failOnTwo,
  incidentOnTop,
  lingerOnTop,
  trickle,
} from './scenes/shared-run-scenes.ts';
import {
  bothTwinsAreMerged,
  landingEndsOverRefusal,
  twinElsewhereForAWhile,
  twinIsMerged,
  twinIsPushedBesideStaged,
  twinIsPushedBesideUnbound,
  twinMergedAlongComesBack,
  twinOfBouncedLands,
} from './scenes/twin-scenes.ts';
import {
  hangOnDeparted,
  hideBouncedWatched,
  hideLandingOfTwin,
  hideLateSuccessForGood,
  hideLateSuccessOfLost,
  loseForgeAtEndOfWatch,
} from './scenes/unread-head-scenes.ts';
import {
  approveByBot,
  approveWithoutSay,
  deleteApprovalOfBot,
  deleteApprovalOfFork,
  pushByBot,
  pushOutsideTeams,
  pushUnnamed,
  pushUnnamedSoon,
  pushWithoutSay,
  replaceUnknown,
  replaceUnread,
  scheduleAgain,
  scheduleAgainUnread,
  scheduleByBot,
  scheduleOutsideTeams,
  scheduleOwn,
  scheduleTooMany,
  scheduleUnnamed,
  setAsideBeforeAnother,
} from './scenes/who-may-scenes.ts';
import {
  anotherMovesToBounced,
  bothTwinsLeave,
  departureComesOverReturn,
  keptOutAfterLoss,
  leaveWhileLanding,
  leaveWhileOff,
  loseRecordBesideUnscheduled,
  loseRecordUnderTrueWords,
  moveBaseUnderRefusal,
  stagedComesOverDeparture,
  staleWordComesOverTwins,
  successOverBouncedDraft,
  switchOffUnderTwins,
  tellWhereEachStands,
  tellWhoLeaves,
  tellWhoWaitsInStopped,
  wordsComeOverBounce,
} from './scenes/word-scenes.ts';

/**
 * The few moments that chance meets once in thousands of lives, each as a scene of its own: what it says is wrong. The
 * engine as it is makes nothing wrong; the one without the guard that the scene is about does.
 */
type Scene = () => Promise<readonly string[]>;

/** Longer than a reconcile. */
const OUTAGE_MS = 30_000;

/** The forge merges what was pushed after it had checked (E1): seen, alarmed, and nothing lands after it. */
async function mergeNewerHead(): Promise<readonly string[]> {
  let pushed = false;
  const stage = await setStage({
    switches: { mergesUncheckedHead: true },
    onEntry: (entry, { clock, forge }) => {
      if (!isSuccess(entry) || pushed) return;
      pushed = true;
      clock.after(1_000, async () => {
        await forge.pushToPullRequest(prs[0] ?? 0, { 'src/a.txt': 'newer\n' });
      });
    },
  });
  await givenProject(stage.forge);
  stage.forge.mergeBehaviour = (pr) => (pr === prs[0] ? { kind: 'slow', ms: 3_000 } : { kind: 'now' });
  const prs = [await givenScheduled(stage.forge, 'a'), await givenScheduled(stage.forge, 'b')];
  await stage.drain();
  const merged = stage.forge.merges().map((merge) => merge.pr);
  const problems: string[] = [];
  if (merged[0] !== prs[0]) return ['the scene did not come about'];
  if (!hasAlarm(stage, 'tree_mismatch'))
    problems.push('a landed tree that is not the proven one was not noticed');
  if (merged.length > 1) problems.push('something landed after a wrong tree');
  return problems;
}

/** The base is written anew between a success and its merge: the tree is the proven one, what lies below it is not. */
function rewriteBase(contents: readonly string[]): Scene {
  return async () => {
    let rewritten = false;
    let older = '';
    const stage = await setStage({
      onEntry: (entry, { clock, forge }) => {
        if (!isSuccess(entry) || rewritten) return;
        rewritten = true;
        // Right before the automatic merge.
        clock.after(400, () => forge.pushBranch('main', older));
      },
    });
    await givenProject(stage.forge);
    older = await stage.forge.tip('main');
    await stage.forge.pushToBase({ 'passing.txt': 'here\n' });
    await stage.forge.pushToBase({ 'passing.txt': null });
    for (const name of contents) await givenScheduled(stage.forge, name);
    await stage.drain({ maxMs: 30 * 60_000 });
    const [merged] = stage.forge.merges().map(({ pr }) => pr);
    if (merged === undefined) return ['the scene did not come about'];
    await look(stage, 4);
    const words = await wordsOn(stage, merged);
    return [
      ...(hasAlarm(stage, 'tree_mismatch')
        ? []
        : ['a landing on a base that was written anew was not noticed']),
      ...(words === PULL_CODES.unverified.says ? [] : [`the head of an unproven landing: "${words}"`]),
    ];
  };
}

/** A person merges what the queue never saw (A39). */
async function mergeBehindItsBack(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await givenScheduled(stage.forge, 'a');
  await stage.drain();
  const stranger = await stage.forge.openPullRequest({ branch: 'stranger', files: { 'src/x.txt': 'x\n' } });
  await look(stage, 3);
  await stage.forge.mergeByHand(stranger);
  await look(stage, 3);
  return hasAlarm(stage, 'unverified_landing') ? [] : ['a merge past the queue raised no alarm'];
}

/** … while a merge of the queue's own is awaited (A39): what moved the base was not that one. */
async function mergeBesideALanding(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const stranger = await stage.forge.openPullRequest({ branch: 'stranger', files: { 'src/x.txt': 'x\n' } });
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await stage.forge.mergeByHand(stranger);
  await look(stage, 6);
  return hasAlarm(stage, 'unverified_landing') ? [] : ['a merge past a landing raised no alarm'];
}

/**
 * A person pushes to the base before each call of three landings in turn: what is seen to have moved is no ground for a
 * success (A4). The rule cannot be read when the run ends, so that a look at everything comes right before the first one.
 */
async function pushBeforeEachCall(): Promise<readonly string[]> {
  const problems: string[] = [];
  for (let at = 0; ; at += 1) {
    const calls: string[] = [];
    let awayUntil = 0;
    const stage = await setStage({
      onEntry: (entry, { clock }) => {
        if (entry.kind === 'run' && awayUntil === 0) awayUntil = clock.now() + OUTAGE_MS;
      },
      wrapForge: (forge) =>
        new Proxy(forge, {
          get(target, name) {
            const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
            return async (...values: unknown[]) => {
              const [, post] = values as [unknown, { readonly state?: string } | undefined];
              if (calls.length === at) await stage.forge.pushToBase({ 'pushed.txt': `${at}\n` });
              calls.push(name === 'postStatus' && post?.state === 'success' ? 'success' : String(name));
              return call.apply(target, values);
            };
          },
        }),
    });
    stage.forge.fault = ({ path }) =>
      path.endsWith('/branch_protections') && stage.clock.now() < awayUntil ? { status: 502 } : null;
    await givenProject(stage.forge);
    const judge = new Judge(stage.forge, {
      bot: 'mq-bot',
      contexts: [DEFAULT_SERVICE_NAME],
      baseIsProtected: false,
    });
    for (const name of ['a', 'b', 'c']) await givenScheduled(stage.forge, name);
    for (let count = 0; count < 20 && stage.forge.merges().length < 3; count += 1) {
      await stage.reconcile();
      await stage.clock.advance(10_000);
    }
    if (calls.length <= at) return problems;
    judge.read();
    const success = calls.indexOf('success', at);
    // Between the last look and the success nothing can prevent it; the tree of the merge shows it afterwards.
    const wasSeen = calls.slice(at, success).includes('readPullRequest');
    if (success >= 0 && wasSeen && judge.unproven.size > 0)
      problems.push(`call ${at} (${calls[at]}): landed on a base that was seen to have moved`);
  }
}

/** The base moves while the batch is gated: the batch ends, whatever its run is going to say (A23). */
async function pushWhileGated(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  stage.forge.judge = () => 'hold';
  await givenScheduled(stage.forge, 'a');
  await look(stage, 2);
  await stage.forge.pushToBase({ 'pushed.txt': 'pushed\n' });
  await look(stage, 3);
  const first = (await stage.rows()).find((row) => row.terminalReason === 'base_advanced');
  return first?.outcome === 'invalidated' ? [] : ['a batch outlived its base'];
}

/** Reviews that the rule asks for are missing, or are of an older commit (A29, A31). */
function askForReviews(isStale: boolean): Scene {
  return async () => {
    const stage = await setStage();
    await givenProject(stage.forge);
    await stage.forge.setProtection({ requiredApprovals: 1, ignoreStaleApprovals: true });
    const pr = await givenScheduled(stage.forge, 'a');
    if (isStale) {
      await stage.forge.review(pr, 'reviewer', 'approve');
      await stage.forge.cancelSchedule(pr);
      await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'other\n' });
      await stage.clock.advance(60_000);
      await stage.forge.schedule(pr, 'squash');
    }
    await look(stage, 4);
    const runs = stage.forge.runs().length;
    return runs === 0 ? [] : [`${runs} runs for a pull request that the reviews refuse`];
  };
}

/** Code that one who cannot write here has pushed runs with the secrets of the repository once it is staged (D-99). */
function stageOutside(from: 'fork' | 'agit' | 'reader'): Scene {
  return async () => {
    const stage = await setStage();
    await givenProject(stage.forge);
    if (from === 'reader') await stage.forge.setAccess('stranger', 'read');
    const pr = await stage.forge.openPullRequest({
      branch: 'a',
      files: { 'src/a.txt': 'a\n' },
      ...(from === 'reader' ? {} : { [from]: true }),
      author: 'stranger',
    });
    await stage.forge.scheduleAs(from === 'fork' ? 'stranger' : 'maintainer', pr, 'squash');
    await look(stage, 4);
    return stage.forge.runs().length === 0 ? [] : ['the code of a stranger ran with our secrets'];
  };
}

/** A push under a schedule that was not made for it (A30): the queue sees it for the first time, or knew the head before (D-03). */
function pushUnderSchedule(afterMs: number, isKnown: boolean): Scene {
  return async () => {
    // Until its entry is written, the timeline reads as if the new head had been scheduled.
    const delays = { pushEntryMs: isKnown ? 200_000 : 0 };
    const stage = await setStage({ repo: { batchLingerSeconds: 60 }, delays });
    await givenProject(stage.forge);
    const pr = await givenScheduled(stage.forge, 'a');
    if (isKnown) await stage.reconcile();
    await stage.clock.advance(afterMs);
    await stage.forge.setAccess('stranger', 'read');
    const head = await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'not asked for\n' }, 'stranger');
    await look(stage, 8);
    const proven = stage.forge.statusHistory(head).some(({ state }) => state === 'success');
    return proven ? ['a head that no person with the right asked for was let through'] : [];
  };
}

/** Another account says success for us, on a head whose review is still to come (A7): it must not open the gate then. */
async function forgeSuccess(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await stage.forge.setProtection({ requiredApprovals: 1 });
  const pr = await givenScheduled(stage.forge, 'a');
  await look(stage, 1);
  const { headSha } = await stage.forge.pull(pr);
  await stage.forge.postStatusAs('stranger', headSha, DEFAULT_SERVICE_NAME, 'success');
  await stage.clock.advance(TICK_INTERVAL_MS);
  await look(stage, 1);
  stage.forge.judge = () => 'hold';
  await stage.forge.review(pr, 'reviewer', 'approve');
  await look(stage, 4);
  return stage.forge.merges().length === 0
    ? []
    : ['the success of another account let one in that nothing proved'];
}

/** The rule asks for a pattern that ours is one match of among many (E14). */
async function requirePattern(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await stage.forge.setProtection({ requiredContexts: ['m*'] });
  await givenScheduled(stage.forge, 'a');
  await look(stage, 4);
  return stage.forge.runs().length === 0 ? [] : ['a gate that any status opens was taken for one'];
}

/** A call that a frozen holder sent right before its deadline arrives after its lease: the next lease may not be held by then (E7). */
async function takeOver(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  const { headSha } = await stage.forge.pull(pr);
  const leases = { leases: stage.store, clock: stage.clock, ids: { uuid: () => 'frozen' } };
  const [repo] = await stage.store.listRepos('tenant-1');
  if (repo === undefined) return ['the scene did not come about'];
  const sent = await withLease(
    leases,
    repo.id,
    'test',
    LEASE_TTL_MS,
    async (held) => {
      await stage.clock.advance(LEASE_TTL_MS - LEASE_SAFETY_MARGIN_MS - 1);
      if (held.isPastDeadline()) return null;
      stage.forge.isLate = () => true;
      await stage.forge.forge
        .postStatus(headSha, {
          state: 'pending',
          context: DEFAULT_SERVICE_NAME,
          description: 'late',
          targetUrl: null,
        })
        .catch(() => undefined);
      stage.forge.isLate = () => false;
      return 'sent';
    },
    { leaveRunning: () => true },
  );
  if (sent.kind === 'skipped' || sent.value === null) return ['the scene did not come about'];
  const arrived = (): boolean =>
    stage.forge.statusHistory(headSha).some(({ description }) => description === 'late');
  for (let waited = 0; waited < LEASE_TTL_MS; waited += 250) {
    const next = await withLease(leases, repo.id, 'test', LEASE_TTL_MS, async () => arrived());
    if (next.kind === 'performed')
      return next.value ? [] : ['a lease was taken over before the last call of its holder'];
    await stage.clock.advance(250);
  }
  return ['the lease was never free'];
}

/**
 * Two batches failed by accident and are proven by one built on them; then a head of that one changes, and
 * the proof goes with it. The push renews the schedule: all of them land.
 */
async function takeProofAway(): Promise<readonly string[]> {
  let pushed = false;
  const prs: number[] = [];
  const stage = await setStage({
    repo: { bisectFanout: 16 },
    onEntry: (entry, { clock, forge }) => {
      if (!isSuccess(entry) || pushed) return;
      pushed = true;
      clock.after(1_000, async () => {
        await forge.pushToPullRequest(prs.at(-1) ?? 0, { 'src/last.txt': 'changed\n' });
      });
    },
  });
  await givenProject(stage.forge);
  let runs = 0;
  stage.forge.judge = () => {
    runs += 1;
    return runs === 2 || runs === 3 ? 'failure' : 'success';
  };
  stage.forge.mergeBehaviour = () => ({ kind: 'slow', ms: 5_000 });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    prs.push(await givenScheduled(stage.forge, name));
  await stage.drain();
  const failed = stage.log.filter(({ message }) => message === 'reconcile failed');
  if (failed.length > 0) return [`the queue stands still: ${JSON.stringify(failed[0]?.fields)}`];
  const landed = stage.forge.merges().length;
  return landed === prs.length ? [] : [`${landed} of ${prs.length} landed`];
}

export const SCENES = {
  'the forge is put back while two of three have landed': putForgeBack(2),
  'the forge is put back after all have landed': putForgeBack(null),
  'a branch takes the context of another': takeContextOfAnother,
  'a branch lands while the record of another is wound down': landBesideBurial,
  'a branch is enrolled again under another context': waitForBurial({ baseBranch: 'main' }),
  'another branch is enrolled under the context of one that is wound down': waitForBurial({
    statusContext: DEFAULT_SERVICE_NAME,
  }),
  'an event tells of the second branch': tellSecondBranch(false),
  'an event tells of the second branch when the first is gone': tellSecondBranch(true),
  'each look is by another engine': lookByOthers,
  'one engine sees two batches whole': lookByOne,
  'the base is merged into a branch for weeks': updateForWeeks,
  'a branch has two merge bases among many merges': updateForWeeksAcross,
  'more commits than can be listed are to be replayed': replayTooMany,
  'an import is further behind than can be listed': importFarBehind,
  'one stands on an import in the same batch': standOnTooMany(60_000),
  'one stands on an import that is under way': standOnTooMany(5 * 60_000),
  'the forge tells a merge base of before': tellOldMergeBase,
  'none but those behind suspects waits': leftBySearch,
  'another one comes beside those behind suspects': leftBesideAnother,
  'one behind suspects is pushed to': leftAndPushed,
  'one behind suspects becomes an incident': leftAndUrgent,
  'those behind suspects wait, and several cuts are tried': leftBySeveralCuts,
  'one in the middle of a batch conflicts with it': conflictInTheMiddle,
  'what stands on a batch that ended at a conflict fails': failOnTop,
  'two batches end at a conflict, and what stands on both fails': failOnTwo,
  'a repository is archived before anything is staged': archiveBeforeStaging,
  'a repository is archived while a gate run is out': archiveInGate,
  'a repository is archived while a success stands': archiveInLanding,
  'a repository is taken out of the archive as its last pull request is closed': leaveArchiveEmpty,
  'a repository is archived as the first of a batch lands': archiveBetweenLandings,
  'one of seven that are good as a rule conflicts, and slots are free': conflictInManyGood,
  'one of six that are good as a rule conflicts, and slots are free': conflictInFewGood,
  'one of seven that are often bad conflicts, and slots are free': conflictInManyRisky,
  'the forge does not build what comes on top of a batch': buildNothingOnTop,
  'what comes on top of a batch changes the gate': changeGateOnTop,
  'an incident comes while a batch that ends at a conflict is built': incidentOnTop,
  'one is scheduled while a batch that ends at a conflict is built': lingerOnTop,
  'one more is scheduled each minute, and they linger': trickle,
  'a newer head is scheduled by another person': scheduleByAnother,
  'a twin was scheduled by another person': landTwinOfAnother,
  'a twin of another author landed': landTwinOfOtherAuthor,
  'the merge of a twin cannot be read for a while': landUnreadTwin,
  'the forge merges the twin of the first of a batch': landTwinBeforeAnother,
  'one lands before another whose failure is known': landBesideKnownFailure,
  'an earlier head was approved by another person': approveByAnother,
  'an incident comes right after a batch was staged': incidentEarly,
  'an incident comes when a gate run is nearly over': incidentLate,
  'an incident comes while a slot is free': incidentBesideSlot,
  'a stranger puts the label of an incident on': incidentOfStranger,
  'an incident conflicts with the base and with what is in flight': incidentInConflict,
  'an account that is not named schedules': scheduleUnnamed,
  'a change that the base has is set aside before another of its author': setAsideBeforeAnother,
  'an account that is in no team schedules': scheduleOutsideTeams,
  'an account that is in no team pushes under a schedule': pushOutsideTeams,
  'an author schedules a pull request of their own': scheduleOwn,
  'an account that is not named pushes under a schedule': pushUnnamed,
  'an account that is not named pushes within seconds after a schedule': pushUnnamedSoon,
  'a bot pushes under the schedule of a person': pushByBot,
  'one without a say approves what a bot schedules': approveWithoutSay,
  'one without a say approves a push': pushWithoutSay,
  'a bot schedules without an approval': scheduleByBot,
  'a bot approves what a bot schedules': approveByBot,
  'an author schedules more than the settings allow': scheduleTooMany,
  'a head that fails is scheduled again and again': scheduleAgain,
  'a head that fails is scheduled again while its statuses cannot be read': scheduleAgainUnread,
  'an author schedules anew what is tested, and the forge does not tell at first': replaceUnread,
  'an account that is in no team schedules anew what is tested': replaceUnknown,
  'the approval of what a bot scheduled is deleted': deleteApprovalOfBot,
  'the approval of a fork is deleted': deleteApprovalOfFork,
  'what is urgent stands before a suspect by its schedule, and behind it in its turn':
    standBehindLaterSuspect,
  'what is urgent stands behind a suspect that has aged': standBehindAgedSuspect,
  'one account schedules many, then a person some': scheduleBehindCrowd,
  'two accounts schedule many': scheduleTwoCrowds,
  'one account schedules many, then a person one': stageBesideCrowd,
  'one account schedules many beside the gate run of a person': tryBesidePerson,
  'one account schedules many beside the gate run of a person, with few slots': tryInLastSlot,
  'one account schedules many beside the gate run of a person, and others come': tryInTurn,
  'one account is tried for hours beside the gate runs of others': tryForHours,
  'suspects come back while later ones of the same file are not built yet': comeBackBeforeUnbuilt,
  'one account schedules many beside the incident of a person': comeBesideIncident,
  'one account has passed beside the gate run of a person': standAfterTrial,
  'a line is full beside an account with many, and others come': comeBesideFullLine,
  'a bad one comes with each four good ones': comeWithBad,
  'many are scheduled, and the queue may spend what it wants': chooseOfPlenty,
  'many are scheduled, and the queue may spend little': chooseOfLittle,
  'few are scheduled, and the queue may spend little': chooseForFew,
  'one whose own CI failed is scheduled among others': stageBeforeRisk,
  'one whose own CI failed is good, and its first gate run fails by itself': judgeInSpiteOfRisk,
  'one whose own CI failed fails at the gate': learnFromRisk,
  'the first that land after a choice are dear': chooseAfterDear,
  'the choice of the fan-out is taken back from the queue': takeChoiceBack,
  'many accounts schedule some each': scheduleUnderShare,
  'two people schedule a few': scheduleFew,
  'one account has many in flight, then a person comes': comeBehindFlight,
  'one account has waited for hours with many, then a person comes': comeBehindOldCrowd,
  'a bot schedules a head that failed': failForBot,
  'a person schedules a head that failed, twice': failForPerson,
  'a person schedules a head that failed twice, on another base': failOnNewBase,
  'a bot brings a head that failed under another number': failUnderNewNumber,
  'a bot pushes a head that failed back': failAfterPushingBack,
  'a person schedules a head that failed twice, an hour later': failAfterAnHour,
  'a pause beside the refusal of a twin': pauseBesideRefusedTwin,
  'a named account and a stranger exempt from a freeze window': freezeWithLabels,
  'a freeze window begins while a success stands': freezeInLanding,
  'a pause of one that is exempt from freeze windows': pauseWithLabel,
  'a drain in a freeze window': drainAndFreeze,
  'a settings file allows one gate run, and the page sixteen': obeyFile,
  'a settings file on the base becomes wrong': makeFileWrong,
  'the forge lists another tree than that of the base': listOtherTree,
  'a settings file changes and is taken away': changeAndRemoveFile,
  'a settings file lands, and the list shows the base of before': seeBaseLate,
  'a change of a settings file is staged twice': tellChangeTwice,
  'a gate run waits for a runner longer than its deadline': waitForRunner,
  'a gate run waits for a runner between two jobs': waitBetweenJobs,
  'one is staged and the next one waits': tellWhereEachStands,
  'the base moves under one that changes nothing': moveBaseUnderRefusal,
  'the record is lost under words that are true': loseRecordUnderTrueWords,
  'there are three runners and a long line': fillFewRunners,
  'there are three runners and a line that never ends': keepFewRunnersBusy,
  'three runners take their next run thirty seconds later': () => keepFewRunnersBusy(30_000),
  'a changed gate waits for the runner of another run': waitWithChangedGate,
  'a changed gate skips each of its jobs': skipChangedGate,
  'there were three runners, and now there are plenty': gainRunners,
  'runners ask for work once a minute': askRunnersSeldom,
  'a second gate run asks for a runner that does not exist': askForNoRunner,
  'there were two runners, and now another CI is the gate': leaveRunners,
  'the record is lost in a pause, which then ends': pauseOverLostRecord,
  'landings are carried by their labels': carryByLabels,
  'a pull request with a label waits for its gate': carryAfterWaiting,
  'landings that no owner wants carried': carryUnasked,
  'a branch has the change of a backport, or has its file otherwise': carryOnOtherBranch,
  'a person has a branch under the name of a backport': carryOntoPersons,
  'a person closes a backport': carryClosed,
  'what became of a backport is forgotten': tellTwice,
  'a function that carries landings dies at each of its calls': carryInPieces,
  'a pull request has a dozen labels of backports': carryToMany,
  'a landing is called merged a minute later': carryMergedLate,
  'the forge fails on one landing for ever, and another is behind it': carryBesideFailing,
  'a function dies at one landing each time, and another is behind it': carryBesideDying,
  'a function dies at the later of two landings each time': carryBeforeDying,
  'another look comes during the last try of a backport': carryBesideLastTry,
  'the forge is so slow that a landing fills a function': carryFromSlowForge,
  'the forge answers nothing when a backport would be given up': carryFromSilentForge,
  'the forge writes a backport otherwise than the patch says': carryWrittenOtherwise,
  'a branch moves while a backport to it is made': carryOntoMoving,
  'a person undoes each repair': undoneRepairs,
  'a rule is edited where repairs are not allowed': forbiddenRepair,
  'a person allows direct pushes': peoplesChoice,
  'two functions put a hook back': repairedTwice,
  'a rule is edited while nothing is scheduled': ruleDriftAtRest,
  'a hook is deleted while nothing is scheduled': hookDriftAtRest,
  'two wait for the end of a pause': pauseBeforeStaging,
  'the queue is paused while the engine looks': pauseWithinLook,
  'a switch-off asks the engine to stop while it looks': switchOffWithinLook,
  'the queue is paused while a success stands': pauseInLanding,
  'the queue is drained while a gate run is out': drainInGate,
  'a newer head is merged': mergeNewerHead,
  'the base is rewritten under the last landing': rewriteBase(['a']),
  'the base is rewritten under a landing with another behind it': rewriteBase(['a', 'b', 'c']),
  'the base is pushed back and restored': restoreBase,
  'the bot may not see the repository for a while amid a landing': hideWhileLanding,
  'the list cannot be read for a while amid a landing': unlistWhileLanding,
  'one of the queue is merged past it, and the base is read first': mergeOneOfTheQueue({
    list: 50_000,
    pull: 50_000,
  }),
  'one of the queue is merged past it, and the base is read last': mergeOneOfTheQueue({
    listRefs: 50_000,
    pullRefs: 50_000,
    branch: 50_000,
  }),
  'a merge ends long after its success was taken back': mergeEndsLate,
  'a push before the first look': pushBeforeFirstLook,
  'a base is read before the landing that replaced it': baseIsReadBeforeLanding,
  'a merge past the queue': mergeBehindItsBack,
  'a merge past the queue while it lands': mergeBesideALanding,
  'a success comes late': successComesLate,
  'a success comes two minutes late': successComesTwoMinutesLate,
  'a schedule within the second of a look': scheduleWithinTheSecond,
  'a landing cannot be read any more': landingGoesUnread,
  'a merge is blocked before anything is staged': blockBeforeAnything,
  'a merge is blocked in a landing': blockInLanding({ afterMs: 0, isLost: false, isUnread: false }),
  'a merge is blocked late in a landing': blockInLanding({
    afterMs: 7 * 60_000,
    isLost: true,
    isUnread: false,
  }),
  'the block of a merge cannot be read': blockInLanding({ afterMs: 0, isLost: false, isUnread: true }),
  'another required check was skipped': otherCheckSkipped,
  'another account writes a word of its own under the check of the queue': unknownWordByAnother,
  'the forge alone sees a conflict': conflictForTheForge,
  'the forge sees a conflict after the success': conflictSeenTooLate,
  'a gate is silenced': silenceGate,
  'a required check is malformed': askForOpenClass,
  'a required check is malformed on Forgejo alone': askForRangesOfForgejo,
  'a rule covers the branches of the queue': ruleOverOwnBranches,
  'a person renames the base': renameBase,
  'the rule asks for a former context of the queue': askForOldContext,
  'a success of before stands when a head is scheduled': successOfBefore,
  'a twin appears while its head is gated': twinAppearsLate,
  'a rejection blocks by a rule that the bot may not read': hiddenRejection,
  'a rule that the bot may not read blocks an outdated head': hiddenOutdated,
  'who scheduled leaves where the bot is no administrator': hiddenLeft,
  'a schedule is dropped where the bot may not read the rule': droppedUnderHiddenRule,
  'a merge is slow where the bot may not read the rule': slowUnderHiddenRule,
  'a right to write is hidden in a team': hiddenRight,
  'a pull request is opened again without its branch': reopenedWithoutBranch,
  'one outside the team that may merge pushes to what a member scheduled': pushFromOutsideTheTeam,
  'who scheduled is not in the team that may merge from now on': outOfTheTeam,
  'who scheduled loses the right to write': schedulerLeaves,
  'the style of a queue is switched off amid a landing': styleOff,
  'the style of a queue is switched off before several land': styleOffForSeveral,
  'a dependency is open where the bot may not see it': hiddenDependency,
  'merges have to be signed from now on, and the forge has no key': signedFromNowOn,
  'a merge is lost where merges have to be signed': lostUnderSignedRule,
  'a title holds what git takes in no message': unmergeableTitle,
  'a title is changed amid a landing to one that git takes in no message': titleChangedAmidLanding,
  'a dependency is closed where the bot may not see it': hiddenClosedDependency,
  'a change that the base took back comes again in a rebase': relandAfterRevert,
  'a change that was taken back in its batch comes again in a rebase': relandInOneBatch,
  'an author changes something in a merge that a rebase drops': editInMerge,
  'a change comes again with other white space in a rebase': otherWhiteSpace,
  'a pull request stands on one that a rebase writes anew': standOnRewritten,
  'what a rebase leaves of a commit is the change of another one': restOfCommit,
  'a pull request imports a history in a rebase': importHistory,
  'a rebase stops at a file that git converts': changeConverted,
  'a rebase stops at a file that its head converts for good': removeConverted,
  'a rebase stops at a file that a commit of its own converts': convertBehind,
  'a rebase leaves commits as they are that stand on the base': convertUpToDate,
  'a rebase stops at a new file that the base has a rule for': addBeforeRule,
  'a rebase stops at the base, which lacks the rule of the head': changeAfterOwnRule,
  'a rebase passes a file by that git converts and that does not change': leaveConverted,
  'a rebase checks out a file whose line ends git leaves alone': changeAutoText,
  'a forge checks out the heads alone that lack its base': changeConvertedOnForgejo,
  'the base heads a pull request to another branch': landBesidePromotion,
  'the base heads a pull request to another branch, and a check is late': landBesidePromotionCheckedLate,
  'a head behind the base lands beside a pull request from there': landBehindBesidePromotion,
  'a landing brings what is below it': lowerComesAlong('merge'),
  'a landing brings what is below it, by a fast-forward': lowerComesAlong('rebase'),
  'a landing brings what is below it between two looks': lowerComesAlongUnseen('merge'),
  'a landing brings what is below it between two looks, by a fast-forward': lowerComesAlongUnseen('rebase'),
  'a head is pushed past the queue after a landing': headIsPushedAfterLanding,
  'a twin is merged by the success of a landing': twinIsMerged,
  'both twins are merged by the success of a landing': bothTwinsAreMerged,
  'the twin of one that was bounced lands': twinOfBouncedLands,
  'a twin is open to another branch for a while': twinElsewhereForAWhile,
  'the twin of one that was sent here is pushed to': twinIsPushedBesideUnbound,
  'the twin of one that is judged is pushed to': twinIsPushedBesideStaged,
  'a landing ends over its own refusal': landingEndsOverRefusal(false),
  'a landing ends over the refusal of a twin': landingEndsOverRefusal(true),
  'words come late over a bounce': wordsComeOverBounce,
  'a success over the bounce of a draft': successOverBouncedDraft,
  'words of a success come late over the refusal of twins': staleWordComesOverTwins,
  'another one moves to the head of a bounce': anotherMovesToBounced,
  'one leaves and comes back': tellWhoLeaves,
  'the word that one is staged comes after it left': stagedComesOverDeparture,
  'one leaves while it lands': leaveWhileLanding,
  'two with one head leave': bothTwinsLeave,
  'a queue has stopped': tellWhoWaitsInStopped,
  'the word that one left comes after it is back': departureComesOverReturn,
  'a queue goes off in which two have one head': switchOffUnderTwins,
  'one leaves while the queue is off': leaveWhileOff,
  'another check keeps one out that a lost record had staged': keptOutAfterLoss,
  'a record is lost beside one with the same head that is not scheduled': loseRecordBesideUnscheduled,
  'the tip of the base says that no run starts': silentBase,
  'a hold in a landing': holdInLanding,
  'a tenant leaves in a landing': leaveInLanding,
  'an address is enrolled again in a landing': enrollInLanding,
  'an address is enrolled again after a burial': enrollAfterBurial,
  'a queue is switched off while the forge is away': switchOffUnconfirmed,
  'two deployments on one repository': workBesideAnother,
  'a queue is switched on again beside another one': switchOnBesideAnother,
  'a branch comes late': branchComesLate,
  'the repository hides before a branch is deleted': hideBranchToDelete,
  'the staging of a batch comes late and unsaid': stagingComesLate(['BAD\n']),
  'the staging of a part comes late and unsaid': stagingComesLate(['BAD\n', 'good\n']),
  'a branch goes early': branchGoesEarly,
  'a staging branch is moved': branchIsMoved,
  'a deletion comes late': deletionComesLate,
  'a push to the base before each call': pushBeforeEachCall,
  'a push to the base while gated': pushWhileGated,
  'no approval': askForReviews(false),
  'a stale approval': askForReviews(true),
  'a fork without approval': stageOutside('fork'),
  'an AGit head without approval': stageOutside('agit'),
  'a branch of an author who may only read': stageOutside('reader'),
  'a push after a schedule': pushUnderSchedule(30_000, false),
  'a push right after a schedule': pushUnderSchedule(3_000, true),
  'a second push is not told yet': pushTwice,
  'a push within seconds after a schedule': pushUnderSchedule(3_000, false),
  'a push of which the queue learns after a fast gate run': pushBeforeFastGate,
  'the forge does not say who stands for a late push': lateUnanswered,
  'a deploy key pushes under a schedule': pushByKey,
  'a push while it is closed': pushWhileClosed,
  'a pull request that is scheduled for another branch is sent to this one': sentHereUnderSchedule,
  'a pull request was sent to this branch before an upgrade': sentHereBeforeUpgrade,
  'a pull request is sent to this branch with the head of one that lands': sentHereWithLandedHead,
  'a scheduled pull request is sent to another branch and back': sentElsewhereAndBack,
  'a fork goes back to an approved head': backToApproved,
  'one of two with a head that is refused moves on': moveOffRefusedHead,
  'a fix after a bounce': fixAfterBounce,
  'each way out has a code': leaveInEachWay,
  'the gate is changed while a batch is out': changeGateInFlight,
  'another gate is chosen while the one of before is missing': chooseGateWhileMissing,
  'the rest of a proven batch comes back': provenRestComesBack,
  'a head has run a gate that it changed itself': runOnEditedGate,
  'a branch that was run has the name and the head of a fork': runOnNamesakeOfFork,
  'a head was run before the base moved': runOnOldBase,
  'a run of a head has failed': runThatFails,
  'a head has passed all that a pattern shows': runUnderPattern,
  'a head has passed, and its owner does not want that to count': runWhereNoneIsWanted,
  'the success of another account': forgeSuccess,
  'a pattern is required': requirePattern,
  'a lease is taken over': takeOver,
  'a request comes under the lease of another': requestComesLate,
  'the record is lost in a landing': loseRecordInLanding,
  'the record of a landing is lost that no row tells of': loseRecordWithoutRows,
  'the proof of a failed batch is taken away': takeProofAway,
  'the record and the schedule are lost in a landing': loseRecordAndSchedule,
  'the record is lost after a bounce': loseRecordAfterBounce,
  'the record is lost, and the head that wears a success cannot be read': loseRecordOverUnreadable,
  'the record is lost before its success is carried out': loseRecordBeforeLateSuccess,
  'the record is lost, and the pull request that wears a success is deleted': loseRecordOfDeleted,
  'an earlier record is put back under a success': putRecordBack,
  'an earlier record is put back under a success of what is not scheduled any more': putRecordBackUnscheduled,
  'a queue is to stop whose record was lost and whose success cannot be read': stopOverUnreadable,
  'the record is lost, and another one would land before its success is carried out':
    landBeforeLateSuccessOfLost,
  'a success without an answer is taken back, and another one would land before it is carried out':
    landBeforeLateSuccessTakenBack,
  'the record is lost, and the head that wears a success cannot be read for long': overwriteUnreadable,
  'the record is lost, and its schedule is made again before its success is carried out':
    scheduleAgainBeforeLateSuccess,
  'the record is lost, and its pull request is closed and reopened around its success':
    reopenAfterLateSuccess,
  'an earlier record is put back, and the forge does not tell who the bot is': landWithoutBotLogin,
  'an earlier record is put back, and the queue is switched off before its first look': switchOffPutBack,
  'the record is lost that owed words to a head that cannot be read': loseRecordThatOwedWords,
  'an earlier record is put back, and there is no time to read all heads at once': beginBeforeAllRead,
  'an earlier record is put back, and the head that wears a success cannot be read': landBesideUnreadable,
  'a crash between two writes of one save': crashBetweenWrites,
  'the base moves under a success while a crowd is told': moveBaseUnderCrowd,
  'the base moves under a success while a staging goes on': moveBaseUnderStaging,
  'one whose success has no answer leaves, and cannot be read for a minute': hideUnanswered,
  'one whose success has no answer cannot be read any more': hideUnansweredForGood,
  'the record of a batch is lost whose gate run goes on': loseRecordInRun,
  'one that changes the gate waits behind a run, and runs for long': runLongWithChangedGate,
  'many of one account are staged while the list cannot be read': stageBesideCrowdUnlisted,
  'one is merged into another branch under its success': mergeElsewhere,
  'a third one with a head that has merged twice waits for its merge': twinMergedAlongComesBack,
  'the record is lost, and a head whose success comes late cannot be read any more': hideLateSuccessOfLost,
  'a head whose success comes late can be neither read nor written': hideLateSuccessForGood,
  'each question about some closed ones hangs': hangOnDeparted,
  'the forge merges the twin of one that cannot be read any more': hideLandingOfTwin,
  'one that was bounced is scheduled again, and the clock is set back': putClockBackAfterSchedule,
  'the clock is set back, and one that was bounced is scheduled again': putClockBackBeforeSchedule,
  'the forge is away for moments as the time of a late success ends': loseForgeAtEndOfWatch,
  'one that was bounced cannot be read when an earlier success of it may come': hideBouncedWatched,
  'the clock is set back, and the second write of a save is refused': putClockBackUnderRefusal,
  'the clock of one engine is an hour late, and is set right under another': putLateClockRight,
  'the clock is set forward after a success without an answer': putClockForward,
  'the clock is set back while a gate run goes on': putClockBackInRun,
  'the clock is set back while the forge overlooks a success': putClockBackInLanding,
  'the clock is set back, and another engine has a success without an answer': putClockBackUnderAnother,
  'the engine stands still before a success that has no answer': standStillWithoutAnswer,
  'the engine stands still before a success, and dies by it': standStillAndDie,
  'the forge says that a head is gone on which a success stands': missHeadOfSuccess,
  'each call about some heads of a lost record hangs': hangOnToldHeads,
  'one of two watched heads cannot be read': hideOneWatched,
  'the forge says that a head is gone, and hangs on what stands there': hangOnMissingHead,
  'nothing can be staged while a success is to be taken back': refuseStagingBesideWord,
  'the statuses of a bounced head cannot be read by a new record': hideBounced,
  'one gate run cannot be read': hideGateRun,
  'the statuses of one head cannot be read by a new record': hideStatuses,
  'no status can be written on one head': refuseStatuses,
  'a success cannot be taken back for hours': refuseTakingBack,
  'the words of one refusal cannot be written': refuseWords,
  'each run with one change is broken off': breakRunsOff(16),
  'each run with one change is broken off, one at a time': breakRunsOff(1),
  'a twin is held by a dependency': holdFirstTwin('dependency'),
  'a twin is set aside': holdFirstTwin('unreadable'),
  'the record outgrows its row': outgrowRow,
  'the record outgrows its row in a landing': outgrowRowInLanding,
  'the record outgrows its row by what is staged': outgrowRowInStaging,
  'the forge never merges the first of a batch': neverMergeFirst,
  'one is deleted': deleteOne,
  'one is lost sight of': loseSightOfOne,
  'staging fails for six': failSix,
  'a success cannot be taken back': stickSuccess,
  'no status can be written, and a success comes late': answerLate(110_000),
  'no status can be written, and a success comes very late': answerLate(8 * 60_000),
  'the forge does not answer about one': keepSilent,
  'the forge does not answer, and the page tells of it': sayTheSameOnThePage,
  'a worker dies with its wake': workerDies,
  'an engine dies with all its reconciles': engineDiesWithAll,
  'the store throttles': storeThrottles,
  'a list shows an older head': listShowsOlderHead,
  'the button is pressed, and no event comes': pressWithoutEvent,
  'the button is pressed within the second of another change': pressWithinTheSecond,
  'a repository is glanced at for an hour': glanceForAnHour,
  'a quiet repository is glanced at no more': glanceAtNight,
  'words that the queue goes on stand on a head at rest': promiseAtRest,
  'words that the queue goes on outlive the record': promiseBeforeLostRecord,
  'an event tells of each verdict': tellEachVerdict,
  'a forge sends events no more': tellNoMore,
  'events of another kind and of the day before': tellOfOtherThings,
  'other news come while a gate is out': lookInBetween,
  'a forge sends events all the time': tellAllTheTime,
} as const satisfies Readonly<Record<string, Scene>>;
export type SceneName = keyof typeof SCENES;
export const SCENE_NAMES = Object.keys(SCENES) as readonly SceneName[];

/** Each of these plays hours, or its story once for every call: `npm run test:long` plays them. */
export const LONG_SCENES: readonly SceneName[] = [
  'a push to the base before each call',
  'a success cannot be taken back for hours',
  'a quiet repository is glanced at no more',
  // Seconds each.
  'a function that carries landings dies at each of its calls',
  'a second gate run asks for a runner that does not exist',
  'one that changes the gate waits behind a run, and runs for long',
  'the base heads a pull request to another branch, and a check is late',
  'a third one with a head that has merged twice waits for its merge',
  // How well a line goes on, not whether what lands is proven: half a second or more each.
  'none but those behind suspects waits',
  'one behind suspects is pushed to',
  'another one comes beside those behind suspects',
  'one behind suspects becomes an incident',
  'those behind suspects wait, and several cuts are tried',
  'one of seven that are often bad conflicts, and slots are free',
  'there are three runners and a line that never ends',
  'there were three runners, and now there are plenty',
  'three runners take their next run thirty seconds later',
  'a bad one comes with each four good ones',
  'there are three runners and a long line',
  'many are scheduled, and the queue may spend little',
  'the first that land after a choice are dear',
  'many are scheduled, and the queue may spend what it wants',
  'few are scheduled, and the queue may spend little',
  'runners ask for work once a minute',
  'one account schedules many beside the gate run of a person',
  'one account schedules many beside the gate run of a person, with few slots',
  'one account schedules many beside the gate run of a person, and others come',
  'one account is tried for hours beside the gate runs of others',
  'what is urgent stands before a suspect by its schedule, and behind it in its turn',
  'what is urgent stands behind a suspect that has aged',
];
