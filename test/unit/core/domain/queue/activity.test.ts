import { nextLookAt, summarizeWeek } from '#core/domain/queue/activity.ts';
import { known, UNKNOWN } from '#core/domain/result.ts';

const DAY_START = Date.UTC(2026, 10, 21);
const MINUTE_MS = 60_000;
const event = (
  name: 'pr_queued' | 'pr_landed' | 'pr_bounced' | 'pr_skipped',
  pr: number,
  minutes: number,
) => ({ at: DAY_START + minutes * MINUTE_MS, event: name, repoId: 'repo', pr });
const batch = (gateRuns: number | null) => ({ at: DAY_START, outcome: 'success' as const, gateRuns });

test('time in queue is from entering the line to landing, anew after a bounce', () => {
  const stats = summarizeWeek({
    events: known([
      event('pr_queued', 1, 0),
      event('pr_queued', 2, 0),
      event('pr_queued', 3, 0),
      event('pr_landed', 1, 10),
      event('pr_bounced', 2, 11),
      event('pr_skipped', 3, 12),
      event('pr_landed', 2, 31),
      event('pr_queued', 3, 40),
      event('pr_landed', 3, 70),
    ]),
    batches: known([batch(2), batch(1)]),
    dayStart: DAY_START,
  });
  expect(stats.timeInQueueP50Ms).toBe(20 * MINUTE_MS);
  expect(stats.timeInQueueP95Ms).toBe(30 * MINUTE_MS);
  expect([stats.weekRuns, stats.runsPerLanded, stats.runsSaved]).toEqual([3, 1, 1]);
  expect(stats.days.at(-1)).toEqual({ day: DAY_START, landed: 3, bounced: 1, runs: 3 });
  expect(stats.days).toHaveLength(7);
});

test('time in queue counts from the schedule, not from when the queue first saw it', () => {
  const { timeInQueueP50Ms } = summarizeWeek({
    events: known([
      { ...event('pr_queued', 1, 4), scheduledAt: DAY_START - MINUTE_MS },
      event('pr_landed', 1, 9),
    ]),
    batches: UNKNOWN,
    dayStart: DAY_START,
  });
  expect(timeInQueueP50Ms).toBe(10 * MINUTE_MS);
});

test('a forge whose clock is ahead makes no wait negative: it counts from the first look', () => {
  const { timeInQueueP50Ms } = summarizeWeek({
    events: known([
      { ...event('pr_queued', 1, 0), scheduledAt: DAY_START + 20 * MINUTE_MS },
      event('pr_landed', 1, 9),
    ]),
    batches: UNKNOWN,
    dayStart: DAY_START,
  });
  expect(timeInQueueP50Ms).toBe(9 * MINUTE_MS);
});

test.each<[string, number | null, number | null]>([
  ['due later: then', DAY_START + MINUTE_MS, DAY_START + MINUTE_MS],
  ['due by now: at the next tick, when a wake is lost', DAY_START - MINUTE_MS, DAY_START + 5 * MINUTE_MS],
  ['due at this moment, on a tick: at the next one', DAY_START, DAY_START + 5 * MINUTE_MS],
  ['never due: no time is known', null, null],
])('the next look never lies in the past. %s', (_name, dueAt, expected) => {
  expect(nextLookAt(dueAt, DAY_START)).toBe(expected);
});

test('a figure that is not known exactly is null: a wait that began before the week, a row without its runs', () => {
  const stats = summarizeWeek({
    events: known([event('pr_queued', 1, 0), event('pr_landed', 1, 5), event('pr_landed', 2, 6)]),
    batches: known([batch(2), batch(null)]),
    dayStart: DAY_START,
  });
  expect([stats.timeInQueueP50Ms, stats.timeInQueueP95Ms]).toEqual([5 * MINUTE_MS, null]);
  expect([stats.weekRuns, stats.runsPerLanded, stats.runsSaved]).toEqual([null, null, null]);
  expect(stats.days.at(-1)).toMatchObject({ landed: 2, runs: null });
});

test('unread events and batches leave no number behind', () => {
  const { days, ...stats } = summarizeWeek({ events: UNKNOWN, batches: UNKNOWN, dayStart: DAY_START });
  expect(new Set(Object.values(stats))).toEqual(new Set([null]));
  expect(new Set(days.flatMap(({ landed, bounced, runs }) => [landed, bounced, runs]))).toEqual(
    new Set([null]),
  );
});
