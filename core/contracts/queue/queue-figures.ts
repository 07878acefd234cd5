import * as z from 'zod';
import type { QueueFigures, Spread } from '../../domain/queue/queue-figures.ts';
import { formatTime, Time } from '../fields.ts';

const SpreadView = z.object({ p50_seconds: z.int().nullable(), p95_seconds: z.int().nullable() });

/** Null is unknown, never zero. An empty list of weeks: there are more rows than can be read. */
export const FiguresView = z.object({
  weeks: z.array(
    z.object({
      /** Monday 00:00 UTC, where it begins. */
      week: Time,
      landed: z.int(),
      bounced: z.int(),
      waiting: SpreadView,
      gate: SpreadView,
      merging: SpreadView,
      runs: z.int().nullable(),
      runs_saved: z.int().nullable(),
      bounce_runs: z.int().nullable(),
      failed_trees: z.int(),
      flaky_trees: z.int(),
    }),
  ),
  flaky_windows: z.array(z.object({ from_hour: z.int(), to_hour: z.int(), judged: z.int(), flaky: z.int() })),
});
export type FiguresView = z.infer<typeof FiguresView>;

export function toFiguresView({ weeks, flakyWindows }: QueueFigures): FiguresView {
  return {
    weeks: weeks.map((each) => ({
      week: formatTime(each.week),
      landed: each.landed,
      bounced: each.bounced,
      waiting: toSpread(each.waiting),
      gate: toSpread(each.gate),
      merging: toSpread(each.merging),
      runs: each.runs,
      runs_saved: each.runsSaved,
      bounce_runs: each.bounceRuns,
      failed_trees: each.failedTrees,
      flaky_trees: each.flakyTrees,
    })),
    flaky_windows: flakyWindows.map(({ fromHour, toHour, judged, flaky }) => ({
      from_hour: fromHour,
      to_hour: toHour,
      judged,
      flaky,
    })),
  };
}

function toSpread({ p50Ms, p95Ms }: Spread): z.infer<typeof SpreadView> {
  const seconds = (ms: number | null) => (ms === null ? null : Math.round(ms / 1000));
  return { p50_seconds: seconds(p50Ms), p95_seconds: seconds(p95Ms) };
}
