import * as z from 'zod';
import { ADVICE_PULLS_MIN } from '../../domain/api-limits.ts';
import { type FanoutAdvice, NO_ADVICE_REASONS } from '../../domain/queue/fanout-advice.ts';
import { formatTime, Time } from '../fields.ts';

const Seconds = z.int().nullable();

/** Null is unknown, never a guess: `reason` says why there is no advice. */
export const FanoutAdviceView = z.object({
  /** Null: `bisect_fanout` is `auto`, or a settings file may set it. */
  current: z.int().nullable(),
  advised: z.int().nullable(),
  reason: z.enum(NO_ADVICE_REASONS).nullable(),
  rests_on: z.int(),
  /** Fewer than these give no advice. */
  needed: z.int(),
  since: Time.nullable(),
  replays: z.array(
    z.object({
      fanout: z.int(),
      landed: z.int(),
      runs: z.int(),
      wait: z.object({ p50_seconds: Seconds, p95_seconds: Seconds, mean_seconds: Seconds }),
    }),
  ),
});
export type FanoutAdviceView = z.infer<typeof FanoutAdviceView>;

export function toFanoutAdviceView(advice: FanoutAdvice): FanoutAdviceView {
  const { current, advised, reason, restsOn, since, replays } = advice;
  const seconds = (ms: number | null) => (ms === null ? null : Math.round(ms / 1000));
  return {
    current,
    advised,
    reason,
    rests_on: restsOn,
    needed: ADVICE_PULLS_MIN,
    since: since === null ? null : formatTime(since),
    replays: replays.map(({ fanout, landed, runs, p50Ms, p95Ms, meanMs }) => ({
      fanout,
      landed,
      runs,
      wait: { p50_seconds: seconds(p50Ms), p95_seconds: seconds(p95Ms), mean_seconds: seconds(meanMs) },
    })),
  };
}
