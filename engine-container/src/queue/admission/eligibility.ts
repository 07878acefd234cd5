import type { PullRequest, TimelineEntry } from '#core/domain/forge/forge.ts';
import type { EpochMs } from '#core/domain/ids.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { PullRequestReading, ScheduleReading } from './readings.ts';

/**
 * A push entry is written some seconds after the push, so a schedule clicked right after it can stand before it in
 * the timeline (forge facts, 3.4). One late entry of this kind does not unbind the schedule where an account with the right
 * stands for its push, as one stands for a push after the schedule (`renewal.ts`): the timeline does not tell the two apart.
 */
export const LATE_PUSH_ENTRY_MS = 10_000;

/** A change of the target and the entry of a push that Gitea writes with it are of one transaction. */
const RESTATED_WITHIN_MS = 5_000;

/**
 * Reads "scheduled for auto-merge on its exact head" out of a timeline, oldest entry first (D-03, A30).
 * The forge keeps a schedule across pushes and stores no SHA with it, so the order of entries is all there is. Whether a
 * push renews the schedule is judged in `renewal.ts`. The forge keeps the schedule over a change of the target branch as well,
 * which each account that may edit the pull request can make, its author among them. A schedule from before that change
 * asks for no landing on the new branch.
 */
export function readSchedule(
  timeline: readonly TimelineEntry[],
  { headSha: head, baseRef }: Pick<PullRequest, 'headSha' | 'baseRef'>,
): ScheduleReading {
  const at = timeline.findLastIndex((entry) => entry.kind === 'scheduled' || entry.kind === 'cancelled');
  const last = timeline[at];
  if (last === undefined || last.kind === 'cancelled') return { kind: 'none' };
  const schedule = { id: last.id, at: last.at, by: last.user };
  const retarget = timeline.slice(at + 1).find((entry) => entry.kind === 'retargeted');
  if (retarget !== undefined && retarget.baseBefore !== baseRef)
    return { kind: 'moved', ...schedule, why: 'retargeted' };
  const pushes = timeline.slice(at + 1).filter((entry) => entry.kind === 'pushed');
  const newest = pushes.at(-1);
  if (newest !== undefined && isRestated(newest, timeline.slice(at + 1)))
    return newest.newHead === head
      ? { kind: 'bound', ...schedule, isReopened: true }
      : { kind: 'moved', ...schedule };
  if (newest === undefined) {
    const before = timeline.slice(0, at).findLast((entry) => entry.kind === 'pushed');
    const isBefore = before?.kind === 'pushed' && before.newHead === head;
    if (isBefore) return { kind: 'bound', ...schedule, isPushedBefore: true };
    const isReopened = timeline.slice(at + 1).some((entry) => entry.kind === 'reopened');
    return { kind: 'bound', ...schedule, ...(isReopened ? { isReopened: true } : {}) };
  }
  const push = newest.newHead === head ? { push: { id: newest.id, at: newest.at, by: newest.user } } : {};
  const lateEntry =
    pushes.length === 1 &&
    newest.newHead === head &&
    newest.at - last.at <= LATE_PUSH_ENTRY_MS &&
    newest.at >= last.at;
  if (!lateEntry) return { kind: 'moved', ...schedule, ...push };
  return { kind: 'bound', ...schedule, ...push };
}

/**
 * Gitea deletes the entries of all pushes where the target is changed, and writes one in the name of who changed it, with the head
 * of that moment (forge facts, 3.4): neither who pushed that head is told by it, nor whether it is the one that was scheduled. A
 * queue that has seen that head under this schedule knows.
 */
function isRestated(push: TimelineEntry, since: readonly TimelineEntry[]): boolean {
  return since.some(
    ({ kind, user, at }) =>
      kind === 'retargeted' && user === push.user && push.at >= at && push.at - at <= RESTATED_WITHIN_MS,
  );
}

/**
 * From then on the timeline shows each push that came between the schedule and our first look at this head. Before, a
 * head that was pushed just before the look reads as the scheduled one. Where the push of this very head stands before the
 * schedule, the one thing untold could be a head between the two, and that soon after the schedule alone.
 */
export function headSettlesAt(
  entry: QueueEntry | undefined,
  readings: readonly PullRequestReading[],
): EpochMs {
  if (entry === undefined || entry.readyAt === null) return 0;
  const settlesAt = entry.readyAt + LATE_PUSH_ENTRY_MS;
  const schedule = readings.find(({ pr, head }) => pr === entry.pr && head === entry.head)?.schedule;
  const isTold = schedule?.kind === 'bound' && schedule.isPushedBefore && schedule.id === entry.scheduleId;
  return isTold === true ? Math.min(settlesAt, schedule.at + LATE_PUSH_ENTRY_MS) : settlesAt;
}
