import fc from 'fast-check';
import {
  badRate,
  chooseBatchSize,
  chooseCuts,
  countGateRun,
  countOutcome,
  flakeRate,
  goodChance,
  likelySize,
  policyOf,
  suspect,
  thriftySize,
} from '../../../../../engine-container/src/queue/policy/policy.ts';
import { NO_HISTORY, type OutcomeRate } from '../../../../../engine-container/src/queue/policy/rate.ts';

/** A rate that the repo's history has made all but certain. */
function learned(bad: number): OutcomeRate {
  return { ...NO_HISTORY, landed: (1 - bad) * 1e6, bounced: bad * 1e6 };
}
const entries = (good: number, length: number): readonly number[] => Array.from({ length }, () => good);

function sizeAt(bad: number, ready: number, fanout: number, slots = 1): number {
  return chooseBatchSize({ good: entries(1 - bad, ready), fanout, policy: policyOf(fanout), slots });
}

/** Runs of one slot until the first bad one of a batch of `size` is found; `first` counts from 0. */
function runsToFind(good: number, size: number, first: number): number {
  let [low, high, runs] = [0, size, 1];
  while (high - low > 1) {
    const { weights } = suspect({ good: entries(good, high - low), failures: [high - low], flake: 0 });
    const cut = chooseCuts(low, weights, 1)[0] ?? high;
    runs += 1;
    if (first < cut) high = cut;
    else low = cut;
  }
  return runs;
}

/** Expected runs per pull request of one slot with an endless line: who stands behind a culprit is fresh again. */
function runsPerPullRequest(bad: number): number {
  const good = 1 - bad;
  const size = thriftySize(entries(good, 100));
  let [runs, resolved] = [good ** size, size * good ** size];
  for (let first = 0; first < size; first += 1) {
    const chance = good ** first * bad;
    runs += chance * runsToFind(good, size, first);
    resolved += chance * (first + 1);
  }
  return runs / resolved;
}

describe('batch size', () => {
  test.each([
    [0.01, 50],
    [0.03, 23],
    [0.05, 14],
    [0.1, 7],
    [0.2, 3],
    [0.4, 1],
  ])('one slot, %d bad: the Golomb size, never above the cap', (bad, size) => {
    expect(sizeAt(bad, 1_000, 1)).toBe(size);
  });

  test.each([
    [4, 16],
    [8, 6],
    [16, 3],
  ])(
    'fan-out %d, 3 %% bad, none waits behind: as many as pass with the chance of the speculation policy',
    (fanout, size) => {
      expect(sizeAt(0.03, size, fanout, 16)).toBe(size);
      expect(sizeAt(0.03, 2 * size, fanout, 16)).toBe(size);
    },
  );

  test('a backlog that the slots do not take lets a batch grow, up to the thrifty size', () => {
    expect(sizeAt(0.03, 40, 8, 4)).toBe(10);
    expect(sizeAt(0.03, 400, 8, 4)).toBe(23);
  });

  test('never more than are ready, never less than one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 16 }),
        fc.integer({ min: 1, max: 16 }),
        (ready, bad, fanout, slots) => {
          const size = sizeAt(bad, ready, fanout, slots);
          expect(size).toBeGreaterThanOrEqual(1);
          expect(size).toBeLessThanOrEqual(Math.min(ready, 50));
        },
      ),
    );
  });

  test('a member that passed on a stale base takes no room', () => {
    expect(likelySize([...entries(0.995, 6), ...entries(0.8, 6)], 0.6)).toBe(8);
  });
});

describe('one slot against the entropy of the queue', () => {
  test.each([0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2])('at most 1.05 times the bound, %d bad', (bad) => {
    const entropy = -bad * Math.log2(bad) - (1 - bad) * Math.log2(1 - bad);
    const factor = runsPerPullRequest(bad) / entropy;
    expect(factor).toBeLessThanOrEqual(1.05);
    expect(factor).toBeGreaterThanOrEqual(1);
  });

  test('64 with one culprit, whole batch: 8 runs, 7 where it is the last', () => {
    for (let first = 0; first < 64; first += 1) {
      const rest = first === 63 ? 0 : 1;
      // One known culprit may be anywhere alike: what bad ones are rare enough come to.
      expect(runsToFind(1 - 1e-9, 64, first) + rest).toBe(first === 63 ? 7 : 8);
    }
  });
});

describe('cuts', () => {
  test('one cut is the half when all are alike (D-97)', () => {
    expect(chooseCuts(0, entries(1, 64), 1)).toEqual([32]);
  });

  test('the cut follows the suspicion', () => {
    expect(chooseCuts(10, [0.05, 0.05, 0.05, 0.85], 1)).toEqual([13]);
    expect(chooseCuts(0, [0.001, 0.001, 0.001, 0.5, 0.497], 1)).toEqual([4]);
  });

  test('several cuts are the quantiles', () => {
    expect(chooseCuts(0, entries(1, 10), 4)).toEqual([2, 4, 6, 8]);
  });

  test('inside the interval, in order, no two alike, as many as there is room for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        fc.array(fc.double({ min: 1e-6, max: 1, noNaN: true }), { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1, max: 16 }),
        (low, weights, slots) => {
          const cuts = chooseCuts(low, weights, slots);
          expect(cuts).toHaveLength(Math.min(slots, weights.length - 1));
          expect(new Set(cuts).size).toBe(cuts.length);
          expect([...cuts].sort((a, b) => a - b)).toEqual(cuts);
          for (const cut of cuts) {
            if (cut <= low || cut >= low + weights.length) throw new Error(`${cut} is outside`);
          }
        },
      ),
    );
  });
});

