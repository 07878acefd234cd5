import { CI_MINUTES, plan, play } from './small-plans.ts';

const numbersOf = (bad: readonly boolean[], wanted: boolean): readonly number[] =>
  bad.flatMap((each, index) => (each === wanted ? [index + 1] : []));

/** All patterns of good and bad of so many pull requests. */
function patternsOf(size: number): readonly (readonly boolean[])[] {
  return Array.from({ length: 2 ** size }, (_, bits) =>
    Array.from({ length: size }, (_, at) => ((bits >> at) & 1) === 1),
  );
}

/** `together`: sizes of the patterns that come at once; `apart`: of those that come one by one. */
export function definePatternTests(together: readonly number[], apart: readonly number[]): void {
  describe.each([
    [1, 'new'],
    [2, 'known'],
    [4, 'new'],
    [8, 'known'],
    [16, 'new'],
  ] as const)(
    'every pattern of good and bad: never more runs at once than the speculation policy says, and an end after at most 2n - 1 nodes of n members (A28, A36), fan-out %d, %s repository',
    (fanout, age) => {
      test.each([
        ['at once', together, 0],
        ['one every third of a run', apart, CI_MINUTES / 3],
      ])(
        '%s, of %j: exactly the bad ones are bounced, all others land, nothing unproven',
        (_, sizes, gapMinutes) => {
          for (const bad of sizes.flatMap(patternsOf)) {
            const result = play(plan(bad, gapMinutes), fanout, { p: 0.2 }, age === 'new');
            const found = {
              bad,
              merged: [...result.merged].sort((a, b) => a - b),
              bounced: [...result.bounced].sort((a, b) => a - b),
              unproven: result.unproven,
              red: result.red,
            };
            expect(found).toEqual({
              bad,
              merged: numbersOf(bad, false),
              bounced: numbersOf(bad, true),
              unproven: 0,
              red: 0,
            });
            expect(result.mostRuns).toBeLessThanOrEqual(fanout);
          }
        },
      );
    },
  );
}
