import { known } from '#core/domain/result.ts';
import type { QueueEntry } from '../../../../../engine-container/src/queue/record/queue-entry.ts';
import { describeRefusal } from '../../../../../engine-container/src/queue/words/phrases.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import { givenEntry, givenRecord } from '../../../../builders/queue-record.ts';
import { givenRule, givenSnapshot, givenStatus, givenView, NOW } from '../../../../builders/snapshot.ts';
import { tellDecision } from '../../../../support/told-decision.ts';

/** A success on the head of #1 appears a minute after it was posted and given up. */
function whenSuccessIsLate(entry: Partial<QueueEntry>, requiredApprovals = 0): readonly string[] {
  const look = givenSnapshot({
    repo: givenRepo({ batchLingerSeconds: 3_600 }),
    protection: known(givenRule({ requiredApprovals })),
    pulls: known([givenView(1)]),
    unheard: new Map([['head-1', known([givenStatus()])]]),
  });
  const post = { pr: 1, sha: 'head-1', context: 'mq', posts: 1, since: NOW - 60_000, lookAt: NOW };
  const entries = [givenEntry(1, { readyAt: NOW, ...entry })];
  return tellDecision(look, givenRecord({ entries, unheard: [post] })).actions;
}

describe('a success that is carried out late is written over', () => {
  test('by the words about the place of a pull request in line', () => {
    const said = { head: 'head-1', state: 'pending', description: 'queued: waits for its batch' } as const;
    expect(whenSuccessIsLate({ said })).toEqual([
      'pending on head-1: queued: waits for its batch; place 1 when this was written',
    ]);
  });

  test('by those of a refusal', () => {
    const entry = { readyAt: null, refusedFor: 'approvals_missing' } as const;
    expect(whenSuccessIsLate(entry, 1)).toEqual([`error on head-1: ${describeRefusal('approvals_missing')}`]);
  });
});
