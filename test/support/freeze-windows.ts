import { type FreezeWindow, WEEK_DAYS } from '#core/domain/repos/freeze.ts';

const MINUTE_MS = 60_000;

/** A window of UTC on each day, from the minute of `from` until that of `to`, both in ms. */
export function dailyWindow(from: number, to: number, reason = 'close of trade'): FreezeWindow {
  return { reason, days: WEEK_DAYS, from: clockOf(from), to: clockOf(to), first: null, last: null };
}

/** The first full minute at or after a time in ms. */
export function nextMinute(at: number): number {
  return Math.ceil(at / MINUTE_MS) * MINUTE_MS;
}

function clockOf(at: number): string {
  return new Date(at).toISOString().slice(11, 16);
}
