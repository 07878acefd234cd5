import type { QueueRecord } from '../../../../engine-container/src/queue/record/record.ts';
import { parseRecord, toDocument } from '../../../../engine-container/src/record-codec.ts';
import { measure } from '../../../bench/queue/measure.ts';
import type { PlannedPullRequest, Scenario } from '../../../bench/queue/workload.ts';

const SIZE_MAX = 6;
const CI_MINUTES = 10;

function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const each of Object.values(value)) freezeDeep(each);
}

/** Every record is one that a later engine reads back, and no pass writes into the record that it was given. */
function inspect(record: QueueRecord): void {
  freezeDeep(record);
  if (record.batches.filter((batch) => batch.landing !== null).length > 1)
    throw new Error('two land at once');
  const held = record.batches.flatMap((batch) =>
    batch.members.slice(Math.max(batch.landed, batch.released), batch.limit).map((member) => member.pr),
  );
  if (new Set(held).size < held.length) throw new Error('one pull request is in two batches');
}

function plan(bad: readonly boolean[], gapMinutes: number): readonly PlannedPullRequest[] {
  return bad.map((each, index) => ({
    number: index + 1,
    arrivesAtMs: index * gapMinutes * 60_000,
    bad: each,
    clashes: [],
    conflicts: [],
  }));
}

function play(
  planned: readonly PlannedPullRequest[],
  fanout: number,
  scenario: Partial<Scenario> = {},
  cold = true,
) {
  return measure({
    scenario: {
      name: 'small',
      n: planned.length,
      arrivals: { kind: 'once' },
      ci: { kind: 'fixed', D: CI_MINUTES },
      ...scenario,
    },
    fanout,
    seed: 1,
    cold,
    planned,
    inspect,
  });
}

const patterns = Array.from({ length: SIZE_MAX }, (_, index) => index + 1).flatMap((size) =>
  Array.from({ length: 2 ** size }, (_, bits) =>
    Array.from({ length: size }, (_, at) => ((bits >> at) & 1) === 1),
  ),
);
const numbersOf = (bad: readonly boolean[], wanted: boolean): readonly number[] =>
  bad.flatMap((each, index) => (each === wanted ? [index + 1] : []));

describe.each([
  [1, 'new'],
  [2, 'known'],
  [4, 'new'],
  [8, 'known'],
  [16, 'new'],
] as const)(
  'every pattern of good and bad up to six: never more runs at once than the speculation policy says, and an end (A28, A36), fan-out %d, %s repository',
  (fanout, age) => {
    test.each([
      ['at once', 0],
      ['one every third of a run, up to four', CI_MINUTES / 3],
    ])('%s: exactly the bad ones are bounced, all others land, nothing unproven', (_, gapMinutes) => {
      // Six at once for a usual pipeline: one more doubles the time. Those that come one by one meet fewer others.
      const sizeMax = gapMinutes > 0 ? 4 : fanout === 4 ? SIZE_MAX : 5;
      for (const bad of patterns.filter((each) => each.length <= sizeMax)) {
        const result = play(plan(bad, gapMinutes), fanout, { p: 0.2 }, age === 'new');
        const found = {
          bad,
          merged: [...result.merged].sort((a, b) => a - b),
          bounced: [...result.bounced].sort((a, b) => a - b),
          unproven: result.unproven,
          red: result.red,
        };
        expect(found).toEqual({
          bad,
          merged: numbersOf(bad, false),
          bounced: numbersOf(bad, true),
          unproven: 0,
          red: 0,
        });
        expect(result.mostRuns).toBeLessThanOrEqual(fanout);
      }
    });
  },
);

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
