import type { EpochMs } from '#core/domain/ids.ts';
import { SCHEDULE_PROBES_MAX } from '#core/domain/limits.ts';
import { type Action, type ActionOutcome, isStaging } from './actions.ts';
import { LATE_EFFECT_MS, sweepLate } from './batches/late-branches.ts';
import { landingOf } from './batches/pipeline.ts';
import { noteRefusedStaging } from './batches/refused-staging.ts';
import { noteRuledBranch } from './batches/ruled-branch.ts';
import { countStagingFailure, countUnfinished } from './batches/staging-failure.ts';
import { beginPass, type DecisionContext } from './decision-context.ts';
import { foldBatch, foldNode } from './fold-staging.ts';
import { resumeWritten } from './landing/unposted.ts';
import { isUnderContext } from './record/pending-status.ts';
import type { QueueRecord } from './record/record.ts';
import type { Snapshot } from './snapshot.ts';
import { countPostFailure, type PostStatus } from './words/post-failure.ts';

/** The outcome of an action, written into the record. Pure, like `decide`; `at` is when the outcome was known. */
export function fold(
  s: Snapshot,
  record: QueueRecord,
  action: Action,
  outcome: ActionOutcome,
  at: EpochMs,
): DecisionContext {
  const pass = beginPass({ ...s, now: at }, record);
  noteRefusedStaging(pass, action, outcome);
  if (outcome.kind === 'unfinished') {
    countUnfinished(pass, action);
    return pass;
  }
  if (outcome.kind === 'failed') {
    foldFailure(pass, action, outcome.forgeAnswers);
    if (outcome.ruledBranch !== undefined) noteRuledBranch(pass, action, outcome.ruledBranch);
    else if (outcome.forgeAnswers) countStagingFailure(pass, action);
    return pass;
  }
  if (outcome.leavesWorkBranch === true && isStaging(action)) sweepLate(pass, [action.workBranch]);
  switch (action.kind) {
    case 'stage_batch':
      foldBatch(pass, action, outcome);
      break;
    case 'stage_tree':
      foldNode(pass, action, outcome);
      break;
    case 'post_status':
      foldStatus(pass, action, outcome);
      break;
    case 'probe_schedule':
      foldProbe(pass, action, outcome);
      break;
    case 'delete_branch':
      // An entry that is not due yet speaks of a call that may still create the branch again.
      pass.record.garbage = pass.record.garbage.filter(
        (garbage) => garbage.branch !== action.branch || garbage.notBefore > at,
      );
      break;
    case 'cancel_gate_run':
      pass.record.garbage = pass.record.garbage.map((garbage) =>
        garbage.branch === action.branch ? { ...garbage, runKey: null } : garbage,
      );
      break;
  }
  return pass;
}

function foldFailure(pass: DecisionContext, action: Action, forgeAnswers: boolean): void {
  if (action.kind === 'delete_branch') return reserveName(pass, action.branch);
  if (action.kind === 'probe_schedule' && forgeAnswers) return countProbeFailure(pass, action);
  if (action.kind === 'post_status' && action.purpose === 'landing') return noteUnanswered(pass, action);
  if (action.kind === 'post_status') return countPostFailure(pass, action, forgeAnswers);
  if (isStaging(action)) sweepLate(pass, [action.branch, action.workBranch]);
}

/** The post was sent just now at the latest, and may be carried out for as long as any. */
function noteUnanswered({ record, s }: DecisionContext, { sha }: PostStatus): void {
  const landing = landingOf(record);
  if (landing?.head === sha) landing.askedAt = s.now;
}

/** A deletion that may still be carried out must not meet a new branch of that name: until then the name is taken. */
function reserveName({ record, s }: DecisionContext, branch: string): void {
  const notBefore = s.now + LATE_EFFECT_MS;
  record.garbage = record.garbage.map((each) =>
    each.branch === branch && each.notBefore < notBefore ? { ...each, notBefore } : each,
  );
}

type ProbeSchedule = Extract<Action, { kind: 'probe_schedule' }>;

function foldProbe(pass: DecisionContext, action: ProbeSchedule, outcome: ActionOutcome): void {
  const landing = landingOf(pass.record);
  if (outcome.kind !== 'schedule' || landing?.pr !== action.pr || landing.takeBack === null) return;
  landing.takeBack.schedule = outcome.found;
}

/** Some forges fail on the question itself: then the answer is unknown, and the landing ends without it. */
function countProbeFailure(pass: DecisionContext, action: ProbeSchedule): void {
  const takeBack = landingOf(pass.record)?.takeBack;
  if (landingOf(pass.record)?.pr !== action.pr || takeBack == null) return;
  takeBack.probeFailures = (takeBack.probeFailures ?? 0) + 1;
  if (takeBack.probeFailures >= SCHEDULE_PROBES_MAX) takeBack.schedule = 'unknown';
}

function foldStatus(pass: DecisionContext, action: PostStatus, outcome: ActionOutcome): void {
  const { record } = pass;
  if (action.purpose === 'landing') {
    const landing = landingOf(pass.record);
    if (landing === null || landing.head !== action.sha || outcome.kind !== 'done') return;
    landing.askedAt = pass.s.now;
    landing.postedAt ??= pass.s.now;
    landing.answered = (landing.answered ?? 0) + 1;
    return;
  }
  record.pendingStatuses = record.pendingStatuses.filter(
    (waiting) =>
      waiting.sha !== action.sha ||
      waiting.context !== action.context ||
      waiting.description !== action.description,
  );
  resumeWritten(pass, action.sha);
  const landing = landingOf(pass.record);
  if (landing?.takeBack != null && isUnderContext(record, landing.head, action))
    landing.takeBack.postedAt ??= pass.s.now;
}
