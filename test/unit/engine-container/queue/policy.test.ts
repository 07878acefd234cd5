import fc from 'fast-check';
import {
  badRate,
  chooseBatchSize,
  chooseCuts,
  countOutcome,
} from '../../../../engine-container/src/queue/policy.ts';

/** A rate that the repo's history has made all but certain. */
function learned(bad: number): { readonly landed: number; readonly bounced: number } {
  return { landed: (1 - bad) * 1e6, bounced: bad * 1e6 };
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
    expect(chooseBatchSize({ ready: 1_000, rate: learned(bad), fanout: 1 })).toBe(size);
  });

  test('never more than are ready, never less than one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 16 }),
        (ready, bad, fanout) => {
          const size = chooseBatchSize({ ready, rate: learned(bad), fanout });
          expect(size).toBeGreaterThanOrEqual(1);
          expect(size).toBeLessThanOrEqual(Math.min(ready, 50));
        },
      ),
    );
  });

  test('starts at 5 % and follows what happens', () => {
    expect(badRate({ landed: 0, bounced: 0 })).toBeCloseTo(0.05);
    let rate = { landed: 0, bounced: 0 };
    for (let count = 0; count < 1_000; count += 1) rate = countOutcome(rate, 'landed');
    expect(badRate(rate)).toBeLessThan(0.005);
    expect(rate.landed).toBeLessThanOrEqual(300);
  });
});

describe('cuts', () => {
  test('one cut is the half (D-97)', () => {
    expect(chooseCuts(0, 64, 1)).toEqual([32]);
  });

  test('inside the interval, in order, no two alike, as many as there is room for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 2, max: 64 }),
        fc.integer({ min: 1, max: 16 }),
        (low, span, slots) => {
          const cuts = chooseCuts(low, low + span, slots);
          expect(cuts).toHaveLength(Math.min(slots, span - 1));
          expect(cuts.every((cut, index) => cut > (cuts[index - 1] ?? low) && cut < low + span)).toBe(true);
        },
      ),
    );
  });

  test.each([
    [50, 1, 7, 7],
    [50, 4, 4, 15],
    [64, 1, 7, 7],
  ])(
    'one culprit of %d at fan-out %d: at most %d rounds of runs (and one to confirm), at most %d runs',
    (size, fanout, roundsMax, runsMax) => {
      for (let culprit = 1; culprit <= size; culprit += 1) {
        let [low, high, rounds, runs] = [0, size, 1, 1];
        while (high - low > 1) {
          const cuts = chooseCuts(low, high, fanout);
          rounds += 1;
          runs += cuts.length;
          const below = low;
          low = Math.max(below, ...cuts.filter((cut) => cut < culprit));
          high = Math.min(high, ...cuts.filter((cut) => cut >= culprit));
        }
        expect(high).toBe(culprit);
        expect(rounds).toBeLessThanOrEqual(roundsMax);
        expect(runs).toBeLessThanOrEqual(runsMax);
      }
    },
  );
});
