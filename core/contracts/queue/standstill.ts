import * as z from 'zod';
import { STANDSTILL_CAUSES, type Standstill, sayStandstill } from '../../domain/queue/standstill.ts';
import { formatTime, Time } from '../fields.ts';

export const StandstillView = z.object({
  cause: z.enum(STANDSTILL_CAUSES),
  since: Time,
  /** 95 in 100 take no longer; null: not known. */
  usual_seconds: z.int().nullable(),
  says: z.string(),
  next: z.string(),
});

export function toStandstill(standstill: Standstill | null): z.infer<typeof StandstillView> | null {
  if (standstill === null) return null;
  const { cause, since, usualMs } = standstill;
  return {
    cause,
    since: formatTime(since),
    ...sayStandstill(standstill),
    usual_seconds: usualMs === null ? null : Math.round(usualMs / 1000),
  };
}
