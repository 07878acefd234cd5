import { LATE_PUSH_ENTRY_MS } from '../../../../engine-container/src/queue/admission/eligibility.ts';
import type { QueueRecord } from '../../../../engine-container/src/queue/record/record.ts';
import { paceOf } from '../../../../engine-container/src/reading/look-pace.ts';
import {
  BASE,
  givenEntry,
  givenEvidence,
  givenLanding,
  givenRecord,
  givenStagedBatch,
} from '../../../builders/queue-record.ts';

const READY_AT = 1_000;
const SETTLED_AT = READY_AT + LATE_PUSH_ENTRY_MS;

/** #1 and #2 are proven; #1 is the next to land. */
function givenProven(batch: Parameters<typeof givenStagedBatch>[1] = {}): QueueRecord {
  return givenRecord({
    tip: BASE.sha,
    entries: [1, 2].map((pr) => givenEntry(pr, { readyAt: READY_AT })),
    batches: [givenStagedBatch(2, batch)],
    evidence: [givenEvidence(2, 'success')],
  });
}

const gatesMs = (record: QueueRecord, now: number) => paceOf(record, now).gatesMs;

test('gate runs are read seldom while one lands, so that its merge is seen at once', () => {
  expect(gatesMs(givenProven(), SETTLED_AT)).toBe(5_000);
});

test('gate runs are read often where nothing is proven', () => {
  expect(gatesMs({ ...givenProven(), evidence: [] }, SETTLED_AT)).toBe(450);
});

test('a proven head that was just scheduled is not asked for yet, and delays no verdict of another gate run', () => {
  expect(gatesMs(givenProven(), SETTLED_AT - 1)).toBe(450);
});

test('a success that was posted is awaited, whenever its pull request was scheduled', () => {
  expect(gatesMs(givenProven({ landing: givenLanding() }), SETTLED_AT - 1)).toBe(5_000);
});
