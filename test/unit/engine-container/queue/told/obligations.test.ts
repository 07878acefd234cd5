import type { Landing } from '../../../../../engine-container/src/queue/record/landing-state.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import { toObligations } from '../../../../../engine-container/src/queue/told/obligations.ts';
import { givenBatch, givenEntry, givenLanding, givenRecord } from '../../../../builders/queue-record.ts';

const AT = 1_000_000;
const TAKE_BACK = { reason: 'queue_disabled', postedAt: null } as const;

test.each<[string, Partial<QueueRecord>, boolean]>([
  ['a pull request in the queue', { entries: [givenEntry(1)] }, false],
  ['a batch', { batches: [givenBatch()] }, true],
  [
    'a status to be written',
    {
      pendingStatuses: [{ pr: 1, sha: 'h', context: 'mq', state: 'error', description: '', targetUrl: null }],
    },
    true,
  ],
  ['a branch to be deleted', { garbage: [{ branch: 'mq/main/staging', notBefore: 0, runKey: null }] }, true],
  ['heads of a lost record', { recall: [1] }, true],
])('with %s the queue has obligations: %#', (_name, changes, open) => {
  expect(toObligations(givenRecord(changes), AT).open).toBe(open);
});

const HALTED = { reason: 'tree_mismatch', pr: 1, mergeCommit: 'm'.repeat(40), at: AT } as const;

test.each<[string, Partial<QueueRecord>, boolean]>([
  ['nothing', {}, true],
  ['a pull request in the queue', { entries: [givenEntry(1)] }, false],
  ['a batch', { batches: [givenBatch()] }, false],
  ['a branch to be deleted', { garbage: [{ branch: 'mq/main/staging', notBefore: 0, runKey: null }] }, false],
  ['a post whose end was not heard', { unheard: [] }, false],
  ['a stop for a wrong tree', { halted: HALTED }, false],
])('a queue with %s is at rest: %#', (_name, changes, atRest) => {
  expect(toObligations(givenRecord(changes), AT).atRest).toBe(atRest);
});

test('members that wait for a batch to land are in flight, those behind its limit are not', () => {
  const batches = [givenBatch({ limit: 1 }), givenBatch({ landing: givenLanding({ pr: 9 }), limit: 0 })];
  expect(toObligations(givenRecord({ batches }), AT).inFlight).toEqual([9, 1]);
});

test.each<[string, Landing['takeBack'], boolean]>([
  ['nothing takes it back', null, true],
  ['the status that takes it back is not posted', { ...TAKE_BACK, postedAt: null }, true],
  ['the status that takes it back is posted', { ...TAKE_BACK, postedAt: AT }, false],
])('a success stands until what takes it back is posted: %s', (_name, takeBack, stands) => {
  const batches = [givenBatch({ landing: givenLanding({ takeBack }) })];
  expect(toObligations(givenRecord({ batches }), AT).successStands).toBe(stands);
});
