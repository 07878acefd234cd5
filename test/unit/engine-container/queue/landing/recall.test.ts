import { known, UNKNOWN } from '#core/domain/result.ts';
import type { EarlierHead } from '../../../../../engine-container/src/queue/record/recall-state.ts';
import { givenEntry, givenRecord } from '../../../../builders/queue-record.ts';
import { givenSnapshot, givenView, NOW } from '../../../../builders/snapshot.ts';
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
