import { DAY_MS } from './api-limits.ts';
import type { EpochMs } from './ids.ts';

/** Time zones by the data of the runtime. A wall time is a number of ms as if its clock were one of UTC. */

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    ...({ year: 'numeric', month: 'numeric', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: 'numeric', second: 'numeric' } as const),
  });
  formats.set(zone, made);
  return made;
}

/** A name of the data base, such as `Europe/Berlin` or `UTC`; an offset is none, because it has no summer time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function wallOf(zone: string, at: EpochMs): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const [year, month, day, hour, minute, second] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((type) => parts.get(type) ?? 0) as [number, number, number, number, number, number];
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function offsetAt(zone: string, at: EpochMs): number {
  const second = Math.floor(at / 1000) * 1000;
  return wallOf(zone, second) - second;
}

/** Midnight, as a wall time, of the day on which this time is in the zone. */
export function localDayOf(zone: string, at: EpochMs): number {
  return Math.floor(wallOf(zone, at) / DAY_MS) * DAY_MS;
}

/**
 * When clocks of the zone show this. An hour that is shown twice has two such times; one that is skipped has none, and is
 * told by the clock of before and of after. `which` chooses.
 */
export function instantOf(zone: string, wall: number, which: 'earlier' | 'later'): EpochMs {
  const offsets = [offsetAt(zone, wall - DAY_MS), offsetAt(zone, wall + DAY_MS)];
  const all = offsets.map((offset) => wall - offset);
  const shown = all.filter((at) => wallOf(zone, at) === wall);
  const times = shown.length > 0 ? shown : all;
  return which === 'earlier' ? Math.min(...times) : Math.max(...times);
}
