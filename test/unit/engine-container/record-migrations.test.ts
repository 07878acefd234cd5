import { readFileSync } from 'node:fs';
import { parseRecord } from '../../../engine-container/src/record-codec.ts';

/** A record as this release stores it. */
const stored = (): Record<string, unknown> =>
  JSON.parse(readFileSync('test/unit/engine-container/stored-record.json', 'utf8'));

/** As the next release may leave it: more in every object of it. */
function added(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(added);
  if (typeof value !== 'object' || value === null) return value;
  return {
    ...Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, added(inner)])),
    addedLater: { of: 'the next release' },
  };
}

test('a record of before reviews were counted is read, and those readings are made again', () => {
  const counted = { pr: 2, head: 'b', updatedAt: 1, reviews: [{ state: 'approved', count: 1 }] };
  const uncounted = { ...counted, pr: 1, reviews: [{ state: 'approved' }] };
  const read = parseRecord({ ...stored(), readings: [uncounted, counted] });
  expect(read?.record).toMatchObject({ readings: [{ pr: 1, reviews: null }, counted] });
});

test('a record of the next release, with more in every object, is read: what is not known is not looked at', () => {
  expect(parseRecord(added(stored()))).not.toBeNull();
});
