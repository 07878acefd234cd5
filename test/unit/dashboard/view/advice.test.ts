import { describeAdvice } from '../../../../dashboard/view/advice.ts';

const replay = (fanout: number, p50: number, mean: number, runs: number) => ({
  fanout,
  landed: 60,
  runs,
  wait: { p50_seconds: p50, p95_seconds: null, mean_seconds: mean },
});
const advice = {
  current: 1,
  advised: 4,
  reason: null,
  rests_on: 61,
  needed: 30,
  since: null,
  replays: [replay(1, 41 * 60, 50 * 60, 100), replay(4, 6 * 60, 8 * 60, 112)],
};

describe('the advice in one sentence', () => {
  test('says what the advised fan-out would have changed, and what that rests on', () => {
    expect(describeAdvice(advice)).toBe(
      'With 4 instead of 1: median 6 min instead of 41 min, mean 8 min instead of 50 min, 12 % more gate runs. This rests on 61 pull requests.',
    );
    expect(describeAdvice({ ...advice, advised: 1 })).toBe(
      '1 at once fits the last weeks best. This rests on 61 pull requests.',
    );
  });

  test.each([
    [112, 100, '11 % fewer gate runs'],
    [1_000, 1_001, 'under 1 % more gate runs'],
    [7, 7, 'as many gate runs'],
  ])('of %i and %i gate runs', (now, then, words) => {
    const replays = [replay(1, 60, 60, now), replay(4, 60, 60, then)];
    expect(describeAdvice({ ...advice, replays })).toContain(`, ${words}. This`);
  });

  test('to a queue that chooses by itself is which fixed number there would be', () => {
    expect(describeAdvice({ ...advice, current: null })).toBe(
      'The queue chooses by itself; of the fixed numbers 4 at once fits the last weeks best. This rests on 61 pull requests.',
    );
  });

  test('without one says why, with the number that it needs', () => {
    const none = { ...advice, advised: null, replays: [], rests_on: 12 };
    expect(describeAdvice({ ...none, reason: 'too_few_pull_requests' })).toBe(
      'No advice yet: 12 pull requests landed or bounced in the last weeks, and advice needs 30.',
    );
    expect(describeAdvice({ ...none, rests_on: 1, reason: 'too_few_pull_requests' })).toContain(
      ': 1 pull request landed or bounced',
    );
    const reasons = ['gate_times_unknown', 'none_landed', 'too_many_rows', 'out_of_time'] as const;
    const said = reasons.map((reason) => describeAdvice({ ...none, reason }));
    expect(new Set(said).size).toBe(reasons.length);
    for (const words of said) expect(words).toMatch(/^No advice/);
  });
});
