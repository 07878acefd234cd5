import * as z from 'zod';
import { DAY_MS, PAUSE_MS_MAX, PAUSE_REASON_CHARS_MAX } from '../../domain/api-limits.ts';
import { PAUSE_KINDS, type PauseKind } from '../../domain/repos/pause.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { formatTime, formatTimeOrNull, Time } from '../fields.ts';

/** Of the reason in characters, and of the time until the end in days and ms. */
export const PAUSE_BOUNDS = {
  reasonChars: PAUSE_REASON_CHARS_MAX,
  ms: PAUSE_MS_MAX,
  days: PAUSE_MS_MAX / DAY_MS,
} as const;

/** Printable ASCII, as all words of a commit status are (A38). */
export const PauseReason = z
  .string()
  .max(PAUSE_REASON_CHARS_MAX)
  .regex(/^[!-~](?:[ -~]*[!-~])?$/);

export const PauseBody = z.object({
  reason: PauseReason.nullable().optional(),
  /** In the future, at most a year away. Absent or null: until the queue is resumed. */
  until: z.iso.datetime({ offset: true }).nullable().optional(),
});

export const PauseView = z.object({
  kind: z.enum(PAUSE_KINDS),
  reason: z.string().nullable(),
  since: Time,
  until: Time.nullable(),
});

export function toPauseView({ pause }: Pick<ManagedRepo, 'pause'>): z.infer<typeof PauseView> | null {
  if (pause === null) return null;
  const { kind, reason, since, until } = pause;
  return { kind, reason, since: formatTime(since), until: formatTimeOrNull(until) };
}

export function toWantedPause(kind: PauseKind, { reason, until }: z.output<typeof PauseBody>) {
  return { kind, reason: reason ?? null, until: until == null ? null : Date.parse(until) };
}
