import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRecord, toDocument } from '../../../../engine-container/src/stored-record/record-codec.ts';
import { givenBatch, givenLanding } from '../../../builders/queue-record.ts';
import { givenNodeRow } from '../../../builders/store-rows.ts';

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
    expect(record.batches.map(({ place }) => place)).toEqual(['suspect', 'pipeline', 'trial', 'trial']);
  });

  test('names a success that is taken back, and the batch below, as it did', () => {
    const takeBack = { reason: 'merge_timeout', postedAt: 7 } as const;
    const batch = givenBatch({ stagedOn: 'below', landing: givenLanding({ takeBack }) });
    const document = JSON.parse(JSON.stringify(toDocument({ ...record, batches: [batch] })));
    expect(document.roots).toMatchObject([{ runId: 'batch', onto: 'below', landing: { revoke: takeBack } }]);
    expect(parseRecord(document)?.record.batches).toEqual([batch]);
  });

  test('names the batch of a row that is not sent yet as it did', () => {
    const waiting = { batches: [givenNodeRow({ batchId: 'batch-7' })], events: [] };
    const document = JSON.parse(JSON.stringify(toDocument(record, waiting)));
    expect(document.unsent.batches).toMatchObject([{ runId: 'batch-7' }]);
    expect(document.unsent.batches[0]).not.toHaveProperty('batchId');
    expect(parseRecord(document)?.unsent).toEqual(waiting);
  });

  test('is written as it was: an older engine reads it too', () => {
    expect(JSON.parse(JSON.stringify(toDocument(record, unsent)))).toEqual(stored);
  });
});
