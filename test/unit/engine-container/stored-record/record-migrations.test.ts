import { readFileSync } from 'node:fs';
import { parseRecord, toDocument } from '../../../../engine-container/src/stored-record/record-codec.ts';
import {
  migrate,
  NEWEST_FORMAT,
  WRITTEN_FORMAT,
} from '../../../../engine-container/src/stored-record/record-migrations.ts';

/** A record as this release stores it. */
const stored = (): Record<string, unknown> =>
  JSON.parse(readFileSync('test/unit/engine-container/stored-record/stored-record.json', 'utf8'));

/** As the next release may leave it: more in every object of it. */
function added(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(added);
  if (typeof value !== 'object' || value === null) return value;
  return {
    ...Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, added(inner)])),
    addedLater: { of: 'the next release' },
  };
}

/** A record of format 1 with one batch in flight, made from one of now. */
function first(): Record<string, unknown> {
  const {
    roots,
    line,
    rate,
    tip: _,
    ...rest
  } = stored() as {
    readonly roots: readonly { readonly nodes: readonly object[] }[];
    readonly line: readonly object[];
    readonly rate: { readonly landed: number; readonly bounced: number };
    readonly tip: unknown;
  };
  const without = (value: object, ...names: string[]): object =>
    Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
  const [batch] = roots;
  if (batch === undefined) throw new Error('the stored record has no batch');
  return {
    ...rest,
    schema: 1,
    line: line.map((entry) => without(entry, 'cleared', 'doubt')),
    root: {
      ...without(batch, 'place', 'onto', 'released'),
      nodes: batch.nodes.map((node) => without(node, 'load')),
    },
    rate: { landed: rate.landed, bounced: rate.bounced },
  };
}

test('a reason that only a newer release knows is forgotten, and its pull request judged anew', () => {
  const record = stored() as { readonly line: readonly object[]; readonly parked: readonly object[] };
  const [entry = {}] = record.line;
  const aside = { pr: 1, head: 'a'.repeat(40), baseTree: 'b'.repeat(40), until: null };
  const read = parseRecord({
    ...record,
    line: [{ ...entry, refusedFor: 'reason_of_a_newer_release' }],
    parked: [
      { ...aside, reason: 'reason_of_a_newer_release' },
      { ...aside, reason: 'conflict' },
    ],
  })?.record;
  expect(read?.entries[0]?.refusedFor).toBeNull();
  expect(read?.deferred.map(({ reason }) => reason)).toEqual(['conflict']);
});

test('a batch and a success that a newer release takes back for a reason of its own are taken back without blame', () => {
  const record = stored() as { readonly roots: readonly object[] };
  const [batch = {}] = record.roots;
  const landing = { pr: 1, head: 'a', tree: 'b', baseBefore: 'c', index: 0 };
  const newer = {
    ...landing,
    left: 'way_of_a_newer_release',
    revoke: { reason: 'reason_of_a_newer_release', postedAt: null },
  };
  const known = { ...landing, left: 'draft', revoke: { reason: 'paused', postedAt: null } };
  const read = parseRecord({
    ...record,
    roots: [
      { ...batch, teardown: 'reason_of_a_newer_release', landing: newer },
      { ...batch, teardown: 'gate_timeout', landing: known },
      { ...batch, teardown: null, landing: null },
    ],
  })?.record.batches;
  expect(read?.map(({ teardown, landing: end }) => [teardown, end?.takeBack?.reason, end?.left])).toEqual([
    ['candidate_changed', 'candidate_changed', undefined],
    ['gate_timeout', 'paused', 'draft'],
    [null, undefined, undefined],
  ]);
});

test('a bounce stands, without the words for it that only a newer release knows', () => {
  const bounce = { pr: 1, head: 'a'.repeat(40), scheduleId: 1 };
  const read = parseRecord({
    ...stored(),
    bounced: [
      { ...bounce, cause: 'reason_of_a_newer_release', again: 'reason_of_a_newer_release' },
      { ...bounce, cause: 'merge_timeout', again: 'retest_spent' },
    ],
  })?.record.bounced;
  expect(read).toEqual([bounce, { ...bounce, cause: 'merge_timeout', again: 'retest_spent' }]);
});

test.each([
  ['hook', { since: 1, at: 1, state: 'state_of_a_newer_release' }],
  ['rule', { at: 1, reasons: ['reason_of_a_newer_release'] }],
])('what a newer release has seen of the %s is seen anew', (name, value) => {
  expect(parseRecord({ ...stored(), [name]: value })?.record).not.toHaveProperty(name);
});

