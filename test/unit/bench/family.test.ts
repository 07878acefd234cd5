import { bitsPerRun, runsBound } from '../../bench/queue/family/bounds.ts';
import { drawWorkload, isForTuning } from '../../bench/queue/family/draw.ts';
import { playModel } from '../../bench/queue/family/model.ts';
import { BatchAndBisect } from '../../bench/queue/family/peers/batch-and-bisect.ts';
import { PEERS } from '../../bench/queue/family/peers/index.ts';
import { OneAtATime } from '../../bench/queue/family/peers/one-at-a-time.ts';
import { OptimisticPipeline } from '../../bench/queue/family/peers/optimistic-pipeline.ts';
import { SpeculativeBisect } from '../../bench/queue/family/peers/speculative-bisect.ts';
import { Train } from '../../bench/queue/family/peers/train.ts';
import { Reference } from '../../bench/queue/family/reference/reference.ts';
import { REFERENCES } from '../../bench/queue/family/reference/settings.ts';
import { nestedCut } from '../../bench/queue/family/reference/suspects.ts';
import { countDominated } from '../../bench/queue/family/table.ts';
import { type ModelQueue, ModelWorld } from '../../bench/queue/family/world.ts';
import { planPullRequests, type Scenario } from '../../bench/queue/workload.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';

const GATE: Scenario['ci'] = { kind: 'fixed', D: 30 };
const AT_ONCE: Scenario = { name: 'at once', n: 20, arrivals: { kind: 'once' }, ci: GATE };

/** `n` at once of which the ones with these numbers are bad. */
function play(queue: ModelQueue, n: number, bad: readonly number[], changes: Partial<Scenario> = {}) {
  const scenario = { ...AT_ONCE, n, ...changes };
  const planned = planPullRequests(scenario, 1).map((pr) => ({ ...pr, bad: bad.includes(pr.number) }));
  const { runs, landed, landTimes, unproven, red } = playModel(scenario, planned, 1, queue);
  const gates = landTimes.map((time) => Math.round(time));
  return { runs, landed, last: Math.max(...gates), first: Math.min(...gates), unsafe: unproven + red };
}

test('one at a time: a run for each, and the last lands after as many gates', () => {
  expect(play(new OneAtATime(), 12, [3])).toEqual({ runs: 12, landed: 11, first: 1, last: 12, unsafe: 0 });
});

test('batch and bisect: one bad of 64 takes the batch and both halves of six more levels', () => {
  expect(play(new BatchAndBisect(), 64, [40])).toMatchObject({ runs: 13, landed: 63, first: 2, unsafe: 0 });
});

test.each([
  ['optimistic pipeline', () => new OptimisticPipeline()],
  ['train', () => new Train(20)],
])('%s: a failure at place 8 of 20 builds the twelve behind it again', (_name, create) => {
  expect(play(create(), 20, [8])).toEqual({ runs: 32, landed: 19, first: 1, last: 2, unsafe: 0 });
});

test('a train of five lands five in each gate', () => {
  expect(play(new Train(5), 20, [])).toEqual({ runs: 20, landed: 20, first: 1, last: 4, unsafe: 0 });
});

test('speculative bisect: both halves of each level, and the survivors once more', () => {
  expect(play(new SpeculativeBisect(4), 64, [40])).toEqual({
    runs: 14,
    landed: 63,
    first: 8,
    last: 8,
    unsafe: 0,
  });
});

test('speculative bisect: of two that fail together only, the later one is bounced', () => {
  const scenario: Scenario = { ...AT_ONCE, n: 8, W: 16 };
  const planned = planPullRequests(scenario, 1).map((pr) => ({ ...pr, clashes: pr.number === 7 ? [2] : [] }));
  const { landed, red, wrongBounces } = playModel(scenario, planned, 1, new SpeculativeBisect(4));
  expect({ landed, red, wrongBounces }).toEqual({ landed: 7, red: 0, wrongBounces: 0 });
});

