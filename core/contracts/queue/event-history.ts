import * as z from 'zod';
import { EVENT_CURSOR_DIGITS, EVENT_QUERY_CHARS_MAX, EVENTS_PAGE_MAX } from '../../domain/api-limits.ts';
import { ACTIVITY_EVENTS } from '../../domain/queue/batch.ts';
import { ActivityEventView } from './activity.ts';

const CURSOR = new RegExp(`^\\d{${EVENT_CURSOR_DIGITS}}$`);

/** Names of events that `event` takes. */
export const EVENT_NAMES = ACTIVITY_EVENTS;
export type EventName = (typeof EVENT_NAMES)[number];

/** Each part is left out for "all of them". */
export const EventHistoryQuery = z.object({
  event: z.enum(ACTIVITY_EVENTS).optional(),
  /** Number of a pull request. */
  pr: z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .transform(Number)
    .optional(),
  /** Words that title, author or reason have, each of them, in any case. */
  q: z.string().max(EVENT_QUERY_CHARS_MAX).default(''),
  /** Events of one page; more than the most is clamped. */
  limit: z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .transform((limit) => Math.min(Number(limit), EVENTS_PAGE_MAX))
    .default(EVENTS_PAGE_MAX),
  /** `next` of an earlier answer; left out: from the newest. */
  before: z.string().regex(CURSOR).optional(),
});

export const EventHistoryView = z.object({
  /** Newest first. Fewer than asked for, or none, where the rows that one answer looks through had no more. */
  events: z.array(ActivityEventView),
  /** For `before`: where the search for older ones goes on; null: there are none. */
  next: z.string().nullable(),
});
export type EventHistoryView = z.input<typeof EventHistoryView>;
