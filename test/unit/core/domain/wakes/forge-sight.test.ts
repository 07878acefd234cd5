import { GLANCE_EVERY_MS, TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import {
  type ForgeSight,
  glanceDelayMs,
  keepSight,
  newestOf,
  showsNews,
  sightOf,
} from '#core/domain/wakes/forge-sight.ts';

const NOW = 1_800_000_000_000;
const pull = (pr: number, updatedAt: number, readAfterMs = 5_000) => ({
  pr,
  head: `head-${pr}`,
  updatedAt,
  seenAt: NOW,
  readAt: NOW + readAfterMs,
});
const SIGHT: ForgeSight = sightOf('tip', [pull(1, 1_000), pull(2, 3_000), pull(3, 2_000)]);
const NEWEST = { pr: 2, head: 'head-2', updatedAt: 3_000 };

describe('a sight of a branch', () => {
  test('is its tip and the pull request that changed last', () => {
    expect(SIGHT).toEqual({ tip: 'tip', newest: NEWEST, isSettled: true });
    expect(sightOf('tip', [])).toEqual({ tip: 'tip', newest: null, isSettled: true });
    expect(newestOf([pull(4, 9), pull(6, 9), pull(5, 9)])?.pr).toBe(6);
  });

  test('is not settled while one was read within the second of its time stamp', () => {
    expect(sightOf('tip', [pull(1, 1_000), pull(2, 3_000, 1_999)]).isSettled).toBe(false);
    expect(sightOf('tip', [{ pr: 1, head: 'h', updatedAt: 1 }]).isSettled).toBe(false);
  });

  test.each<[string, Parameters<typeof showsNews>[1], boolean]>([
    ['the same', { tip: 'tip', newest: NEWEST }, false],
    ['another tip', { tip: 'other', newest: NEWEST }, true],
    ['a schedule or a comment', { tip: 'tip', newest: { ...NEWEST, updatedAt: 4_000 } }, true],
    ['a push', { tip: 'tip', newest: { ...NEWEST, head: 'new' } }, true],
    ['another that changed last', { tip: 'tip', newest: { ...NEWEST, pr: 3 } }, true],
    ['pull requests to other branches alone', { tip: 'tip', newest: null }, false],
  ])('against a glance that shows %s: news is %s', (_case, glance, isNews) => {
    expect(showsNews(SIGHT, glance)).toBe(isNews);
  });

  test('that is not settled proves nothing: whatever a glance shows is news', () => {
    expect(showsNews({ ...SIGHT, isSettled: false }, { tip: 'tip', newest: NEWEST })).toBe(true);
  });

  test('of before is kept with its time for as long as nothing changes', () => {
    const first = keepSight(undefined, SIGHT, NOW);
    expect(first).toEqual({ ...SIGHT, since: 3_000 });
    expect(keepSight(first, { ...SIGHT, isSettled: false }, NOW + 1)).toMatchObject({ since: 3_000 });
    expect(keepSight(first, { ...SIGHT, tip: 'other' }, NOW + 1)).toMatchObject({ since: NOW + 1 });
    expect(keepSight(first, { ...SIGHT, newest: null }, NOW + 1)).toMatchObject({ since: NOW + 1 });
  });

  test('that is the first of a repository is as old as the forge says, and never in the future', () => {
    expect(keepSight(undefined, sightOf('tip', []), NOW).since).toBe(0);
    expect(keepSight(undefined, sightOf('tip', [pull(1, NOW + 60_000)]), NOW).since).toBe(NOW);
  });
});

test.each([
  ['just now', 0, 0, GLANCE_EVERY_MS],
  ['an hour ago', 3_600_000, 0, GLANCE_EVERY_MS],
  ['two hours ago', 7_200_000, 0, 2 * GLANCE_EVERY_MS],
  ['nine hours ago', 9 * 3_600_000, 0, 270_000],
  ['so long ago that the tick comes first', 120 * TICK_INTERVAL_MS, 0, null],
  ['just now on a forge that takes two seconds', 0, 2_000, 40_000],
  ['just now on a forge that takes a quarter of a minute', 0, 15_000, null],
])('what changed %s is glanced at after its delay', (_when, quietMs, tookMs, delayMs) => {
  expect(glanceDelayMs(quietMs, tookMs)).toBe(delayMs);
});
