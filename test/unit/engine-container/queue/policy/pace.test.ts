import { countDuration, gateMsOf, runnersOf } from '../../../../../engine-container/src/queue/policy/pace.ts';
import { NO_HISTORY, type OutcomeRate } from '../../../../../engine-container/src/queue/policy/rate.ts';
import { createSeededRandom, type SeededRandom } from '../../../../support/seeded-random.ts';

const SIGMA = 0.6;

function drawMs(random: SeededRandom): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return Math.round(600_000 * Math.exp(SIGMA * normal));
}

/** The figure after each of so many runs, at random loads; above `runners` a run waits for others. */
function learned(seed: number, runners: number): readonly number[] {
  const random = createSeededRandom(seed);
  let rate: OutcomeRate = NO_HISTORY;
  return Array.from({ length: 300 }, () => {
    const load = 1 + random.int(16);
    const rounds = Math.max(1, Math.ceil(load / runners));
    const ms = Array.from({ length: rounds }, () => drawMs(random)).reduce((sum, each) => sum + each, 0);
    rate = countDuration(rate, load, ms);
    return runnersOf(rate);
  });
}

test('runs that take longer the more are out show how many the runners take', () => {
  let rate = NO_HISTORY;
  expect(gateMsOf(rate)).toBeNull();
  expect(runnersOf(rate)).toBe(Number.POSITIVE_INFINITY);
  for (let round = 0; round < 4; round += 1) {
    for (let load = 1; load <= 16; load += 1) rate = countDuration(rate, load, 60_000 * Math.ceil(load / 4));
  }
  expect(runnersOf(rate)).toBe(4);
  expect(gateMsOf(rate)).toBe(60_000);
  for (let run = 0; run < 400; run += 1) rate = countDuration(rate, 1 + (run % 4), 60_000);
  // Long ago: it is tried again.
  expect(runnersOf(rate)).toBe(Number.POSITIVE_INFINITY);
});

test('durations that differ by themselves are not taken for a lack of runners', () => {
  const seen = Array.from({ length: 20 }, (_, seed) => learned(seed, Number.POSITIVE_INFINITY)).flat();
  const wrong = seen.filter((runners) => Number.isFinite(runners)).length;
  expect(wrong / seen.length).toBeLessThan(0.02);
});

test('a lack of runners shows where durations differ by themselves too', () => {
  const seen = Array.from({ length: 20 }, (_, seed) => learned(seed, 4).slice(100)).flat();
  const right = seen.filter((runners) => runners === 4 || runners === 8).length;
  expect(right / seen.length).toBeGreaterThan(0.9);
});

test('a pace learned without a spread goes on to be learned, and the usual duration is the geometric mean', () => {
  let rate: OutcomeRate = { ...NO_HISTORY, paces: [{ ms: 1_000, runs: 4 }] };
  rate = countDuration(rate, 1, 32_000);
  expect(rate.paces[0]?.ms).toBe(2_000);
  expect(rate.paces[0]?.spread).toBeGreaterThan(0);
});

test('so few gate runs that their spread is hardly known show no lack of runners', () => {
  let rate = NO_HISTORY;
  for (const ms of [74_000, 100_000, 135_000, 100_000]) rate = countDuration(rate, 1, ms);
  for (const ms of [115_000, 155_000, 209_000, 155_000]) rate = countDuration(rate, 4, ms);
  expect(runnersOf(rate)).toBe(Number.POSITIVE_INFINITY);
  for (let round = 0; round < 4; round += 1) {
    for (const ms of [74_000, 100_000, 135_000, 100_000]) rate = countDuration(rate, 1, ms);
    for (const ms of [115_000, 155_000, 209_000, 155_000]) rate = countDuration(rate, 4, ms);
  }
  expect(runnersOf(rate)).toBe(2);
});

test('what gate runs took under a load that has not been for long says nothing of how long they take', () => {
  let rate = NO_HISTORY;
  for (let run = 0; run < 3; run += 1) rate = countDuration(rate, 8, 30_000);
  expect(gateMsOf(rate)).toBe(30_000);
  for (let run = 0; run < 3; run += 1) rate = countDuration(rate, 1, 1_200_000);
  expect(gateMsOf(rate)).toBe(1_200_000);
});

test('a gate run during which the clock was set back is not counted', () => {
  const rate = countDuration(NO_HISTORY, 1, 60_000);
  expect(countDuration(rate, 1, -1)).toEqual(rate);
  expect(countDuration(NO_HISTORY, 1, 0)).toEqual(NO_HISTORY);
});
