import { type ActivityEvent, closeRow } from '#core/domain/queue/batch.ts';
import { changedRows, stagedHeads, toNodeRow } from '../../../../../engine-container/src/queue/told/rows.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import { givenEvidence, givenRecord, givenStagedBatch, stagedAt } from '../../../../builders/queue-record.ts';
import { givenEvent, givenNodeRow } from '../../../../builders/store-rows.ts';

const row = givenNodeRow({ repoId: 'repo-1', prs: [1, 2], createdAt: 100 });
const staged = (changes: Partial<ActivityEvent>): ActivityEvent =>
  givenEvent({ repoId: 'repo-1', event: 'pr_staged', at: 100, pr: 1, head: 'a', ...changes });

test.each<[string, Partial<ActivityEvent>, boolean]>([
  ['staged for an open row', {}, true],
  ['staged later, on another head', { at: 500, head: 'b' }, true],
  ['staged for an earlier batch', { at: 99 }, false],
  ['only queued', { event: 'pr_queued' }, false],
  ['of a pull request that was in none of them', { pr: 3 }, false],
  ['of another repo', { repoId: 'repo-2' }, false],
])('a head %s: %#', (_name, changes, isMeant) => {
  const event = staged(changes);
  expect(stagedHeads([row], [event])).toEqual(isMeant ? [{ pr: event.pr, head: event.head }] : []);
});

test('one that was staged twice is named once', () => {
  expect(stagedHeads([row], [staged({}), staged({ at: 200 }), staged({ pr: 2, head: 'c' })])).toEqual([
    { pr: 1, head: 'a' },
    { pr: 2, head: 'c' },
  ]);
});

const RECEIPT = {
  baseBefore: 'base',
  head: 'head-1',
  stagedSha: 's1',
  tree: 't1',
  runUrl: null,
  mergeCommit: 'merge-1',
  landedAt: 7,
};

test('the row of a batch that still lands others has the receipts of those that have landed', () => {
  const batch = givenStagedBatch(3, { landed: 1, receipts: [RECEIPT] });
  const [node] = batch.nodes;
  if (node === undefined) throw new Error('no node');
  const landed = { pr: 1, action: 'landed', cursor: 0, receipt: RECEIPT };
  expect(toNodeRow(givenRepo(), batch, node).actions).toEqual([expect.objectContaining(landed)]);
  const below = { ...node, from: 1 };
  expect(toNodeRow(givenRepo(), batch, below).actions).toEqual([]);
});

test.each([
  ['success', 'waiting_merge'],
  ['failure', 'waiting_gate'],
] as const)(
  'after a %s of the gate run that speaks for it the row of a batch without one is %s',
  (verdict, phase) => {
    const nodes = givenStagedBatch(1).nodes.map((node) => ({
      ...node,
      state: 'wanted' as const,
      stagedAt: 3,
    }));
    const below = givenStagedBatch(1, { sharesRun: true, nodes });
    const above = givenStagedBatch(1, {
      batchId: 'above',
      stagedOn: below.batchId,
      chain: [stagedAt(2)],
      nodes: [],
    });
    const evidence = [givenEvidence(2, verdict)];
    const record = givenRecord({ batches: [below, above], evidence });
    const rows = changedRows(givenRepo(), givenRecord(), record, []);
    expect(rows.map((each) => each.phase)).toEqual([phase]);
  },
);

test('a row that is closed because its record was lost keeps what has landed of it', () => {
  const landed = { pr: 1, action: 'landed', stagingSha: 's1', gateVerdict: 'success', cursor: 0 } as const;
  const closed = closeRow(givenNodeRow({ actions: [{ ...landed, receipt: RECEIPT }] }), 9, 'record_lost');
  expect(closed.actions).toEqual([
    { ...landed, receipt: RECEIPT },
    expect.objectContaining({ pr: 2, action: 'requeued', reason: 'record_lost' }),
  ]);
});