describe('suspicion', () => {
  test('without flakes one of them is the cause, the first most likely', () => {
    const { weights, none } = suspect({ good: entries(0.9, 3), failures: [3], flake: 0 });
    expect(none).toBe(0);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1);
    expect(weights[0]).toBeCloseTo(0.1 / 0.271);
    expect(weights[2]).toBeCloseTo(0.081 / 0.271);
  });

  test('three good ones out of a hundred, one flake out of twenty: one failure is more likely a flake, three are not', () => {
    const of = (failures: number) =>
      suspect({ good: [0.97], failures: entries(1, failures), flake: 0.05 }).none;
    expect(of(1)).toBeCloseTo((0.97 * 0.05) / (0.97 * 0.05 + 0.03));
    expect(of(1)).toBeGreaterThan(0.5);
    expect(1 - of(2)).toBeLessThan(0.95);
    expect(1 - of(3)).toBeGreaterThan(0.95);
  });

  test('a failing prefix clears no member of it, and makes those behind it as suspect as a flake', () => {
    const { weights } = suspect({ good: entries(0.9, 4), failures: [2, 4], flake: 0.01 });
    expect((weights[0] ?? 0) + (weights[1] ?? 0)).toBeGreaterThan(0.98);
  });
});

describe('learning from the runs of a repo', () => {
  test('starts at 5 % bad and follows what happens', () => {
    expect(badRate(NO_HISTORY)).toBeCloseTo(0.05);
    let rate = NO_HISTORY;
    for (let count = 0; count < 1_000; count += 1) rate = countOutcome(rate, 'landed');
    expect(badRate(rate)).toBeLessThan(0.005);
    expect(rate.landed).toBeLessThanOrEqual(300);
  });

  test('a bad day is noticed within some dozen outcomes', () => {
    let rate = learned(0.02);
    for (let count = 0; count < 60; count += 1)
      rate = countOutcome(rate, count % 4 === 0 ? 'bounced' : 'landed');
    expect(badRate(rate)).toBeGreaterThan(0.05);
  });

  test('flakes are counted over runs of good trees, and never believed above 30 %', () => {
    expect(flakeRate(NO_HISTORY)).toBeCloseTo(0.005);
    let rate = NO_HISTORY;
    for (let count = 0; count < 95; count += 1) rate = countGateRun(rate, 'steady');
    rate = countGateRun(rate, 'flaked', 5);
    expect(flakeRate(rate)).toBeCloseTo(5.3 / 160);
    expect(flakeRate(countGateRun(NO_HISTORY, 'flaked', 10_000))).toBe(0.3);
  });

  test('one that has passed before is as good as good, whatever the day', () => {
    expect(goodChance(learned(0.2), { passedOnStaleBase: true, failureProbability: null })).toBe(0.995);
    expect(goodChance(learned(0.2), { passedOnStaleBase: false, failureProbability: null })).toBeCloseTo(0.8);
  });

  test('how often one that has passed before fails with others is learned', () => {
    const passed = { passedOnStaleBase: true, failureProbability: null };
    let rate = learned(0.3);
    for (let count = 0; count < 100; count += 1)
      rate = countOutcome(rate, count % 10 === 0 ? 'bounced' : 'landed', true);
    expect(goodChance(rate, passed)).toBeCloseTo((99.5 + 90) / 200);
    for (let count = 0; count < 1_000; count += 1) rate = countOutcome(rate, 'landed', true);
    expect(goodChance(rate, passed)).toBeGreaterThan(0.98);
    const { landed = 0, bounced = 0 } = rate.passedBefore ?? {};
    expect(landed + bounced).toBeCloseTo(300);
    expect(countOutcome(NO_HISTORY, 'landed').passedBefore).toBeUndefined();
  });

  test('one that has passed before is never held to be worse than a stranger', () => {
    let rate = NO_HISTORY;
    for (let count = 0; count < 200; count += 1) rate = countOutcome(rate, 'bounced', true);
    rate = { ...rate, landed: 1e6 };
    expect(goodChance(rate, { passedOnStaleBase: true, failureProbability: null })).toBeCloseTo(1, 3);
  });

  test('one that stood in a failed batch is as likely to be bad as that failure made it', () => {
    expect(goodChance(learned(0.02), { passedOnStaleBase: false, failureProbability: 0.3 })).toBeCloseTo(0.7);
  });
});

describe('the speculation policy', () => {
  test('is deeper and surer from preset to preset, from thrift at 1 to speed at 16', () => {
    expect(policyOf(1)).toMatchObject({ depth: 1, passChance: 0.5, cuts: 1, rerunChance: 0.4 });
    expect(policyOf(4)).toMatchObject({ depth: 1, passChance: 0.6, cuts: 1, rerunChance: 0.5 });
    expect(policyOf(8)).toMatchObject({ depth: 3, passChance: 0.82, aheadChance: 0.5, cuts: 4 });
    expect(policyOf(8)).toMatchObject({ rerunChance: 0.55, promptPlaces: 1 });
    expect(policyOf(16)).toMatchObject({ depth: 16, passChance: 0.9, aheadChance: 0.5, cuts: 6 });
    expect(policyOf(16)).toMatchObject({ rerunChance: 0.5, promptPlaces: 8 });
  });

  test('turns one way: more slots never mean a shallower pipeline, surer batches never a smaller chance', () => {
    for (let fanout = 2; fanout <= 16; fanout += 1) {
      const [before, after] = [policyOf(fanout - 1), policyOf(fanout)];
      expect(after.depth).toBeGreaterThanOrEqual(before.depth);
      expect(after.passChance).toBeGreaterThanOrEqual(before.passChance);
      expect(after.cuts).toBeGreaterThanOrEqual(before.cuts);
      expect(after.promptPlaces).toBeGreaterThanOrEqual(before.promptPlaces);
    }
  });
});
