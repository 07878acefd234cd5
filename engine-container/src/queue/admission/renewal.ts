import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import { LATE_PUSH_ENTRY_MS } from './eligibility.ts';
import type { HeadPush, Scheduled, ScheduleReading } from './readings.ts';

type Known = Pick<QueueEntry, 'head' | 'scheduleId' | 'staleScheduleId'> | undefined;

/** Was this head pushed after its schedule, or may it have been, so that an account has to stand for it before that holds? */
export function needsRenewal(schedule: Scheduled): boolean {
  if (schedule.kind === 'moved') return !isForOtherTarget(schedule);
  return schedule.push !== undefined;
}

/** Nothing but a new schedule asks for a landing on this branch. */
export function isForOtherTarget(schedule: ScheduleReading): boolean {
  return schedule.kind === 'moved' && schedule.why === 'retargeted';
}

/** May the push have been before the schedule? Not where the head was another one under this very schedule. */
function isLateNews({ kind, id }: Scheduled, push: HeadPush, entry: Known, head: CommitSha): boolean {
  if (kind === 'moved') return false;
  if (entry === undefined) return true;
  const isSeenToMove = entry.staleScheduleId === id || (entry.head !== head && entry.scheduleId === id);
  return !isSeenToMove && entry.scheduleId !== push.id;
}

/** Does the schedule hold by this push already? What cannot be read now takes nothing back. */
export function isRenewedBy(push: HeadPush, entry: Known, head: CommitSha): boolean {
  return entry?.head === head && entry.scheduleId === push.id;
}

/**
 * Does the schedule hold for this head as it stands, before it is known who stands for the push? The queue took the head for the
 * scheduled one while the timeline showed no push. Nothing is torn down for that, and nothing lands.
 */
export function isAwaited(schedule: Scheduled, entry: Known, head: CommitSha): boolean {
  return schedule.kind === 'bound' && entry?.head === head && entry.scheduleId === schedule.id;
}

/** The schedule by the push that renewed it; one that the push may have preceded holds by its own entry still. */
export function renewed(schedule: Scheduled, push: HeadPush, entry: Known, head: CommitSha): ScheduleReading {
  const by = schedule.by === undefined ? {} : { by: schedule.by };
  const { id, at } = schedule;
  if (isLateNews(schedule, push, entry, head)) return { kind: 'bound', id, at, ...by };
  return { kind: 'bound', id: push.id, at: push.at, ...by };
}

/** An approval that says yes to this head since it was pushed; its entry may be written a moment after the push. */
export function approvesSince({ at }: HeadPush): EpochMs {
  return at - LATE_PUSH_ENTRY_MS;
}
