import { ADVICE_MS_MAX, ADVICE_PULLS_MAX, ADVICE_PULLS_MIN } from '#core/domain/api-limits.ts';
import { givenEvent, givenNodeRow } from '../../builders/store-rows.ts';
import { ApiWorld, TENANT_A, TOKEN_A } from '../../support/api-world.ts';

const MINUTE_MS = 60_000;

/** `pulls` that came one a minute two hours ago and landed; each with a gate run of ten minutes. */
async function givenArrivals(pulls: number, runs = pulls) {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A);
  const { store } = world;
  const begin = world.clock.now() - 120 * MINUTE_MS;
  const own = { tenantId: TENANT_A, repoId: repo.id } as const;
  const events = Array.from({ length: pulls }, (_, index) => {
    const at = begin + index * MINUTE_MS;
    const each = { ...own, pr: index + 1 };
    return [
      givenEvent({ ...each, event: 'pr_queued', at, scheduledAt: at }),
      givenEvent({ ...each, event: 'pr_landed', at: at + 30 * MINUTE_MS }),
      // Of another queue of the same account: no part of it.
      givenEvent({ ...each, event: 'pr_queued', at: at + 1, pr: 900 + index, repoId: 'another' }),
      givenEvent({ ...each, event: 'pr_landed', at: at + 2, pr: 900 + index, repoId: 'another' }),
    ];
  }).flat();
  const rows = Array.from({ length: runs }, (_, index) => {
    const stagedAt = begin + index * MINUTE_MS;
    const staged = { stagedAt, createdAt: stagedAt, judgedAt: stagedAt + 10 * MINUTE_MS };
    const ended = { outcome: 'success', phase: null, resolvedAt: staged.judgedAt } as const;
    return givenNodeRow({ ...own, ...staged, ...ended, id: `row-${index}`, gateVerdict: 'success' });
  });
  store.readEventsSince = async () => events;
  store.readNodesSince = async () => rows;
  const read = async () =>
    (await world.as(TOKEN_A)('GET', `/api/v1/user/repos/${repo.id}/statistics/fanout`)).json;
  return { world, repo, read, begin };
}

test('the arrivals of the last weeks are replayed with each fan-out, and the answer says what it rests on', async () => {
  const { read, begin } = await givenArrivals(60);
  const advice = await read();
  expect(advice).toMatchObject({
    current: 2,
    reason: null,
    rests_on: 60,
    needed: ADVICE_PULLS_MIN,
    since: new Date(begin).toISOString(),
  });
  const { replays } = advice;
  expect(replays.map(({ fanout }: { fanout: number }) => fanout)).toEqual([1, 2, 4, 8, 16]);
  for (const each of replays) expect(each.landed).toBe(60);
  expect(replays[4].wait.mean_seconds).toBeLessThan(replays[0].wait.mean_seconds);
  // No wait is shorter than its gate run.
  for (const { wait } of replays) expect(wait.p50_seconds).toBeGreaterThanOrEqual(600);
  expect([1, 2, 4, 8, 16]).toContain(advice.advised);
  expect(await read()).toEqual(advice);
});

test('a fan-out that is set and not among them is compared too', async () => {
  const { read, world, repo } = await givenArrivals(40);
  await world.as(TOKEN_A)('PATCH', `/api/v1/user/repos/${repo.id}`, { bisect_fanout: 3 });
  const { current, replays } = await read();
  expect([current, replays.map(({ fanout }: { fanout: number }) => fanout)]).toEqual([
    3,
    [1, 2, 3, 4, 8, 16],
  ]);
});

test('of more pull requests the newest are replayed', async () => {
  const { read } = await givenArrivals(ADVICE_PULLS_MAX + 20);
  expect((await read()).rests_on).toBe(ADVICE_PULLS_MAX);
});

describe('there is no advice, and words for it, of', () => {
  const none = { advised: null, replays: [] };
  test('too few pull requests', async () => {
    const { read } = await givenArrivals(ADVICE_PULLS_MIN - 1);
    const restsOn = ADVICE_PULLS_MIN - 1;
    expect(await read()).toMatchObject({ ...none, reason: 'too_few_pull_requests', rests_on: restsOn });
  });

  test('gate runs whose time no row keeps', async () => {
    expect(await (await givenArrivals(60, 5)).read()).toMatchObject({
      ...none,
      reason: 'gate_times_unknown',
    });
  });

  test('more rows than are read', async () => {
    const { read, world } = await givenArrivals(60);
    world.store.readEventsSince = async () => null;
    expect(await read()).toMatchObject({ ...none, reason: 'too_many_rows', rests_on: 0, since: null });
  });

  test('a replay that takes too long', async () => {
    const { read, world } = await givenArrivals(60);
    const now = world.clock.now.bind(world.clock);
    let asked = 0;
    world.clock.now = () => {
      asked += 1;
      return now() + (asked > 300 ? ADVICE_MS_MAX + 1 : 0);
    };
    expect(await read()).toMatchObject({ ...none, reason: 'out_of_time', rests_on: 60 });
  });
});

test('what else waits in the process goes on meanwhile', async () => {
  const { read } = await givenArrivals(60);
  let turns = 0;
  let isOver = false;
  const beside = (): void => {
    turns += 1;
    if (!isOver) setImmediate(beside);
  };
  setImmediate(beside);
  const before = turns;
  await read();
  isOver = true;
  expect(turns - before).toBeGreaterThan(20);
});
