import type { PullRequestNumber } from '#core/domain/ids.ts';
import {
  GARBAGE_ENTRIES_MAX,
  PENDING_STATUSES_MAX,
  QUEUE_ENTRIES_MAX,
  QUEUE_NEWCOMERS_MAX,
  TOMBSTONES_MAX,
} from '#core/domain/limits.ts';
import { type DecisionContext, pollNoLaterThan } from '../decision-context.ts';
import type { PullRequestView } from '../snapshot.ts';
import type { QueueRecord } from './record.ts';

/**
 * Who may enter the queue in this look: all, unless there are more than one save should tell of, or than the record has
 * room for. Then the earliest schedules come first, and the others wait outside until those have entered or left.
 */
export function newcomersOf(
  pass: DecisionContext,
  views: readonly PullRequestView[],
): ReadonlySet<PullRequestNumber> {
  const { record } = pass;
  const inQueue = new Set(record.entries.map(({ pr }) => pr));
  const waiting = views.flatMap(({ pull, schedule }) => {
    if (!schedule.known || schedule.value.kind === 'none' || pull.draft) return [];
    return inQueue.has(pull.number) ? [] : [{ pr: pull.number, at: schedule.value.at }];
  });
  const room = Math.max(0, QUEUE_ENTRIES_MAX - record.entries.length);
  const places = Math.min(room, Math.max(0, QUEUE_NEWCOMERS_MAX - record.pendingStatuses.length));
  if (waiting.length > places && room > places) record.hasLeftOut = true;
  waiting.sort((a, b) => a.at - b.at || a.pr - b.pr);
  return new Set(waiting.slice(0, places).map(({ pr }) => pr));
}

/** Words wait to be written for so many heads that no more of this number are added, unless they take something back. */
export function arePendingStatusesFull({ pendingStatuses }: QueueRecord, more = 1): boolean {
  return pendingStatuses.length + more > PENDING_STATUSES_MAX;
}

/** Words that only tell where one stands are then said in a later look: who waits to enter must not wait for them. */
export function mustWordsWait({ pendingStatuses }: QueueRecord): boolean {
  return pendingStatuses.length >= PENDING_STATUSES_MAX / 2;
}

/** A pull request that the last full look had to leave out is looked at as soon as there is room for it. */
export function lookForLeftOut(pass: DecisionContext): void {
  const { hasLeftOut, pendingStatuses } = pass.record;
  if (hasLeftOut !== true || pendingStatuses.length > PENDING_STATUSES_MAX / 2) return;
  pass.refresh = true;
  pollNoLaterThan(pass, 0);
}

/** The memory of pull requests that are not open any more, and of branches, has an end: the oldest goes first. */
export function forgetOldest({ record, s }: DecisionContext): void {
  record.garbage = record.garbage.slice(-GARBAGE_ENTRIES_MAX);
  if (!s.full || !s.pulls.known) return;
  const open = new Set(s.pulls.value.map((view) => view.pull.number));
  const keep = <T extends { readonly pr: PullRequestNumber }>(all: readonly T[]): T[] => {
    const gone = all.filter(({ pr }) => !open.has(pr));
    if (gone.length <= TOMBSTONES_MAX) return [...all];
    const forgotten = new Set(gone.slice(0, gone.length - TOMBSTONES_MAX));
    return all.filter((each) => !forgotten.has(each));
  };
  record.bounced = keep(record.bounced);
  record.mergeTimeoutCounts = keep(record.mergeTimeoutCounts);
  record.deferred = keep(record.deferred);
  if (record.attempts !== undefined) record.attempts = keep(record.attempts);
}
