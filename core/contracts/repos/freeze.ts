import * as z from 'zod';
import {
  DAY_MS,
  FREEZE_DAYS_MAX,
  FREEZE_LAST_YEAR_MAX,
  FREEZE_WINDOWS_MAX,
  TIME_ZONE_CHARS_MAX,
} from '../../domain/api-limits.ts';
import { type Freeze, leavesTime, WEEK_DAYS } from '../../domain/repos/freeze.ts';
import { isTimeZone } from '../../domain/zone.ts';
import { formatTime, Time } from '../fields.ts';
import { PauseReason } from './pause.ts';

const Days = z
  .array(z.enum(WEEK_DAYS))
  .min(1)
  .max(WEEK_DAYS.length)
  .refine((days) => new Set(days).size === days.length)
  .readonly();

/** The default of a field that is left out: all days, from midnight to midnight, without dates. */
const GivenWindow = z
  .object({
    reason: PauseReason,
    days: Days.default(WEEK_DAYS),
    from: z
      .string()
      .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/)
      .default('00:00'),
    to: z
      .string()
      .regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/)
      .default('24:00'),
    first: z.iso.date().nullable().default(null),
    last: z.iso.date().nullable().default(null),
  })
  .superRefine(({ first, last }, context) => {
    const days = (Date.parse(last ?? '') - Date.parse(first ?? '')) / DAY_MS;
    // Both or neither, in this order.
    if ((first === null) !== (last === null))
      context.addIssue({ code: 'custom', path: [first === null ? 'first' : 'last'] });
    else if (days < 0 || days >= FREEZE_DAYS_MAX || yearOf(last) > FREEZE_LAST_YEAR_MAX)
      context.addIssue({ code: 'custom', path: ['last'] });
  });

function yearOf(date: string | null): number {
  return Number(date?.slice(0, 4) ?? 0);
}

/** A queue that is frozen for ever is switched off instead. */
export const GivenWindows = z.array(GivenWindow).max(FREEZE_WINDOWS_MAX).refine(leavesTime).readonly();

export const ShownWindows = z
  .array(
    z.object({
      reason: z.string(),
      days: z.array(z.enum(WEEK_DAYS)).readonly(),
      from: z.string(),
      to: z.string(),
      first: z.string().nullable(),
      last: z.string().nullable(),
    }),
  )
  .readonly();

export const TimeZone = z
  .string()
  .max(TIME_ZONE_CHARS_MAX)
  .regex(/^[A-Za-z]/)
  .refine(isTimeZone);

/** `since` in the future: it is the next one. */
export const FreezeView = z.object({ reason: z.string(), since: Time, until: Time });

/** A later time has no form in the contract; a window of before `FREEZE_LAST_YEAR_MAX` may begin or end there. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export function toFreezeView(freeze: Freeze | null): z.infer<typeof FreezeView> | null {
  if (freeze === null) return null;
  const { reason, since, until } = freeze;
  return {
    reason,
    since: formatTime(Math.min(since, LAST_TIME)),
    until: formatTime(Math.min(until, LAST_TIME)),
  };
}
