import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import { shedRecord } from '../../../../../engine-container/src/queue/record/shed.ts';
import { givenEntry, givenRecord } from '../../../../builders/queue-record.ts';

const head = (pr: number): string => pr.toString(16).padStart(40, '0');

/** Ten in the queue, ten outside it; each was read a second after the one before. */
function givenLongRecord(): QueueRecord {
  const prs = Array.from({ length: 20 }, (_, index) => index + 1);
  return givenRecord({
    entries: prs.slice(0, 10).map((pr) => givenEntry(pr, { title: 't'.repeat(200), head: head(pr) })),
    readings: prs.map((pr) => ({
      pr,
      head: head(pr),
      updatedAt: 1,
      schedule: { kind: 'none' as const },
      reviews: null,
      readAt: pr * 1_000,
    })),
    evidence: [{ tree: 'x', gate: 'g', verdict: 'success', runKey: '1', runUrl: null, sha: head(1), at: 1 }],
    bounced: [1, 15].map((pr) => ({ pr, head: head(pr), scheduleId: pr })),
    pendingStatuses: [
      { pr: 15, sha: head(15), context: 'mq', state: 'error' as const, description: '', targetUrl: null },
    ],
    garbage: [{ branch: 'mq/main/staging', notBefore: 0, runKey: null }],
    recall: [15],
    unheard: [{ pr: 16, sha: head(16), context: 'mq', posts: 1, since: 0, lookAt: 0 }],
  });
}

function steps(record: QueueRecord): QueueRecord[] {
  const all: QueueRecord[] = [];
  for (let step = 0; ; step += 1) {
    const kept = shedRecord(record, step);
    if (kept === null) return all;
    all.push(kept);
  }
}

describe('parts that are left out of a record that is too large', () => {
  test('is nothing at first, and more with every step', () => {
    const record = givenLongRecord();
    const sizes = steps(record).map((kept) => JSON.stringify(kept).length);
    expect(shedRecord(record, 0)).toBe(record);
    expect([...new Set(sizes)].sort((a, b) => b - a)).toEqual(sizes);
  });

  test('is never the queue, what stands on the forge, or what is to be written there', () => {
    const record = givenLongRecord();
    for (const kept of steps(record)) {
      expect(kept.entries.map(({ pr }) => pr)).toEqual(record.entries.map(({ pr }) => pr));
      const { pendingStatuses, garbage, recall, unheard, halted, tip } = record;
      expect(kept).toMatchObject({ pendingStatuses, garbage, recall, unheard, halted, tip });
      expect(kept.batches).toHaveLength(record.batches.length);
    }
  });

  test('are the readings of those outside the queue first, the longest unread before the others', () => {
    const [, first, second, third, fourth] = steps(givenLongRecord()).map(({ readings }) =>
      readings.map(({ pr }) => pr).sort((a, b) => a - b),
    );
    expect(first).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 18, 19, 20]);
    expect(second).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(third).toEqual([6, 7, 8, 9, 10]);
    expect(fourth).toEqual([]);
  });

  test('is the memory of those outside the queue, and in the end most of each title', () => {
    const last = steps(givenLongRecord()).at(-1);
    expect(last?.bounced.map(({ pr }) => pr)).toEqual([1]);
    expect(last?.evidence).toEqual([]);
    expect(last?.entries[0]?.title).toBe('t'.repeat(40));
  });
});