test('a reference lands all that is good in one run where hardly any is bad, and finds the one that is', () => {
  const reference = (slots: number) => {
    const settings = REFERENCES[slots];
    if (settings === undefined) throw new Error('no such reference');
    return new Reference(settings, { ...AT_ONCE, p: 0.001 });
  };
  expect(play(reference(1), 64, [])).toEqual({ runs: 1, landed: 64, first: 1, last: 1, unsafe: 0 });
  for (const slots of [1, 4, 8, 16])
    expect(play(reference(slots), 64, [40])).toMatchObject({ landed: 63, unsafe: 0 });
});

test('the nested cut of a group with one bad one in it is its middle, and earlier where more are bad', () => {
  expect(nestedCut(64, 0.9999)).toBe(32);
  expect(nestedCut(2, 0.5)).toBe(1);
  expect(nestedCut(16, 0.8)).toBeLessThan(8);
});

test('bounds: what there is to learn, by what a run can tell', () => {
  expect(runsBound({ ...AT_ONCE, p: 0.03 })).toBeCloseTo(0.1944 / 0.97, 3);
  expect(bitsPerRun(0.05)).toBeCloseTo(0.857, 3);
});

test('with three runners six runs take two gates, and a run that was cancelled in the line took none', () => {
  const scenario = { ...AT_ONCE, n: 6, C: 3 };
  expect(play(new Train(20), 6, [], { C: 3 })).toMatchObject({ runs: 6, first: 1, last: 2 });
  const world = new ModelWorld(scenario, planPullRequests(scenario, 1), createSeededRandom(1));
  const runs = planPullRequests(scenario, 1).map((pr) => world.start([pr]));
  for (const run of runs) world.cancel(run);
  expect(world.begun).toBe(6);
  expect(runs.map((run) => run.state)).toEqual(Array.from(runs, () => 'cancelled'));
});

test('no model lands what no run has proven, in any weather', () => {
  const scenario: Scenario = {
    name: 'weather',
    n: 40,
    arrivals: { kind: 'poisson', rate: 6 },
    p: 0.15,
    f: 0.05,
    requeue: 30,
    q: 0.02,
    c: 0.02,
    W: 16,
    C: 6,
    ci: { kind: 'lognormal', D: 15, sigma: 0.6, failing: 0.5 },
  };
  const references = Object.values(REFERENCES).map((settings) => () => new Reference(settings, scenario));
  for (const create of [...PEERS, ...references]) {
    const planned = planPullRequests(scenario, 7);
    const { unproven, red, landed } = playModel(scenario, planned, 7, create());
    expect({ unproven, red }).toEqual({ unproven: 0, red: 0 });
    expect(landed).toBeGreaterThan(20);
  }
});

test('a workload is drawn from its seed, within the stated ranges, and even seeds are for tuning', () => {
  expect(drawWorkload(12)).toEqual(drawWorkload(12));
  expect([1, 2, 3, 4].map(isForTuning)).toEqual([false, true, false, true]);
  const drawn = Array.from({ length: 200 }, (_, seed) => drawWorkload(seed));
  for (const { p, f, ci, C, wake } of drawn) {
    expect(p).toBeGreaterThanOrEqual(0.005);
    expect(p).toBeLessThanOrEqual(0.25);
    expect(f ?? 0).toBeLessThanOrEqual(0.06);
    expect(ci.sigma ?? 0).toBeLessThanOrEqual(0.8);
    expect(C ?? 3).toBeGreaterThanOrEqual(3);
    expect(wake?.kind === 'tick' ? wake.min : 1).toBeLessThanOrEqual(5);
  }
  expect(new Set(drawn.map(({ arrivals }) => arrivals.kind))).toEqual(new Set(['poisson', 'burst', 'day']));
});

test('a cell counts where one fan-out alone is at least as good in all three figures', () => {
  const line = { runs: 1, p50: 1, p95: 1, wrong: 0, good: 1, unproven: 0, red: 0 };
  const comparison = (ours: readonly (readonly [number, typeof line])[]) => ({
    scenario: AT_ONCE,
    bound: 1,
    references: new Map(),
    peers: new Map([['peer', line]]),
    ours: new Map(ours),
  });
  const split = [
    [4, { ...line, p50: 2 }],
    [8, { ...line, runs: 2 }],
  ] as const;
  expect(countDominated([comparison(split), comparison([[8, line]])], 'peer')).toEqual([1, 2]);
});
