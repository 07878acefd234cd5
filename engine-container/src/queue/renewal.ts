import type { BranchProtection } from '#core/domain/forge.ts';
import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import { LATE_PUSH_ENTRY_MS } from './eligibility.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { HeadPush, ScheduleReading } from './readings.ts';

type Scheduled = Exclude<ScheduleReading, { kind: 'none' }>;

/** Was this head pushed after its schedule, so that something has to renew that before it holds? */
export function needsRenewal(
  schedule: Scheduled,
  entry: Pick<QueueEntry, 'head' | 'scheduleId' | 'staleScheduleId'> | undefined,
  head: CommitSha,
): boolean {
  if (schedule.kind === 'moved') return true;
  const { push, id } = schedule;
  if (push === undefined || entry === undefined) return false;
  // The head was another one under this very schedule: the entry is no late news of an earlier push.
  const isSeenToMove = entry.staleScheduleId === id || (entry.head !== head && entry.scheduleId === id);
  return isSeenToMove || entry.scheduleId === push.id;
}

/** It holds by this push already: what cannot be read now takes nothing back. */
export function isRenewedBy(
  push: HeadPush,
  entry: Pick<QueueEntry, 'head' | 'scheduleId'> | undefined,
  head: CommitSha,
): boolean {
  return entry !== undefined && entry.head === head && entry.scheduleId === push.id;
}

export function renewed(schedule: Scheduled, push: HeadPush): ScheduleReading {
  const by = schedule.by === undefined ? {} : { by: schedule.by };
  return { kind: 'bound', id: push.id, at: push.at, ...by };
}

/** Among those who may merge, where the rule has a list of them. */
export function isListed({ mergeList }: BranchProtection, login: string): boolean {
  return mergeList === undefined || mergeList.some((each) => each.toLowerCase() === login.toLowerCase());
}

/** An approval that says yes to this head since it was pushed; its entry may be written a moment after the push. */
export function approvesSince({ at }: HeadPush): EpochMs {
  return at - LATE_PUSH_ENTRY_MS;
}
