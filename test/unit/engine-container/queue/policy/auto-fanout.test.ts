import { sayChosenFanout } from '#core/domain/queue/auto-fanout.ts';
import {
  type AutoFanout,
  CHOSEN_AFTER_LANDED,
  chooseAutoFanout,
  countArrival,
  startAutoFanout,
  toChosenFanout,
} from '../../../../../engine-container/src/queue/policy/auto-fanout.ts';

const GATE_MS = 600_000;

/** One of so many gate runs for each landed pull request, at four at once; `gapMs` between two schedules. */
const given = (runsEach: number, changes: Partial<AutoFanout> = {}, gapMs = GATE_MS / 8): AutoFanout => ({
  inForce: 4,
  reason: 'budget',
  runs: runsEach * 80,
  expected: 80,
  budget: 125,
  since: { runs: Math.round(runsEach * 12), landed: CHOSEN_AFTER_LANDED },
  arrivals: { at: 0, gapMs },
  ...changes,
});
const choose = (auto: AutoFanout, budget = auto.budget, out = 0): AutoFanout =>
  chooseAutoFanout(auto, { gateMs: GATE_MS, budget, out });

test('a number is chosen before anything has landed, and a larger budget begins with more', () => {
  const first = [20, 60, 125, 1_000].map((budget) => startAutoFanout(budget));
  expect(first.map(({ inForce }) => inForce)).toEqual([4, 4, 13, 16]);
  expect(new Set(first.map(({ reason }) => reason))).toEqual(new Set(['learning']));
});

test('the most gate runs at once that the budget pays for are in force', () => {
  expect([0.2, 0.7, 1, 1.2].map((each) => choose(given(each)).inForce)).toEqual([16, 11, 6, 4]);
  expect(choose(given(0.2)).reason).toBe('most');
  expect(choose(given(0.7)).reason).toBe('budget');
});

test('a smaller budget never gives a larger number, whatever was learned', () => {
  for (const each of [0.2, 0.5, 0.8, 1.1, 1.5])
    for (const inForce of [1, 4, 7, 16]) {
      const chosen = [20, 50, 100, 150, 300, 1_000].map((budget) => choose(given(each, { inForce }), budget));
      const numbers = chosen.map((auto) => auto.inForce);
      expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
      expect(numbers.every((number) => number >= 1 && number <= 16)).toBe(true);
    }
});

test('one at a time is chosen where it keeps up with what arrives, and not where it would not', () => {
  const slow = choose(given(1.2, {}, GATE_MS * 3), 110);
  expect([slow.inForce, slow.reason]).toEqual([1, 'budget']);
  const busy = choose(given(1.2), 110);
  expect([busy.inForce, busy.reason]).toEqual([4, 'keeps_up']);
  const dear = choose(given(1.5, {}, GATE_MS * 3), 100);
  expect([dear.inForce, dear.reason]).toEqual([1, 'fewest']);
  const unknown = chooseAutoFanout(given(1.2), { gateMs: null, budget: 110, out: 0 });
  expect(unknown.inForce).toBe(4);
});

test('it is chosen anew after twelve landings, at once for another budget, and falls by half at most', () => {
  const early = given(0.2, { since: { runs: 2, landed: CHOSEN_AFTER_LANDED - 1 } });
  expect(choose(early)).toBe(early);
  expect(choose(early, 1_000)).toMatchObject({ inForce: 16, since: early.since });
  expect(choose(given(2, { inForce: 16 }))).toMatchObject({ inForce: 8, reason: 'falls' });
  const learning = { ...startAutoFanout(125), since: { runs: 3, landed: 2 } };
  expect(choose(learning, 60)).toMatchObject({ inForce: 4, reason: 'learning', since: learning.since });
});

test('gate runs that are out count for the pull requests that land with them', () => {
  const auto = given(0.5, { since: { runs: 20, landed: CHOSEN_AFTER_LANDED } });
  const [none, some] = [choose(auto), choose(auto, auto.budget, 14)];
  expect(none.since.runs).toBe(0);
  expect(some.since.runs).toBe(14);
  expect(some.runs).toBe(none.runs - 14);
});

test('times between schedules are smoothed, and a night is no time between two', () => {
  let auto = countArrival(startAutoFanout(125), 1_000);
  expect(auto.arrivals).toEqual({ at: 1_000, gapMs: null });
  auto = countArrival(auto, 61_000);
  expect(auto.arrivals).toEqual({ at: 61_000, gapMs: 60_000 });
  const night = countArrival(auto, 61_000 + 12 * 3_600_000);
  expect(night.arrivals?.gapMs).toBe(Math.round(60_000 + (3_600_000 - 60_000) / 32));
  expect(countArrival(auto, 0).arrivals).toEqual({ at: 61_000, gapMs: Math.round(60_000 - 60_000 / 32) });
});

test('each reason is one sentence with what it takes and the budget', () => {
  const told = (auto: AutoFanout): string => sayChosenFanout(toChosenFanout(auto, GATE_MS));
  expect(told(startAutoFanout(125))).toBe(
    'Up to 13 gate runs at once, chosen by the queue: until a few pull requests have landed and show how many gate runs that takes; the budget is 125.',
  );
  expect(told(choose(given(0.7)))).toMatch(
    /^Up to 11 gate runs at once, chosen by the queue: that takes about \d+ gate runs for each 100 landed, and more at once would be above the budget of 125\.$/,
  );
  expect(told(choose(given(0.2)))).toContain('the most there is');
  expect(told(choose(given(2, { inForce: 16 })))).toContain('so it goes down step by step');
  expect(told(choose(given(1.5, {}, GATE_MS * 3), 100))).toMatch(
    /^One gate run at a time, .* the fewest there is/,
  );
  expect(told(choose(given(1.2), 110))).toContain('might not keep up with what arrives');
});
