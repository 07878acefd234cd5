import fc from 'fast-check';
import { isSameData } from '../../../../../engine-container/src/queue/record/same-data.ts';

/** As JSON, with the fields in one order. */
function textOf(value: unknown): string | undefined {
  return JSON.stringify(value, (_name, each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

const data = fc.jsonValue({ maxDepth: 3 });

test('a copy is the same data, and a field more, less or changed is not', () => {
  const record = { schema: 2, entries: [{ pr: 1, head: 'a' }], tip: null };
  expect(isSameData(record, structuredClone(record))).toBe(true);
  expect(isSameData(record, { ...record, tip: 'a' })).toBe(false);
  expect(isSameData(record, { ...record, halted: null })).toBe(false);
  expect(isSameData(record, { schema: 2, entries: record.entries })).toBe(false);
  expect(isSameData(record, { ...record, entries: [] })).toBe(false);
  expect(isSameData(record, { ...record, entries: [{ pr: 1, head: 'b' }] })).toBe(false);
  expect(isSameData([], {})).toBe(false);
});

test('a field that is undefined is none', () => {
  expect(isSameData({ pr: 1 }, { pr: 1, since: undefined })).toBe(true);
  expect(isSameData({ pr: 1, since: undefined }, { pr: 1 })).toBe(true);
  expect(isSameData({ since: undefined }, { since: null })).toBe(false);
});

test('a field that every object inherits is none', () => {
  expect(isSameData({}, { toString: 'a' })).toBe(false);
  expect(isSameData({ toString: 'a' }, {})).toBe(false);
  expect(isSameData({ toString: undefined }, {})).toBe(true);
});

test('two pieces of data are the same exactly when their JSON is', () => {
  fc.assert(
    fc.property(data, data, (left, right) => {
      expect(isSameData(left, JSON.parse(JSON.stringify(left)))).toBe(true);
      expect(isSameData(left, right)).toBe(textOf(left) === textOf(right));
    }),
  );
});
