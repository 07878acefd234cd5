import { known, UNKNOWN } from '#core/domain/result.ts';
import type { EarlierHead } from '../../../../../engine-container/src/queue/record/recall-state.ts';
import {
  describeEarlierBounce,
  describeHeadChange,
} from '../../../../../engine-container/src/queue/words/phrases.ts';
import { givenEntry, givenRecord, headOf } from '../../../../builders/queue-record.ts';
import { givenSnapshot, givenStatus, givenView, NOW } from '../../../../builders/snapshot.ts';
import { tellDecision } from '../../../../support/told-decision.ts';

/** #1 waits for the head of #7, which a success may stand on and no look can read. */
function whileHeld(head: Partial<EarlierHead>) {
  const unread = givenView(7, { schedule: UNKNOWN, statuses: UNKNOWN });
  return tellDecision(
    givenSnapshot({ pulls: known([givenView(1), unread]) }),
    givenRecord({
      entries: [givenEntry(1)],
      recall: [7],
      recallHeads: [{ pr: 7, head: 'head-7', mayStand: true, ...head }],
      recalledAt: NOW - 20_000,
      unreadSince: NOW - 20_000,
    }),
  );
}

describe('a head of an earlier record that cannot be read', () => {
  test('holds up the others until its time is over, and they are looked at then', () => {
    expect(whileHeld({ until: NOW + 60_000 })).toMatchObject({ actions: [], wakeInMs: 60_000 });
    expect(whileHeld({ until: NOW }).actions).toEqual(['stage #1 on base-0 as mq/main/staging']);
  });

  test('and that this record told of is written over after two minutes', () => {
    expect(whileHeld({})).toMatchObject({ actions: [], wakeInMs: 100_000 });
  });
});

test('a word that the head moved, carried out late on one that its schedule holds for, gives way to its bounce', () => {
  const late = givenStatus({ state: 'error', description: describeHeadChange() });
  const { actions } = tellDecision(
    givenSnapshot({ pulls: known([givenView(1, { statuses: known([late]) })]) }),
    givenRecord({ entries: [givenEntry(1)], bounced: [{ pr: 1, head: headOf(1), scheduleId: 1 }] }),
  );
  expect(actions).toEqual([`error on head-1: ${describeEarlierBounce()}`]);
});
