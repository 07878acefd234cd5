import { policyOf } from '../../../../engine-container/src/queue/policy/policy.ts';
import type { ConfirmBounce } from '../../../../engine-container/src/queue/snapshot.ts';
import { takeAway } from '../../../bench/queue/cell.ts';
import { type MeasureOptions, measure } from '../../../bench/queue/measure.ts';
import { type PlannedPullRequest, readScenarios, type Scenario } from '../../../bench/queue/workload.ts';

const CI_MINUTES = 30;

function planOf(bad: readonly boolean[]): readonly PlannedPullRequest[] {
  return bad.map((each, index) => ({
    number: index + 1,
    arrivesAtMs: 0,
    bad: each,
    clashes: [],
    conflicts: [],
  }));
}

/** The same repo with, or without, 200 outcomes behind it; `f` is how often its runs have failed by themselves. */
function play(
  bad: readonly boolean[],
  repo: Pick<Scenario, 'p' | 'f'>,
  options: Partial<MeasureOptions> = {},
) {
  const outcome = measure({
    scenario: {
      name: 'blame',
      n: bad.length,
      arrivals: { kind: 'once' },
      ci: { kind: 'fixed', D: CI_MINUTES },
      ...repo,
    },
    fanout: 1,
    seed: 1,
    cold: false,
    planned: planOf(bad),
    ...options,
  });
  expect(outcome).toMatchObject({ unproven: 0, red: 0, lost: 0, wrongBounces: 0 });
  return outcome;
}

describe('failing runs that a bounce needs (D-08)', () => {
  // One to land the first, one of the second on it.
  const PAIR = [false, true];

  test('two on a repository without a history of runs', () => {
    const outcome = play(PAIR, { p: 0.05 }, { cold: true });
    expect(outcome).toMatchObject({ landed: 1, bounced: [2] });
    const known = play(PAIR, { p: 0.05 });
    expect(outcome.runs - known.runs).toBe(1);
  });

  test('one where 200 runs have shown that none fails by itself and bad ones are common enough', () => {
    for (const p of [0.03, 0.05, 0.2]) expect(play(PAIR, { p }).bounced).toEqual([2]);
    const always = play(PAIR, { p: 0.05 }, { confirmBounce: 'always' satisfies ConfirmBounce });
    expect(always.bounced).toEqual([2]);
    expect(always.runs - play(PAIR, { p: 0.05 }).runs).toBe(1);
  });

  test('two where bad ones are as rare as runs that fail by themselves', () => {
    const rare = play(PAIR, { p: 0.005 });
    expect(rare.bounced).toEqual([2]);
    expect(rare.runs - play(PAIR, { p: 0.05 }).runs).toBe(1);
  });

  test('on a gate that fails by itself in a twentieth of its runs no good pull request is bounced by one failure', () => {
    const scenario = readScenarios('test/bench/queue/scenarios.json').find(({ name }) => name === 'flaky');
    if (scenario === undefined) throw new Error('no such scenario');
    for (const seed of [1, 2]) {
      const outcome = measure({ scenario: { ...scenario, p: 0 }, fanout: 4, seed, cold: false });
      expect(outcome).toMatchObject({ wrongBounces: 0, bounced: [], unproven: 0, red: 0, lost: 0 });
      expect(outcome.runs).toBeGreaterThan(0);
    }
  });
});

describe('suspects whose base has moved', () => {
  const scenario = readScenarios('test/bench/queue/scenarios.json').find(({ name }) => name === 'burst-64-1');
  const search = (seed: number, rejoins: boolean) => {
    if (scenario === undefined) throw new Error('no such scenario');
    const policy = rejoins ? policyOf(4) : takeAway(policyOf(4), 'rejoining');
    return measure({ scenario, fanout: 4, seed, cold: false, policy });
  };

  test('go on in the queue, so that what passes lands at once instead of being run once more', () => {
    let saved = 0;
    for (const seed of [1, 2, 3, 4]) {
      const joined = search(seed, true);
      const apart = search(seed, false);
      expect(joined).toMatchObject({ landed: 63, unproven: 0, red: 0, lost: 0, wrongBounces: 0 });
      expect(joined.bounced).toEqual(apart.bounced);
      expect(joined.runs).toBeLessThanOrEqual(apart.runs);
      saved += apart.runs - joined.runs;
    }
    expect(saved).toBeGreaterThanOrEqual(3);
  });

  test('keep as failure probability what the failing run says of each prefix, until a failure among them explains it', () => {
    const chances: number[][] = [];
    if (scenario === undefined) throw new Error('no such scenario');
    measure({
      scenario,
      fanout: 4,
      seed: 1,
      cold: false,
      inspect: (record) => {
        const probabilities = record.entries.flatMap((entry) =>
          entry.failureProbability === null ? [] : [entry.failureProbability.chance],
        );
        if (probabilities.length > 0) chances.push(probabilities);
      },
    });
    const first = chances[0] ?? [];
    expect(first.length).toBeGreaterThan(1);
    // A later one is the likelier cause, once all before it are known to be good; one of them must be the cause.
    expect([...first].sort((a, b) => a - b)).toEqual(first);
    expect(1 - first.reduce((good, chance) => good * (1 - chance), 1)).toBeGreaterThan(0.95);
    expect(chances.at(-1)?.length).toBeLessThan(first.length);
  });
});
