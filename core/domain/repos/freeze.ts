import { DAY_MS } from '../api-limits.ts';
import type { EpochMs } from '../ids.ts';
import { instantOf, localDayOf } from '../zone.ts';

export const WEEK_DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type WeekDay = (typeof WEEK_DAYS)[number];

/**
 * On each of these days of the week, from `from` until `to`, as clocks of the time zone show them; until `to` of the next day where
 * that is not later. From `first` to `last` alone, where there are such.
 */
export interface FreezeWindow {
  /** Printable ASCII, at most `PAUSE_REASON_CHARS_MAX`. */
  readonly reason: string;
  readonly days: readonly WeekDay[];
  /** `00:00` to `23:59`. */
  readonly from: string;
  /** `00:00` to `24:00`. */
  readonly to: string;
  /** Days as `YYYY-MM-DD` on which a window may begin; null: on all. Both are null or neither is. */
  readonly first: string | null;
  readonly last: string | null;
}

export interface FreezeSettings {
  readonly freezeWindows: readonly FreezeWindow[];
  /** Name of the IANA time zone data base. */
  readonly freezeTimeZone: string;
  /** Labels that exempt, where an account of `priorityPeople` put them on. */
  readonly freezeExemptLabels: readonly string[];
}

/** A time in which nothing that is not exempt is staged or lands. */
export interface Freeze {
  readonly reason: string;
  readonly since: EpochMs;
  /** The end of the last of the windows that follow on one another without a gap. */
  readonly until: EpochMs;
}

/** So many windows in a row are followed to find the end; the rest is told when they are over. */
const ROW_MAX = 64;
const DAY_MINUTES = 24 * 60;
const WEEK_MINUTES = WEEK_DAYS.length * DAY_MINUTES;

/** The last answer for each settings: the queue asks for each pull request, and time zones are slow. */
const answers = new WeakMap<FreezeSettings, { readonly now: EpochMs; readonly freeze: Freeze | null }>();

/** The freeze that holds at this time; null: none. Where clocks are set, a window is the longer one of the two it may be. */
export function freezeAt(settings: FreezeSettings, now: EpochMs): Freeze | null {
  const known = answers.get(settings);
  if (known?.now === now) return known.freeze;
  const freeze = findFreeze(settings, now);
  answers.set(settings, { now, freeze });
  return freeze;
}

function findFreeze(settings: FreezeSettings, now: EpochMs): Freeze | null {
  const spans = new Map<number, readonly (Freeze | null)[]>();
  const [begun, ...others] = spansAround(settings, now, spans).filter((span) => holds(span, now));
  if (begun === undefined) return null;
  let until = Math.max(begun.until, ...others.map((span) => span.until));
  for (let count = 0; count < ROW_MAX; count += 1) {
    const on = spansAround(settings, until, spans).filter((span) => holds(span, until));
    if (on.length === 0) break;
    until = Math.max(...on.map((span) => span.until));
  }
  return { reason: begun.reason, since: Math.min(begun.since, ...others.map(({ since }) => since)), until };
}

/** The freeze that holds at this time, or else the next one; null: none is to come. */
export function nextFreeze(settings: FreezeSettings, now: EpochMs): Freeze | null {
  const held = freezeAt(settings, now);
  if (held !== null) return held;
  const starts = settings.freezeWindows.flatMap((window) => {
    const today = localDayOf(settings.freezeTimeZone, now);
    const day = window.first === null ? today : Math.max(today, dayOf(window.first));
    return Array.from({ length: WEEK_DAYS.length + 1 }, (_, ahead) =>
      spanOf(settings.freezeTimeZone, window, day + ahead * DAY_MS),
    ).flatMap((span) => (span === null || span.since <= now ? [] : [span.since]));
  });
  return starts.length === 0 ? null : freezeAt(settings, Math.min(...starts));
}

/** Windows without dates leave a time of the week in which pull requests can land. */
export function leavesTime(windows: readonly Omit<FreezeWindow, 'reason'>[]): boolean {
  const frozen = new Set<number>();
  for (const { days, from, to, first } of windows) {
    if (first !== null) continue;
    for (const day of days) {
      const begins = WEEK_DAYS.indexOf(day) * DAY_MINUTES + minutesOf(from);
      for (let minute = 0; minute < lengthOf(from, to); minute += 1)
        frozen.add((begins + minute) % WEEK_MINUTES);
    }
  }
  return frozen.size < WEEK_MINUTES;
}

function holds({ since, until }: Freeze, at: EpochMs): boolean {
  return since <= at && at < until;
}

/**
 * Windows of the day of this time, of two before and of the one after: where summer time skips midnight, a window that begins
 * then begins by the clock of before, on the evening of the day before, and where it skips the last hour of a day, one of two
 * days before still holds. In the order of the windows.
 *
 * @param known those of each day, which the windows of one row share
 */
function spansAround(
  { freezeWindows, freezeTimeZone }: FreezeSettings,
  at: EpochMs,
  known: Map<number, readonly (Freeze | null)[]>,
): readonly Freeze[] {
  if (freezeWindows.length === 0) return [];
  const today = localDayOf(freezeTimeZone, at);
  const days = [today - 2 * DAY_MS, today - DAY_MS, today, today + DAY_MS].map((day) => {
    const spans = known.get(day) ?? freezeWindows.map((window) => spanOf(freezeTimeZone, window, day));
    known.set(day, spans);
    return spans;
  });
  return freezeWindows.flatMap((_, nth) => days.flatMap((spans) => spans[nth] ?? []));
}

/** `day`: midnight of a day as if it were of UTC. Null: the window does not begin on it. */
function spanOf(zone: string, window: FreezeWindow, day: number): Freeze | null {
  const { days, from, to, first, last, reason } = window;
  const name = WEEK_DAYS[(new Date(day).getUTCDay() + 6) % WEEK_DAYS.length];
  if (name === undefined || !days.includes(name)) return null;
  if (first !== null && day < dayOf(first)) return null;
  if (last !== null && day > dayOf(last)) return null;
  const minutes = lengthOf(from, to);
  // Days without a gap are one window: the end of a long one is found in one step.
  const isWhole = minutes === DAY_MINUTES && days.length === WEEK_DAYS.length;
  const begins = (isWhole && first !== null ? dayOf(first) : day) + minutesOf(from) * 60_000;
  const ends = (isWhole && last !== null ? dayOf(last) : day) + (minutesOf(from) + minutes) * 60_000;
  return { reason, since: instantOf(zone, begins, 'earlier'), until: instantOf(zone, ends, 'later') };
}

function lengthOf(from: string, to: string): number {
  const minutes = minutesOf(to) - minutesOf(from);
  return minutes > 0 ? minutes : minutes + DAY_MINUTES;
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}
