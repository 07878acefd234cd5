import {
  FORGE_TIMEOUT_MS,
  LONG_RECONCILE_MS,
  RECONCILE_BUDGET_MS,
  WORKERS_MAX,
} from '#core/domain/limits.ts';
import {
  hostOf,
  isSlowFailure,
  mayBegin,
  type OngoingReconcile,
  sectionOf,
  standingOf,
} from '#core/domain/wakes/fairness.ts';
import { CrowdWorld, DEAD_MS, type Kind } from '../../../../support/crowd-world.ts';

const MINUTE_MS = 60_000;
const honest: Kind = { name: 'honest', count: 10, workMs: 1_000, outcome: 'ok', eventEveryMs: 30_000 };
/** Each wakes itself as often as events can. */
const dead: Kind = { ...honest, name: 'dead', workMs: DEAD_MS, outcome: 'timeout', eventEveryMs: 5_000 };

const median = (values: readonly number[] = []): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function crowd(...kinds: readonly Kind[]): Promise<CrowdWorld> {
  const world = new CrowdWorld(WORKERS_MAX);
  for (const kind of kinds) await world.enroll(kind);
  await world.run(MINUTE_MS, 5 * MINUTE_MS);
  return world;
}

/** What `npm run load` shows with a hundred of each. */
describe('strangers share the workers', () => {
  test('33 dead forges leave half of them to the others, who do not wait for it', async () => {
    const world = await crowd(honest, { ...dead, count: 33 });
    expect(world.heldMost.get('dead')).toBeLessThanOrEqual(10);
    expect(world.waitsMs.get('honest')?.length).toBeGreaterThan(honest.count * 3);
    expect(median(world.waitsMs.get('honest'))).toBeLessThan(1_000);
    expect(Math.max(...(world.waitsMs.get('honest') ?? []))).toBeLessThan(5_000);
    // They are looked at again and again all the same.
    expect(world.waitsMs.get('dead')?.length).toBeGreaterThan(WORKERS_MAX);
  });

  test('a new repository does not wait for dead forges, however many stand before it', async () => {
    const world = await crowd({ ...dead, count: 33 });
    const fresh = { ...honest, name: 'fresh', count: 6 };
    await world.enroll(fresh);
    await world.run(0, 2 * MINUTE_MS);
    const waits = world.firstWaitsMs.get('fresh') ?? [];
    expect(waits).toHaveLength(fresh.count);
    expect(Math.max(...waits)).toBeLessThan(MINUTE_MS);
  });

  test('forty forges that are slow and right leave most of them to the others, who do not wait for it', async () => {
    const slow = { ...honest, name: 'slow', count: 40, workMs: 9_000, eventEveryMs: 5_000 };
    const world = await crowd(honest, slow);
    expect(world.heldMost.get('slow')).toBeGreaterThan(1);
    const waits = [...(world.waitsMs.get('honest') ?? [])].sort((one, other) => one - other);
    expect(waits.length).toBeGreaterThan(honest.count * 3);
    expect(waits[Math.floor(waits.length * 0.95)]).toBeLessThan(5_000);
    // They are looked at again and again all the same.
    expect(world.waitsMs.get('slow')?.length).toBeGreaterThan(WORKERS_MAX);
  });

  test('one tenant with many busy repositories has five of the twenty (A122)', async () => {
    const greedy = { ...honest, name: 'greedy', tenant: 'greedy', count: 30, workMs: 9_000 };
    const world = await crowd(honest, { ...greedy, eventEveryMs: 9_000 });
    expect(world.heldMost.get('greedy')).toBe(5);
    expect(median(world.waitsMs.get('honest'))).toBeLessThan(1_000);
  });

  test('one forge of many tenants has ten of the twenty (A122)', async () => {
    // Each look is shorter than what counts as slow: the share of the host alone limits them.
    const busy = { ...honest, name: 'busy', host: 'one.example', count: 40, workMs: 3_500 };
    const world = await crowd(honest, { ...busy, eventEveryMs: 5_000 });
    expect(world.heldMost.get('busy')).toBe(10);
    expect(median(world.waitsMs.get('honest'))).toBeLessThan(1_000);
  });
});

