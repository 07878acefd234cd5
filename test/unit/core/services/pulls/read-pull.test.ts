import type { NodeRow } from '#core/domain/queue/batch.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { readPull } from '#core/services/pulls/read-pull.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import { givenEvent, givenNodeRow } from '../../../../builders/store-rows.ts';
import { givenQueueView } from '../../../../builders/told-queue.ts';

const RECEIPT = {
  baseBefore: 'base',
  head: 'head',
  stagedSha: 'staged',
  tree: 'tree',
  runUrl: null,
  mergeCommit: 'merge',
  landedAt: 7,
};

test('a landing that is written while its story is read is told with its receipt', async () => {
  const repo = givenRepo({ id: '00000000-0000-4000-8000-000000000001' });
  const rows: NodeRow[] = [givenNodeRow({ repoId: repo.id })];
  const landed = { pr: 1, action: 'landed', stagingSha: 's', gateVerdict: 'success', cursor: 0 } as const;
  const events = [givenEvent({ repoId: repo.id, event: 'pr_landed', pr: 1 })];
  const store = {
    getRepo: async () => repo,
    loadReconcileOutcome: async () => null,
    loadPlan: async () => null,
    listRepos: async () => [repo],
    readQueueViews: async () => new Map(),
    // Row and event are written together, right before the events are read.
    listOwnEvents: async () => {
      await Promise.resolve();
      rows[0] = givenNodeRow({ repoId: repo.id, actions: [{ ...landed, receipt: RECEIPT }] });
      return events;
    },
    listOwnBatches: async () => [...rows],
  };
  const story = await readPull(
    { store, clock: { now: () => 9 }, planLimits: PLAN_LIMITS },
    repo.tenantId,
    repo.id,
    '1',
  );
  expect(story).toMatchObject({ now: { code: 'landed' }, receipts: [{ merge_commit: 'merge' }] });
});

test.each([
  ['merge', 'landing'],
  ['gate', 'staged'],
  ['runner', 'staged'],
] as const)(
  'a %s that began after the failed look had ended is told, and the queue as stopped before that',
  async (kind, state) => {
    const repo = givenRepo({ id: '00000000-0000-4000-8000-000000000001' });
    const place = {
      pr: 1,
      title: 'A',
      head: 'h',
      queuedAt: 1,
      state,
      reason: null,
      until: null,
    } as const;
    const block = { kind, until: null, pr: 1, runUrl: null } as const;
    const codeOf = async (since: number) => {
      const store = {
        getRepo: async () => repo,
        loadReconcileOutcome: async () => ({
          ranAt: 5,
          ok: false,
          errorCode: 'protection_conflict' as const,
        }),
        loadPlan: async () => null,
        listRepos: async () => [repo],
        readQueueViews: async () =>
          new Map([[repo.id, givenQueueView({ places: [place], block: { ...block, since } })]]),
        listOwnEvents: async () => [givenEvent({ repoId: repo.id, event: 'pr_queued', pr: 1 })],
        listOwnBatches: async () => [],
      };
      const deps = { store, clock: { now: () => 9 }, planLimits: PLAN_LIMITS };
      return (await readPull(deps, repo.tenantId, repo.id, '1')).now.code;
    };
    expect(await codeOf(6)).toBe(state);
    expect(await codeOf(4)).toBe('queue_stopped');
  },
);
