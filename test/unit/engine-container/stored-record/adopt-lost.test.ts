import type { NodeRowId } from '#core/domain/ids.ts';
import type { Obligations } from '#core/domain/queue/obligations.ts';
import { StoreError } from '#core/ports/store.ts';
import { adoptLost } from '../../../../engine-container/src/stored-record/adopt-lost.ts';
import { givenRepo } from '../../../builders/managed-repo.ts';
import { givenNodeRow } from '../../../builders/store-rows.ts';
import { givenObligations } from '../../../builders/told-queue.ts';

const LANDING = { context: 'mq', prs: [], heads: [{ pr: 4, head: 'head-4' }] };

function storeWith(readObligations: () => Promise<Obligations | null>) {
  const none = async () => [];
  return { listOwnBatches: none, listOwnEvents: none, listLeftHeads: none, readObligations };
}

test('a landing of a lost record is known by what the record told last, also where no row is open', async () => {
  const store = storeWith(async () => givenObligations({ left: LANDING }));
  const { record } = await adoptLost(store, givenRepo(), 9);
  expect(record).toMatchObject({
    recall: [4],
    recallHeads: [{ pr: 4, head: 'head-4', mayStand: true }],
    recallContexts: ['mq'],
  });
});

test('an open row is closed though hundreds of newer ones have ended since, and whom it names is looked at again', async () => {
  const open = givenNodeRow({
    id: 'open' as NodeRowId,
    prs: [7, 8],
    outcome: 'running',
    phase: 'waiting_gate',
  });
  const ended = givenNodeRow({ outcome: 'success', phase: null, resolvedAt: 8 });
  const stored = [...Array.from({ length: 1_500 }, () => ended), open];
  const store = {
    ...storeWith(async () => null),
    listOwnBatches: async (_repo: object, limit: number) => stored.slice(0, limit),
  };
  const { rows, record } = await adoptLost(store, givenRepo(), 9);
  expect(record.recall).toEqual([7, 8]);
  expect(rows.map(({ id, outcome, terminalReason }) => [id, outcome, terminalReason])).toEqual([
    ['open', 'operational_error', 'record_lost'],
  ]);
});

test('a repository that was never looked at has nothing to take back, nor one whose last words are unreadable', async () => {
  const reads = [async () => null, () => Promise.reject(new StoreError('unreadable', 'readObligations'))];
  for (const read of reads)
    expect((await adoptLost(storeWith(read), givenRepo(), 9)).record).toEqual({ garbage: [] });
});

test('a store that does not answer is asked again', async () => {
  const store = storeWith(() => Promise.reject(new StoreError('unavailable', 'readObligations')));
  await expect(adoptLost(store, givenRepo(), 9)).rejects.toThrow('unavailable');
});
