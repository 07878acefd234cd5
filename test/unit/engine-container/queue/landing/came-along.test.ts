import { beginPass } from '../../../../../engine-container/src/queue/decision-context.ts';
import { cameAlong } from '../../../../../engine-container/src/queue/landing/came-along.ts';
import { givenReceipt, givenRecord, givenStagedBatch, headOf } from '../../../../builders/queue-record.ts';
import { givenSnapshot, NOW } from '../../../../builders/snapshot.ts';

/** The landing of #1, whose head #2 has as well. */
function judge(pull: { readonly mergeCommitSha: string | null }, isTraced: boolean) {
  const landed = [{ pr: 1, head: headOf(1), baseBefore: 'base-older', at: NOW, merge: 'merge-1' }];
  const receipt = givenReceipt({ head: headOf(1), mergeCommit: 'merge-1' });
  const batch = givenStagedBatch(1, { untraced: isTraced ? [] : [{ index: 0, receipt }] });
  const record = givenRecord({ landed, batches: [batch] });
  return cameAlong(beginPass(givenSnapshot(), record), { headSha: headOf(1), ...pull });
}

describe('one that is merged and has the head of a landing', () => {
  test('is not told before the landing is traced where it names the merge of that landing: it may be its own', () => {
    expect(judge({ mergeCommitSha: 'merge-1' }, false)).toBe('unknown');
    expect(judge({ mergeCommitSha: 'merge-1' }, true)).toBe('yes');
  });

  test.each(['merge-2', null])('came along where the merge that it names is %s', (mergeCommitSha) => {
    expect(judge({ mergeCommitSha }, false)).toBe('yes');
  });
});
