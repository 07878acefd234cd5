import { playDispatch } from '../../scale/model.ts';

/** The keys of the stage that docs/scale.md names for 10,000 repositories. */
const TEN_THOUSAND = { repos: 10_000, workersMax: 400, engineTasks: 4, engineVcpu: 2, tickMemoryMb: 1_792 };
const GOAL_S = 360;

describe('the dispatch in virtual time', () => {
  test('10,000 repositories, a fifth of them active, are looked at within six minutes at p99', () => {
    const seen = playDispatch(TEN_THOUSAND, 20);
    expect(seen.p99S).toBeLessThanOrEqual(GOAL_S);
    expect(seen.looks).toBeGreaterThan(3 * TEN_THOUSAND.repos);
  });

  test('with one row for all of their reconciles they are not: it is written all the time', () => {
    const seen = playDispatch(TEN_THOUSAND, 20, { oneSection: true });
    expect(seen.p99S).toBeGreaterThan(GOAL_S);
    expect(seen.runsRowPercent).toBeGreaterThan(90);
  });

  test('the same seed plays the same life', () => {
    const small = { ...TEN_THOUSAND, repos: 50, workersMax: 20 };
    expect(playDispatch(small, 30)).toEqual(playDispatch(small, 30));
  });
});
