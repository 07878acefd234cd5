import { verifiedTipTree } from '../../../../engine-container/src/reading/landing-view.ts';
import { BASE, givenRecord, givenStagedBatch } from '../../../builders/queue-record.ts';

const batches = [givenStagedBatch(2)];

test('a tip that the queue verified has the tree that was planned: no call reads it', () => {
  expect(verifiedTipTree(givenRecord({ batches, tip: BASE.sha }), BASE.sha)).toBe(BASE.tree);
});

test('after a halt the tree of the tip is read: it may be another than the planned one', () => {
  const halted = { reason: 'tree_mismatch' as const, pr: 3, mergeCommit: BASE.sha, at: 500 };
  expect(verifiedTipTree(givenRecord({ batches, tip: BASE.sha, halted }), BASE.sha)).toBeNull();
});
