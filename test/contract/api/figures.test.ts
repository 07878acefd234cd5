import { FIGURE_ROWS_MAX, WEEK_MS } from '#core/domain/api-limits.ts';
import { weekOf } from '#core/domain/queue/queue-figures.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import { ApiWorld, TENANT_A, TOKEN_A } from '../../support/api-world.ts';

async function givenWeeks() {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A);
  const read = async () => (await world.as(TOKEN_A)('GET', `/api/v1/user/repos/${repo.id}/statistics`)).json;
  return { world, repo, read };
}

test('the figures are of the last four weeks of that branch alone; what no row tells is null', async () => {
  const { world, repo, read } = await givenWeeks();
  const now = world.clock.now();
  const own = { tenantId: TENANT_A, repoId: repo.id, createdAt: now, resolvedAt: now, phase: null } as const;
  const row = givenNodeRow({ ...own, id: 'own', outcome: 'success', gateVerdict: 'success', gateRuns: 3 });
  const asked: unknown[] = [];
  world.store.readNodesSince = async (...given) => {
    asked.push(given);
    return [row, { ...row, id: 'other', repoId: 'another' }];
  };
  const { weeks, flaky_windows } = await read();
  const begin = weekOf(now);
  expect(weeks.map(({ week }: { week: string }) => Date.parse(week))).toEqual(
    [3, 2, 1, 0].map((ago) => begin - ago * WEEK_MS),
  );
  expect(weeks[3]).toMatchObject({ runs: 3, gate: { p50_seconds: null, p95_seconds: null } });
  expect([weeks[2].runs, flaky_windows]).toEqual([0, []]);
  expect(asked).toEqual([[TENANT_A, begin - 4 * WEEK_MS, FIGURE_ROWS_MAX]]);
});

test('of more rows than are read fewer weeks are told, and never a wrong number', async () => {
  const { world, read } = await givenWeeks();
  const counts: number[] = [];
  const { store } = world;
  const now = world.clock.now();
  const readEventsSince = store.readEventsSince.bind(store);
  store.readEventsSince = async (tenantId, since, rowsMax) => {
    counts.push(rowsMax);
    return since < now - 2 * WEEK_MS ? null : readEventsSince(tenantId, since, rowsMax);
  };
  expect((await read()).weeks).toHaveLength(1);
  expect(counts).toEqual(Array(4).fill(FIGURE_ROWS_MAX));
});
