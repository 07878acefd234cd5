import {
  areAttemptsSpent,
  noteAttempts,
} from '../../../../../engine-container/src/queue/admission/attempts-and-places.ts';
import type { DecisionContext } from '../../../../../engine-container/src/queue/decision-context.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import { givenBatch, givenMember, givenRecord } from '../../../../builders/queue-record.ts';
import { givenSnapshot } from '../../../../builders/snapshot.ts';

const PUSHES = 200;

function look(record: QueueRecord): DecisionContext {
  return { record, s: givenSnapshot({ repo: givenRepo({ headAttemptsMax: 2 }) }) } as DecisionContext;
}

/** It is in flight, alone. */
function stage(record: QueueRecord, pr: number, head: string, scheduleId: number): void {
  record.batches = [givenBatch({ members: [{ ...givenMember(pr), head, scheduleId }], limit: 1 })];
  for (let looks = 0; looks < 3; looks += 1) noteAttempts(look(record));
  record.batches = [];
}

describe('attempts of the heads of a pull request that stays open', () => {
  test('of one that is pushed to again and again the newest few are kept, each as often as it was staged', () => {
    const record = givenRecord();
    stage(record, 2, 'other', 1);
    for (let push = 1; push <= PUSHES; push += 1) stage(record, 1, `head-${push}`, 1);
    const kept = record.attempts ?? [];
    expect(kept.length).toBeLessThanOrEqual(11);
    expect(kept.map(({ head }) => head)).toEqual(expect.arrayContaining(['other', `head-${PUSHES}`]));
    expect(kept.every(({ times }) => times === 1)).toBe(true);
  });

  test('the limit holds for the newest head, and for an earlier one that it is pushed back to', () => {
    const record = givenRecord();
    for (let push = 1; push <= PUSHES; push += 1) stage(record, 1, `head-${push}`, 1);
    for (const head of [`head-${PUSHES}`, `head-${PUSHES - 5}`]) {
      expect(areAttemptsSpent(look(record), { head, scheduleId: 2 })).toBe(false);
      stage(record, 1, head, 2);
      expect(areAttemptsSpent(look(record), { head, scheduleId: 3 })).toBe(true);
    }
  });

  test('what is in flight is not forgotten before others of its pull request', () => {
    const record = givenRecord();
    for (let push = 1; push <= 10; push += 1) stage(record, 1, `head-${push}`, 1);
    stage(record, 1, 'head-1', 1);
    stage(record, 1, 'head-11', 1);
    const heads = (record.attempts ?? []).map(({ head }) => head);
    expect(heads).toContain('head-1');
    expect(heads).not.toContain('head-2');
  });
});
