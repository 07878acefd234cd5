import {
  GATE_DEADLINE_FACTOR,
  GATE_DEADLINE_MS_MIN,
  GATE_TIMES_KEPT_MAX,
  GATE_TIMES_LEARNED_MIN,
} from '#core/domain/limits.ts';
import type { QueueSettings } from '#core/domain/repo-settings.ts';
import type { QueueRecord } from './record.ts';

const MINUTE_MS = 60_000;

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

/** The latest times that gate runs took, with one more. */
export function withGateTime({ gateTimes = [] }: QueueRecord, ms: number): readonly number[] {
  return [...gateTimes, ms].slice(-GATE_TIMES_KEPT_MAX);
}
