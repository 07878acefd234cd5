import type { TimelineEntry } from '#core/domain/forge/forge.ts';
import { known } from '#core/domain/result.ts';
import type { TimelineQuestion } from '#core/ports/forge.ts';
import { TimelineMemory, TimelineReader } from '../../../../engine-container/src/reading/read-timelines.ts';
import { givenPull } from '../../../builders/snapshot.ts';

const MINUTE_MS = 60_000;
const entry = (id: number, kind: TimelineEntry['kind'] = 'other', at = id * 1_000): TimelineEntry => ({
  id,
  kind,
  at,
  user: 'dev',
  newHead: null,
});

/** A timeline of which a reading comes to so many entries; the memory outlives each reader, as each reconcile has its own. */
function open(entries: TimelineEntry[], partRows: number) {
  const memory = new TimelineMemory();
  const asked: (number | undefined)[] = [];
  const readTimeline = async (_pr: number, { since }: TimelineQuestion = {}) => {
    asked.push(since);
    const rows = entries.filter(({ at }) => at >= (since ?? 0));
    const part = rows.slice(0, partRows);
    return { entries: part, readTo: part.length < rows.length ? (part.at(-1)?.at ?? 0) : null };
  };
  const pull = givenPull(4);
  const openReader = () => new TimelineReader({ readTimeline }, memory);
  return { openReader, pull, asked, memory };
}

test('a short timeline is read from its start each time', async () => {
  const { openReader, pull, asked, memory } = open([entry(1), entry(2, 'scheduled')], 50);
  for (let nth = 0; nth < 2; nth += 1)
    expect((await openReader().read(pull))?.map(({ id }) => id)).toEqual([1, 2]);
  expect(asked).toEqual([undefined, undefined]);
  expect(memory.size).toBe(0);
});

test('a long one is read in parts, and is unknown before the last one', async () => {
  const entries = [
    entry(1, 'scheduled'),
    ...Array.from({ length: 250 }, (_, nth) => entry(nth + 2)),
    entry(252, 'pushed'),
  ];
  const { openReader, pull, asked, memory } = open(entries, 100);
  for (let nth = 0; nth < 2; nth += 1) {
    const reader = openReader();
    reader.begin(null);
    expect(await reader.read(pull)).toBeNull();
    expect([reader.isUnfinished, reader.isPartial(4)]).toEqual([true, true]);
    reader.begin(null);
    expect(reader.isUnfinished).toBe(false);
  }
  const reader = openReader();
  expect((await reader.read(pull))?.map(({ kind }) => kind)).toEqual(['scheduled', 'pushed']);
  expect([reader.isUnfinished, reader.isPartial(4)]).toEqual([false, false]);
  expect(asked).toEqual([undefined, 100_000, 199_000]);
  expect(memory.size).toBe(3);
});

test('of one that is known what is new is read, and what a clock that was put back has written meanwhile', async () => {
  const entries = [entry(1, 'scheduled'), ...Array.from({ length: 150 }, (_, nth) => entry(nth + 2))];
  const { openReader, pull, asked } = open(entries, 1_000);
  await openReader().read(pull);
  entries.push(entry(153, 'pushed', 151_000 - 4 * MINUTE_MS), entry(154, 'cancelled', 152_000));
  expect((await openReader().read(pull))?.map(({ id }) => id)).toEqual([1, 153, 154]);
  expect(asked).toEqual([undefined, 151_000 - 5 * MINUTE_MS]);
});

test('one that leads no further does not ask for another look', async () => {
  const entries = Array.from({ length: 300 }, (_, nth) => entry(nth + 1, 'other', 7_000));
  const { openReader, pull } = open(entries, 100);
  const first = openReader();
  await first.read(pull);
  expect(first.isUnfinished).toBe(true);
  const second = openReader();
  expect(await second.read(pull)).toBeNull();
  expect(second.isUnfinished).toBe(false);
});

test('who writes much in the minutes that are read twice is read from where the last part ended', async () => {
  const entries = Array.from({ length: 150 }, (_, nth) => entry(nth + 1, 'other', 1_000_000 + nth));
  const { openReader, pull, asked } = open(entries, 160);
  await openReader().read(pull);
  for (let nth = 151; nth <= 400; nth += 1)
    entries.push(entry(nth, nth === 400 ? 'pushed' : 'other', 1_000_000 + nth));
  const readings: (number | undefined)[] = [];
  for (let nth = 0; nth < 3; nth += 1) readings.push((await openReader().read(pull))?.length);
  expect(readings).toEqual([undefined, undefined, 1]);
  expect(asked.slice(2)).toEqual([1_000_160, 1_000_319]);
});

test('what was read in part is gone on with at the end of a look: one reading where something is in flight, and none that led no further', async () => {
  const entries = Array.from({ length: 450 }, (_, nth) => entry(nth + 1));
  const { openReader, pull, asked } = open(entries, 100);
  const tryRead = async <T>(read: () => Promise<T>) => known(await read());
  const reader = openReader();
  await reader.read(pull);
  const goOn = async (isInFlight: boolean, on = pull) => {
    reader.begin(null);
    await reader.goOn([on, on], tryRead, isInFlight);
    return reader.isUnfinished;
  };
  expect(await goOn(true)).toBe(false);
  expect(asked).toHaveLength(2);
  expect(await goOn(false)).toBe(true);
  expect(asked).toHaveLength(4);
  // The last entries are in one second, and more than one reading comes to.
  for (let nth = 451; nth <= 700; nth += 1) entries.push(entry(nth, 'other', 450_000));
  while (await goOn(false));
  const count = asked.length;
  expect(await goOn(false)).toBe(false);
  expect(asked).toHaveLength(count);
  await goOn(false, { ...pull, updatedAt: pull.updatedAt + 1 });
  expect(asked.length).toBeGreaterThan(count);
});