describe('formats of the stored record', () => {
  test('format 1, with one batch, becomes format 2: the batch is the whole pipeline', () => {
    const { tip } = (first().root ?? {}) as { readonly tip: unknown };
    const read = parseRecord(first())?.record;
    expect(read?.batches).toHaveLength(1);
    expect(read?.batches[0]).toMatchObject({ place: 'pipeline', stagedOn: null, released: 0 });
    expect(read?.tip).toBe(tip);
    expect(read?.entries.every(({ passedOnStaleBase }) => passedOnStaleBase === false)).toBe(true);
    expect(parseRecord({ ...first(), root: null })?.record).toMatchObject({ batches: [], tip: null });
  });

  test('format 2, without failure probabilities, becomes format 3: no entry has one', () => {
    const { line } = stored() as { readonly line: readonly object[] };
    const before = line.map((entry) =>
      Object.fromEntries(Object.entries(entry).filter(([name]) => name !== 'doubt')),
    );
    expect(before.length).toBeGreaterThan(0);
    const read = parseRecord({ ...stored(), line: before })?.record;
    expect(read?.entries.map(({ failureProbability }) => failureProbability)).toEqual(before.map(() => null));
  });

  test('format 2, of before reviews were counted, becomes format 3: those readings are made again', () => {
    const counted = { pr: 2, head: 'b', updatedAt: 1, reviews: [{ state: 'approved', count: 1 }] };
    const uncounted = { ...counted, pr: 1, reviews: [{ state: 'approved' }] };
    const read = parseRecord({ ...stored(), readings: [uncounted, counted] });
    expect(read?.record).toMatchObject({ readings: [{ pr: 1, reviews: null }, counted] });
  });

  test('every step leads from its own number to the next', () => {
    expect(migrate(first())?.schema).toBe(NEWEST_FORMAT);
    expect(migrate(stored())?.schema).toBe(NEWEST_FORMAT);
  });

  test('the format of the release after this one is read, and what is written is the one of the release before', () => {
    const next = parseRecord({ ...stored(), schema: NEWEST_FORMAT });
    expect(next).toEqual(parseRecord(stored()));
    if (next === null) throw new Error('was not read');
    expect(toDocument(next.record)).toMatchObject({ schema: WRITTEN_FORMAT });
    expect([WRITTEN_FORMAT, stored().schema]).toEqual([2, 2]);
  });

  test.each([
    ['of a format that is not known', () => ({ ...stored(), schema: NEWEST_FORMAT + 1 })],
    ['without a number', () => ({ ...stored(), schema: 'two' })],
    ['of format 1 with a batch that is none', () => ({ ...first(), root: { nodes: 3 } })],
    ['that is none', () => null],
  ])('a document %s is not half understood', (_case, document) => {
    expect(parseRecord(document())).toBeNull();
  });

  test('a record of the next release, with more in every object, is read: what is not known is not looked at', () => {
    expect(parseRecord(added(stored()))).not.toBeNull();
  });
});

describe('what the engine learned for its choice of the fan-out', () => {
  const auto = {
    inForce: 6,
    reason: 'budget',
    runs: 10,
    expected: 12.5,
    budget: 125,
    since: { runs: 3, landed: 2 },
    arrivals: { at: 5, gapMs: 60_000 },
  } as const;
  const readBack = (autoFanout: unknown): unknown => {
    const read = parseRecord({ ...stored(), autoFanout });
    expect(read?.record.entries.length).toBeGreaterThan(0);
    return read?.record.autoFanout;
  };

  test('is read as it was written', () => {
    expect(readBack(auto)).toEqual(auto);
  });

  test.each([
    ['a number above the ceiling', { ...auto, inForce: 17 }],
    ['no number', { ...auto, inForce: 0 }],
    ['a strange reason', { ...auto, reason: 'because' }],
    ['negative runs', { ...auto, runs: -1 }],
    ['half of it', { inForce: 4 }],
    ['a text', 'auto'],
  ])('is learned anew where it is damaged, and the rest of the record is read: %s', (_what, damaged) => {
    expect(readBack(damaged)).toBeUndefined();
  });
});

describe('outcomes by what was known before', () => {
  const forecast = { landed: 9, bounced: 1, with: { ci_failed: { landed: 1, bounced: 0.5 } } };

  test('are read as they were written', () => {
    expect(parseRecord({ ...stored(), forecast })?.record.forecast).toEqual(forecast);
  });

  test.each([
    ['negative', { ...forecast, landed: -1 }],
    ['of a signal that is none', { ...forecast, with: { moon: { landed: 1, bounced: 1 } } }],
    ['no numbers', { ...forecast, with: { ci_failed: { landed: '1', bounced: 1 } } }],
    ['a list', []],
  ])('are learned anew where they are damaged, and the rest of the record is read: %s', (_what, damaged) => {
    const read = parseRecord({ ...stored(), forecast: damaged });
    expect(read?.record.entries.length).toBeGreaterThan(0);
    expect(read?.record.forecast).toBeUndefined();
  });
});
