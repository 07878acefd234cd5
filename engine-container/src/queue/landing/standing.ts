import { mayOpenMerge } from '#core/domain/forge/forge.ts';
import type { EpochMs } from '#core/domain/ids.ts';
import { STANDING_TOLD_AFTER_TRIES, TAKING_BACK_TRIES_MAX } from '#core/domain/limits.ts';
import { isOpenedBy } from '../admission/admission.ts';
import {
  type DecisionContext,
  emitEvent,
  entryOf,
  reportCode,
  tellRefusal,
  wakeNoLaterThan,
} from '../decision-context.ts';
import type { Landing } from '../record/landing-state.ts';
import type { PendingStatus } from '../record/pending-status.ts';
import { authored, isBound } from '../record/queue-entry.ts';
import { unreadStanding } from '../record/recall-state.ts';
import type { Batch, QueueRecord } from '../record/record.ts';
import { giveUpLanding } from './given-up.ts';
import { isWatched, watchUnheard } from './unheard.ts';

/** A status that takes a `success` back, and was tried so often that the forge seems not to let it be written. */
export function isStuck({ takesBack, failures = 0 }: PendingStatus): boolean {
  return takesBack === true && failures >= TAKING_BACK_TRIES_MAX;
}

/** One at a time is read and tried again, the one that waits longest: each may take all the time that a call may take. */
export function nextStuck(statuses: readonly PendingStatus[], now: EpochMs): PendingStatus | null {
  const due = statuses.filter((status) => isStuck(status) && (status.retryAt ?? 0) <= now);
  return due.sort((one, other) => (one.retryAt ?? 0) - (other.retryAt ?? 0))[0] ?? null;
}

/** Where a reading shows that no success stands, the word counts as written; where one does, a person is told. */
export function settleStanding(pass: DecisionContext): void {
  for (const status of pass.record.pendingStatuses.filter(isStuck)) settle(pass, status);
}

function settle(pass: DecisionContext, status: PendingStatus): void {
  const { record, s } = pass;
  const landing = landingOn(record, status);
  if (landing !== undefined && !isWatched(record, status.sha)) watchUnheard(pass, landing, 'unwritable');
  const statuses = s.unheard?.get(status.sha);
  if (statuses?.known === true) {
    const stands = statuses.value.some((each) => each.context === status.context && mayOpenMerge(each));
    if (!stands) return countAsWritten(pass, status, landing);
  } else if ((status.failures ?? 0) < STANDING_TOLD_AFTER_TRIES && status.told !== true) return;
  tell(pass, status);
}

function landingOn({ context, batches }: QueueRecord, status: PendingStatus): Landing | undefined {
  if (status.context !== context) return undefined;
  return batches.flatMap(({ landing }) => landing ?? []).find(({ head }) => head === status.sha);
}

function countAsWritten(
  { record, s }: DecisionContext,
  status: PendingStatus,
  landing: Landing | undefined,
): void {
  if (landing?.takeBack != null) landing.takeBack.postedAt ??= s.now;
  record.pendingStatuses = record.pendingStatuses.filter((waiting) => waiting !== status);
}

/** Once: the alarm, the event and the log. The outcome says it as long as it is so. */
function tell(pass: DecisionContext, status: PendingStatus): void {
  const { record, log, alarms } = pass;
  reportCode(pass, 'success_stands');
  if (status.told === true) return;
  const { pr, sha } = status;
  record.pendingStatuses = record.pendingStatuses.map((waiting) =>
    waiting === status ? { ...waiting, told: true } : waiting,
  );
  alarms.push({ name: 'success_stands', pr });
  log.push(`#${pr}: a success stands on ${sha} and cannot be taken back`);
  const entry = entryOf(record, pr);
  if (entry?.head === sha) return tellRefusal(pass, entry, 'success_stands');
  const { title = '', ...member } =
    record.batches.flatMap(({ members }) => members).find((each) => each.pr === pr) ?? {};
  emitEvent(pass, 'pr_refused', { pr, head: sha, title, ...authored(member) }, 'success_stands');
}

/**
 * False while a `success` that cannot be taken back may open a merge: nothing is staged and nothing else lands. Not so on the base
 * that the success was proven on, where the merge that it opens is a proven one.
 */
export function awaitTakenBack(pass: DecisionContext): boolean {
  const { record, s } = pass;
  if (record.reread !== undefined) return false;
  const { lateUntil } = record;
  if (lateUntil !== undefined && s.now < lateUntil) {
    wakeNoLaterThan(pass, lateUntil);
    return false;
  }
  // A head that an earlier record told of and that cannot be read is no better known than one that cannot be written.
  if (unreadStanding(record, s.now).some(({ pr, head: sha }) => mayOpen(pass, { pr, sha }))) return false;
  return !record.pendingStatuses.some(
    (status) =>
      status.takesBack === true &&
      status.context === record.context &&
      (isStuck(status) || landingOn(record, status) === undefined) &&
      mayOpen(pass, status),
  );
}

/** Is this head, or may it be, the one of a pull request that is open and scheduled? */
function mayOpen({ record, s }: DecisionContext, { pr, sha }: Pick<PendingStatus, 'pr' | 'sha'>): boolean {
  if (record.entries.some((entry) => entry.head === sha && isBound(entry))) return true;
  const listed = s.pulls.known ? s.pulls.value : [];
  if (listed.some(({ pull, schedule }) => pull.headSha === sha && !schedule.known)) return true;
  return [...s.focus].some(
    ([each, view]) =>
      each !== pr && view.known && view.value.pull.headSha === sha && view.value.pull.state === 'open',
  );
}

/**
 * The queue is to use another context, and the rule of the base asks no more for the one that this stands under: the change does not
 * wait for a word that may never be written (decision 0366).
 */
function isLeftBehind({ s }: Pick<DecisionContext, 's'>, status: PendingStatus): boolean {
  if (!isStuck(status) || status.told !== true || status.context === s.repo.statusContext) return false;
  const { protection } = s;
  return protection.known && protection.value !== null && !isOpenedBy(protection.value, status.context);
}

/**
 * Need a change of the context not wait for this word that takes a success back? Nor where the queue goes back to the context that it
 * stands under: there it holds up the others only while it may open a merge.
 */
export function isNoneToAwait(pass: Pick<DecisionContext, 's'>, status: PendingStatus): boolean {
  const isOfNext = status.context === pass.s.repo.statusContext;
  return isOfNext ? isStuck(status) && status.told === true : isLeftBehind(pass, status);
}

/** Ends a landing whose success opens nothing any more, so that the others go on. The word that takes it back is still tried, and never dropped. */
export function releaseHarmless(pass: DecisionContext, batch: Batch, landing: Landing): void {
  const { record, s } = pass;
  const status = record.pendingStatuses.find(
    (waiting) => isStuck(waiting) && landingOn(record, waiting) === landing,
  );
  if (status?.told !== true || !s.full || !s.pulls.known) return;
  if (mayOpen(pass, status) && !isLeftBehind(pass, status)) return;
  giveUpLanding(pass, batch, landing, 'unwritable');
}
