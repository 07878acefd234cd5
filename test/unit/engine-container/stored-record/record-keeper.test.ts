import { QUEUE_WRITE_ROWS_MAX } from '#core/domain/limits.ts';
import { emptyRecord } from '../../../../engine-container/src/queue/record/record.ts';
import { parseRecord, toDocument } from '../../../../engine-container/src/stored-record/record-codec.ts';
import { isEmpty, takeWrite } from '../../../../engine-container/src/stored-record/unsent.ts';
import { givenEvent, givenNodeRow } from '../../../builders/store-rows.ts';

const batches = (count: number) =>
  Array.from({ length: count }, (_, id) => givenNodeRow({ id: `batch-${id}` }));
const events = (count: number, event: 'pr_queued' | 'pr_landed') =>
  Array.from({ length: count }, (_, pr) => givenEvent({ pr: pr + 1, event }));

describe('the rows of one write', () => {
  test('is as much as one transaction takes, in order; the rest waits', () => {
    const all = { batches: batches(50), events: events(100, 'pr_queued') };
    const first = takeWrite(all, 1);
    expect([first.batches.length, first.events.length]).toEqual([50, QUEUE_WRITE_ROWS_MAX - 51]);
    const second = takeWrite(first.left, 0);
    expect([...first.events, ...second.events]).toEqual(all.events);
    expect(isEmpty(second.left)).toBe(true);
  });

  test('an event that ends a pull request takes the place of its mark as well', () => {
    const { events: taken, left } = takeWrite({ batches: [], events: events(60, 'pr_landed') }, 0);
    expect([taken.length, left.events.length]).toEqual([48, 12]);
  });

  test('more rows than places are taken in several', () => {
    const {
      batches: taken,
      events: told,
      left,
    } = takeWrite({ batches: batches(200), events: events(1, 'pr_queued') }, 1);
    expect([taken.length, told.length, left.batches.length]).toEqual([96, 0, 104]);
  });
});

test('reviews of before they were counted are read again', () => {
  const reading = { pr: 1, head: 'a', updatedAt: 1, schedule: { kind: 'none' } };
  const uncounted = { id: 1, user: 'u', state: 'comment', official: false };
  const counted = { state: 'approved', stale: false, onHead: true, count: 2 };
  const reviews = [[uncounted], [counted], [], null];
  const old = {
    ...toDocument(emptyRecord('mq')),
    readings: reviews.map((each) => ({ ...reading, reviews: each })),
  };
  const read = parseRecord(old)?.record.readings.map((each) => each.reviews);
  expect(read).toEqual([null, [counted], [], null]);
});

describe('a document with rows and events that wait', () => {
  const waiting = { batches: batches(1), events: events(2, 'pr_landed') };
  const document = toDocument(emptyRecord('mq'), waiting);

  test('is read back as the record and what waits', () => {
    const parsed = parseRecord(JSON.parse(JSON.stringify(document)));
    expect(parsed).toEqual({ record: emptyRecord('mq'), unsent: waiting });
    expect(parseRecord(toDocument(emptyRecord('mq')))?.unsent).toEqual({ batches: [], events: [] });
  });

  test.each([
    7,
    { batches: [null], events: [] },
    { batches: [], events: [{ event: 'pr_forgotten', pr: 1 }] },
  ])('is no record when what waits is %j', (unsent) => {
    expect(parseRecord({ ...document, unsent })).toBeNull();
  });
});

test('what was only learned, and is damaged, is learned anew', () => {
  const document = toDocument(emptyRecord('mq'));
  const damaged = {
    runnersSeen: 'many',
    runnersKnown: 7,
    begunLately: { count: 1 },
    forecast: 'fair',
    slowPatches: { until: 'noon' },
  };
  expect(parseRecord({ ...document, ...damaged })?.record).toEqual(emptyRecord('mq'));
});
