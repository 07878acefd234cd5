import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRecord, toDocument } from '../../../engine-container/src/record-codec.ts';

const stored = JSON.parse(readFileSync(join(__dirname, 'stored-record.json'), 'utf8'));

describe('a record that was stored before its fields were renamed', () => {
  const parsed = parseRecord(stored);
  if (parsed === null) throw new Error('the stored record is not understood');
  const { record, unsent } = parsed;

  test('is read with all that is in it', () => {
    expect(record.entries).toHaveLength(stored.line.length);
    expect(record.entries.map((entry) => entry.passedOnStaleBase)).toEqual(
      stored.line.map((entry: { cleared: boolean }) => entry.cleared),
    );
    expect(record.entries.map((entry) => entry.failureProbability)).toEqual(
      stored.line.map((entry: { doubt: unknown }) => entry.doubt),
    );
    expect(record.entries.some((entry) => entry.failureProbability !== null || entry.passedOnStaleBase)).toBe(
      true,
    );
    expect(record.mergeTimeoutCounts).toEqual([expect.objectContaining({ count: 1 })]);
    expect(record.deferred).toHaveLength(1);
    expect(record.pendingStatuses).toHaveLength(1);
    expect(record.roots.map(({ place }) => place)).toEqual(['suspect', 'pipeline', 'trial', 'trial']);
  });

  test('is written as it was: an older engine reads it too', () => {
    expect(JSON.parse(JSON.stringify(toDocument(record, unsent)))).toEqual(stored);
  });
});