describe('a slow failure', () => {
  test.each([
    ['the forge was waited for in vain', 'timeout', FORGE_TIMEOUT_MS, true],
    ['the forge hung up late', 'forge_unreachable', FORGE_TIMEOUT_MS, true],
    ['one request failed late', 'forge_call_failed', FORGE_TIMEOUT_MS, true],
    ['the forge refused the connection at once', 'forge_unreachable', FORGE_TIMEOUT_MS - 1, false],
    ['a long reconcile that went well', null, RECONCILE_BUDGET_MS, false],
    ['a red base that took long', 'base_red', RECONCILE_BUDGET_MS, false],
  ] as const)('%s: %s after %i ms is one: %s', (_name, code, heldMs, expected) => {
    expect(isSlowFailure(code, heldMs)).toBe(expected);
  });
});

test.each([
  ['looks of nine seconds, again at once', 9_000, 0, 'slow'],
  ['such a look, again at the next tick', 9_000, 5 * MINUTE_MS, 'proven'],
  ['a budget used up, again at the next tick', RECONCILE_BUDGET_MS, 5 * MINUTE_MS, 'slow'],
  ['looks of a second, again at once', undefined, 0, 'proven'],
] as const)('%s: held %s ms, %i ms later it is %s', (_name, heldMs, laterMs, expected) => {
  const last = { ranAt: 1_000_000, ok: true, errorCode: null, ...(heldMs === undefined ? {} : { heldMs }) };
  expect(standingOf(last, 1_000_000 + laterMs)).toBe(expected);
});

test.each([
  ['https://Forge.example/git', 'forge.example'],
  ['https://forge.example.:8443', 'forge.example:8443'],
])('the host of %s is %s', (url, host) => {
  expect(hostOf(url)).toBe(host);
});

/** A deployment of ten thousand repositories on one forge has more workers, and that forge its half of them. */
test('limits grow with the workers of a deployment, in the same shares', () => {
  const runs = (count: number, of: Partial<OngoingReconcile>): OngoingReconcile[] =>
    Array.from({ length: count }, (_, n) => ({
      id: `${n}`,
      repoId: `r${n}`,
      tenantId: `t${n}`,
      host: `h${n}`,
      standing: 'proven' as const,
      ...of,
    }));
  const next = (of: Partial<OngoingReconcile>): OngoingReconcile => ({
    ...(runs(1, of)[0] as OngoingReconcile),
    id: 'next',
    repoId: 'next',
  });
  for (const [of, most] of [
    [{ tenantId: 't' }, 25],
    [{ host: 'h' }, 50],
    [{ standing: 'new' as const }, 50],
    [{ standing: 'slow' as const }, 25],
  ] as const) {
    expect(mayBegin(runs(most - 1, of), next(of), 100)).toBe(true);
    expect(mayBegin(runs(most, of), next(of), 100)).toBe(false);
    expect(mayBegin(runs(most - 1, of), next(of), WORKERS_MAX)).toBe(false);
  }
  expect(mayBegin([], next({ standing: 'slow' }), 2)).toBe(true);
});

test('many workers are told apart into sections by the repository, each with its limits and an even part of all', () => {
  const ids = Array.from(
    { length: 4_000 },
    (_, n) => `0b9c5d1e-77aa-4f1c-9a55-${String(n).padStart(12, '0')}`,
  );
  expect(new Set(ids.map((id) => sectionOf(id, WORKERS_MAX).section))).toEqual(new Set([0]));
  expect(sectionOf('a', 99)).toEqual({ section: 0, workers: 99 });
  const counts = new Map<number, number>();
  for (const id of ids) {
    const { section, workers } = sectionOf(id, 250);
    expect(workers).toBe(50);
    counts.set(section, (counts.get(section) ?? 0) + 1);
  }
  expect([...counts.keys()].sort((a, b) => a - b)).toEqual(
    Array.from({ length: 5 }, (_, section) => section),
  );
  for (const count of counts.values()) expect(Math.abs(count - 4_000 / 5)).toBeLessThan(100);
  expect(sectionOf('repo', 250)).toEqual(sectionOf('repo', 250));
});

test('a reconcile of before a clock was set back says nothing of how often a repository holds a worker', () => {
  const now = 1_800_000_000_000;
  const standingAt = (ranAt: number) =>
    standingOf({ ok: true, errorCode: null, heldMs: LONG_RECONCILE_MS, ranAt }, now);
  expect(standingAt(now)).toBe('slow');
  expect(standingAt(now + MINUTE_MS)).toBe('slow');
  expect(standingAt(now + MINUTE_MS + 1)).toBe('proven');
});
