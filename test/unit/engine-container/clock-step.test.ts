import { followClock } from '../../../engine-container/src/queue/record/clock-step.ts';
import type { QueueRecord } from '../../../engine-container/src/queue/record/record.ts';
import { parseRecord } from '../../../engine-container/src/record-codec.ts';
import { SteadyClock } from '../../../engine-container/src/steady-clock.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import stored from './stored-record.json';

const HOUR_MS = 3_600_000;

function givenRecord(): QueueRecord {
  const parsed = parseRecord(stored);
  if (parsed === null) throw new Error('the stored record is not read');
  return parsed.record;
}

/** Paths of numbers that differ, without places in lists, and by how much. */
function differences(before: unknown, after: unknown, path = ''): readonly string[] {
  if (typeof before === 'number' && typeof after === 'number')
    return before === after ? [] : [`${path} ${after - before}`];
  if (before === null || typeof before !== 'object') return before === after ? [] : [`${path} changed`];
  return Object.entries(before).flatMap(([key, value]) =>
    differences(
      value,
      (after as Record<string, unknown>)[key],
      Array.isArray(before) ? path : `${path}.${key}`,
    ),
  );
}

test('a step moves the times that something waits from, or that are compared, and no other', () => {
  const record = givenRecord();
  const moved = [...new Set(differences(record, followClock(record, HOUR_MS)))].sort();
  expect(moved).toEqual(
    [
      '.baseSeen.at',
      '.batches.createdAt',
      '.batches.nodes.stagedAt',
      '.entries.readyAt',
      '.evidence.at',
      '.garbage.notBefore',
      '.landed.at',
    ].map((path) => `${path} ${HOUR_MS}`),
  );
});

test('a step there and back changes nothing', () => {
  const record = givenRecord();
  expect(followClock(followClock(record, HOUR_MS), -HOUR_MS)).toEqual(record);
});

describe('the clock of one reconcile', () => {
  test('goes on whatever is done to the wall clock of the machine', async () => {
    const clock = new SteppedClock(new VirtualClock());
    const steady = new SteadyClock(clock);
    const startedAt = steady.now();
    clock.put(HOUR_MS);
    await clock.advance(5_000);
    expect(steady.now()).toBe(startedAt + 5_000);
  });

  test.each([
    ['put forward', HOUR_MS, HOUR_MS],
    ['put back', -HOUR_MS, -HOUR_MS],
    ['off by little', 4_999, 0],
  ])('tells the next that it was %s', async (_, stepMs, told) => {
    const clock = new SteppedClock(new VirtualClock());
    const { start } = new SteadyClock(clock);
    await clock.advance(60_000);
    clock.put(stepMs);
    expect(new SteadyClock(clock).stepSince(start)).toBe(told);
  });
});
