import type { BatchOutcome } from '#core/domain/queue/batch.ts';
import { resolveNode } from '../../../../../engine-container/src/queue/batches/nodes.ts';
import { beginPass } from '../../../../../engine-container/src/queue/decision-context.ts';
import type { Batch } from '../../../../../engine-container/src/queue/record/record.ts';
import { givenNode, givenReceipt, givenRecord, givenStagedBatch } from '../../../../builders/queue-record.ts';
import { givenSnapshot } from '../../../../builders/snapshot.ts';

/** Of a batch whose first member has landed and whose second is bounced. */
function actionsOf(outcome: BatchOutcome, changes: Partial<Batch> = {}) {
  const given = givenStagedBatch(3, {
    nodes: [givenNode({ to: 3, state: 'done' })],
    landed: 1,
    receipts: [givenReceipt()],
    fates: [{ pr: 2, action: 'bounced', reason: 'gate_failed' }],
    ...changes,
  });
  const pass = beginPass(givenSnapshot(), givenRecord({ batches: [given] }));
  const [batch] = pass.record.batches;
  const [node] = batch?.nodes ?? [];
  if (batch === undefined || node === undefined) throw new Error('a batch with one node');
  resolveNode(pass, batch, node, outcome);
  return node.actions.map(({ pr, action }) => [pr, action]);
}

test.each(['superseded', 'bisected'] as const)(
  'a node that ends as %s lands and bounces no member, and has one action for each (A26, A42)',
  (outcome) => {
    expect(actionsOf(outcome)).toEqual([
      [1, 'requeued'],
      [2, 'requeued'],
      [3, 'requeued'],
    ]);
  },
);

test('a node that speaks for its members has what became of each', () => {
  expect(actionsOf('invalidated')).toEqual([
    [1, 'landed'],
    [2, 'bounced'],
    [3, 'requeued'],
  ]);
});

test('one that was refused before its merge came has landed, and one that another was merged for has not', () => {
  const refused = { pr: 1, action: 'refused' as const, reason: 'draft' };
  expect(actionsOf('invalidated', { receipts: [], fates: [refused] })[0]).toEqual([1, 'landed']);
  const putBack = { pr: 1, action: 'requeued' as const, reason: 'base_advanced' };
  expect(actionsOf('invalidated', { fates: [putBack] })[0]).toEqual([1, 'requeued']);
});
