import { MINUTE_MS } from '#core/domain/api-limits.ts';
import type { EpochMs } from '#core/domain/ids.ts';
import {
  GATE_DEADLINE_FACTOR,
  GATE_DEADLINE_MS_MIN,
  GATE_RUNNER_WAIT_FACTOR,
  GATE_TIMES_KEPT_MAX,
  GATE_TIMES_LEARNED_MIN,
} from '#core/domain/limits.ts';
import type { QueueSettings } from '#core/domain/repos/repo-settings.ts';
import type { QueueRecord } from '../record/record.ts';
import { type RunTimes, runSince, waitsForRunner } from './runner-wait.ts';

/**
 * How long one attempt at a gate may take, ms; null: as long as it likes. Learned: three times what 95 of 100 gate runs of
 * this repository took at most, and 15 minutes at least, once a few are known.
 */
export function gateDeadlineMs(
  { gateTimeoutMinutes }: Pick<QueueSettings, 'gateTimeoutMinutes'>,
  { gateTimes = [] }: Pick<QueueRecord, 'gateTimes'>,
): number | null {
  if (gateTimeoutMinutes === 0) return null;
  if (gateTimeoutMinutes !== null) return gateTimeoutMinutes * MINUTE_MS;
  if (gateTimes.length < GATE_TIMES_LEARNED_MIN) return null;
  const sorted = [...gateTimes].sort((a, b) => a - b);
  const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
  return Math.max(GATE_DEADLINE_MS_MIN, GATE_DEADLINE_FACTOR * p95);
}

/**
 * When the attempt is given up. To stage a run anew that waits for a runner only puts it at the end of the runners' own
 * line, so it may wait for longer, and not for ever: its runner may not exist.
 */
export function deadlineAt(node: RunTimes, deadlineMs: number, now: EpochMs): EpochMs {
  const factor = waitsForRunner(node) ? GATE_RUNNER_WAIT_FACTOR : 1;
  return (runSince(node) ?? now) + factor * deadlineMs;
}

/** The latest times that gate runs took, with one more. */
export function withGateTime({ gateTimes = [] }: QueueRecord, ms: number): readonly number[] {
  return [...gateTimes, ms].slice(-GATE_TIMES_KEPT_MAX);
}
