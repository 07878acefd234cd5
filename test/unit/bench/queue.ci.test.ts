import type { NodeRowId } from '#core/domain/ids.ts';
import { measure } from '../../bench/queue/measure.ts';
import { SymbolicForge } from '../../bench/queue/symbolic-forge.ts';
import { planPullRequests, type Scenario } from '../../bench/queue/workload.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';

const GATE_MINUTES = 30;
const GATE_MS = GATE_MINUTES * 60_000;

function givenScenario(changes: Partial<Scenario>): Scenario {
  return {
    name: 'workload',
    n: 12,
    arrivals: { kind: 'once' },
    ci: { kind: 'fixed', D: GATE_MINUTES },
    ...changes,
  };
}

test('a pull request whose partner has landed is bounced rightly and not scheduled again, so the workload ends', () => {
  const scenario = givenScenario({
    n: 40,
    q: 0.2,
    W: 16,
    requeue: 60,
    arrivals: { kind: 'poisson', rate: 4 },
  });
  for (const seed of [1, 2, 3]) {
    const result = measure({ scenario, fanout: 8, seed, cold: false });
    expect(result.bounced.length).toBeGreaterThan(0);
    expect(result.lost).toBe(0);
  }
});

test('one that was bounced though nothing fails with it is scheduled again and lands', () => {
  const scenario = givenScenario({ n: 60, f: 0.3, requeue: 60, arrivals: { kind: 'poisson', rate: 2 } });
  const results = [1, 2, 3, 4, 5, 6].map((seed) => measure({ scenario, fanout: 4, seed, cold: true }));
  expect(results.flatMap((result) => result.bounced)).not.toEqual([]);
  for (const result of results) expect(result.merged).toHaveLength(60);
});

test('repeated bursts: `size` at once, every `every` gate durations', () => {
  const scenario = givenScenario({ n: 10, arrivals: { kind: 'burst', size: 4, every: 2.5 } });
  expect(planPullRequests(scenario, 1).map((each) => each.arrivesAtMs / GATE_MS)).toEqual([
    0, 0, 0, 0, 2.5, 2.5, 2.5, 2.5, 5, 5,
  ]);
  const result = measure({ scenario, fanout: 4, seed: 1, cold: false });
  expect(result.merged).toHaveLength(10);
});

test('a head that is up to date and tested lands without a run, unless the base moves before its turn', () => {
  const alone = (number: number, arrivesAtMs: number, tested: boolean) => ({
    number,
    arrivesAtMs,
    bad: false,
    clashes: [],
    conflicts: [],
    tested,
  });
  const scenario = givenScenario({ u: 0.5 });
  const options = { scenario, fanout: 1, seed: 1, cold: false };
  const free = measure({ ...options, planned: [alone(1, 0, true), alone(2, GATE_MS, true)] });
  expect([free.runs, free.merged]).toEqual([0, [1, 2]]);
  const late = measure({ ...options, planned: [alone(1, 0, false), alone(2, GATE_MS / 2, true)] });
  expect([late.runs, late.merged]).toEqual([2, [1, 2]]);
});

test('with one runner each run in the line moves up by one when one of them is cancelled', () => {
  const forge = new SymbolicForge(givenScenario({ C: 1 }), [], createSeededRandom(1));
  for (let run = 0; run < 5; run += 1)
    forge.perform(0, {
      kind: 'stage_tree',
      nodeRow: `row-${run}` as NodeRowId,
      branch: `branch-${run}`,
      workBranch: 'work',
      groundSha: 'base',
      isAnchored: true,
      groundTree: 'none',
      tree: `tree-${run}`,
      message: '',
    });
  const [, second] = forge.runs;
  forge.perform(1, { kind: 'cancel_gate_run', runKey: String(second?.id), branch: 'branch-1' });
  const ends = forge.runs.filter((run) => run.cancelledAt === null).map((run) => run.endsAt / GATE_MS);
  expect(ends).toEqual([1, 2, 3, 4]);
});
