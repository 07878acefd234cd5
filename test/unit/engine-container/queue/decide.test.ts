import type { QueueRecord } from '../../../../engine-container/src/queue/record/record.ts';
import { parseRecord, toDocument } from '../../../../engine-container/src/stored-record/record-codec.ts';
import { measure } from '../../../bench/queue/measure.ts';
import { definePatternTests } from './patterns.suite.ts';
import { CI_MINUTES, inspect, plan, play } from './small-plans.ts';

const SIZE_MAX = 6;

definePatternTests([1, 2, 3, 4], [1, 2, 3]);

describe('two that only fail together', () => {
  test.each([1, 2, 4, 8, 16])('the later one is bounced, fan-out %d', (fanout) => {
    for (let size = 2; size <= SIZE_MAX; size += 1) {
      for (let first = 0; first < size; first += 1) {
        for (let second = first + 1; second < size; second += 1) {
          const planned = plan(
            Array.from({ length: size }, () => false),
            0,
          ).map((each, index) => (index === second ? { ...each, clashes: [first + 1] } : each));
          const result = play(planned, fanout);
          expect(result).toMatchObject({ unproven: 0, red: 0, lost: 0, bounced: [second + 1] });
          expect(result.merged).toHaveLength(size - 1);
        }
      }
    }
  });
});

describe('two that conflict in their text', () => {
  test.each([1, 4, 16])('the earlier one lands, the later one waits for its author, fan-out %d', (fanout) => {
    for (let second = 1; second < SIZE_MAX; second += 1) {
      const planned = plan(
        Array.from({ length: SIZE_MAX }, () => false),
        0,
      ).map((each, index) => (index === second ? { ...each, conflicts: [second] } : each));
      const result = play(planned, fanout);
      expect(result).toMatchObject({ unproven: 0, red: 0, lost: 0, bounced: [] });
      expect(result.merged).not.toContain(second + 1);
      expect(result.merged).toHaveLength(SIZE_MAX - 1);
    }
  });
});

test('runners that take four at a time are not given sixteen', () => {
  const planned = plan(
    Array.from({ length: 120 }, () => false),
    CI_MINUTES / 4,
  );
  const free = play(planned, 16);
  const capped = play(planned, 16, { C: 4 });
  expect(capped).toMatchObject({ unproven: 0, red: 0, lost: 0, bounced: [] });
  expect(Math.max(...capped.landTimes.slice(60))).toBeLessThan(4);
  expect(free.landed).toBe(capped.landed);
});

test('a burst that the free slots take is in runs at once, its tail too', () => {
  const COUNT = 64;
  const waiting: number[] = [];
  measure({
    scenario: {
      name: 'burst',
      n: COUNT,
      p: 1 / COUNT,
      arrivals: { kind: 'once' },
      ci: { kind: 'fixed', D: CI_MINUTES },
    },
    fanout: 16,
    seed: 1,
    cold: false,
    planned: plan(
      Array.from({ length: COUNT }, () => false),
      0,
    ),
    inspect: (record) => {
      inspect(record);
      const nodes = record.batches.flatMap((batch) => batch.nodes);
      if (nodes.length > 1 && nodes.every((node) => node.state === 'gating'))
        waiting.push(COUNT - record.batches.reduce((sum, batch) => sum + batch.members.length, 0));
    },
  });
  expect(Math.min(...waiting)).toBe(0);
  expect(waiting.length).toBeGreaterThan(1);
});

test('a record of before batches were many is read as a pipeline of one', () => {
  const records: QueueRecord[] = [];
  measure({
    scenario: { name: 'small', n: 3, arrivals: { kind: 'once' }, ci: { kind: 'fixed', D: CI_MINUTES } },
    fanout: 1,
    seed: 1,
    cold: true,
    planned: plan([false, true, false], 0),
    inspect: (record) => records.push(record),
  });
  const busy = records.filter(
    (record) => record.batches.length > 0 && (record.batches[0]?.chain.length ?? 0) > 0,
  );
  expect(busy.length).toBeGreaterThan(5);
  type Stored = {
    readonly [name: string]: unknown;
    readonly line: readonly object[];
    readonly roots: readonly object[];
  };
  const store = (record: QueueRecord) => JSON.parse(JSON.stringify(toDocument(record))) as Stored;
  const without = (fields: object, names: readonly string[]) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
  for (const record of busy) {
    const [inFlight] = record.batches;
    const { roots, tip: _tip, line, ...rest } = store(record);
    const [stored = {}] = roots;
    const { place: _, onto: __, released: ___, ...first } = stored as Readonly<Record<string, unknown>>;
    const old = {
      ...rest,
      schema: 1,
      line: line.map((entry) => without(entry, ['cleared', 'doubt'])),
      root: { ...first, nodes: (first.nodes as object[]).map((node) => without(node, ['load'])) },
      rate: { landed: record.rate.landed, bounced: record.rate.bounced },
    };
    const read = parseRecord(old)?.record;
    expect(read?.batches).toHaveLength(1);
    expect(read?.batches[0]).toMatchObject({
      ...JSON.parse(JSON.stringify(inFlight)),
      place: 'pipeline',
      stagedOn: null,
      released: 0,
    });
    expect(read?.tip).toBe(inFlight?.tip);
    expect(
      read?.entries.every((entry) => !entry.passedOnStaleBase && entry.failureProbability === null),
    ).toBe(true);
    expect(read === undefined ? null : parseRecord(store(read))?.record).toEqual(read);
  }
  expect(parseRecord({ schema: 3 })).toBeNull();
  const early = records.map((record) => {
    const stored = store(record);
    return { ...stored, line: stored.line.map((entry) => without(entry, ['doubt'])) };
  });
  expect(early.map((document) => parseRecord(document)?.record)).toEqual(
    records.map((record) => ({
      ...record,
      entries: record.entries.map((entry) => ({ ...entry, failureProbability: null })),
    })),
  );
  expect(parseRecord({ ...early.at(-1), line: [null] })).toBeNull();
});
