import {
  firstLookAfter,
  nextLookMs,
} from '../../../../../engine-container/src/queue/landing/landing-pace.ts';

const SEEN_LATE_MS = 100;

/** Merges of these lengths, each looked for at the pace of the one before: how long each was seen too late, and the looks. */
function play(mergesMs: readonly number[]) {
  let firstMs: number | undefined;
  return mergesMs.map((mergeMs) => {
    let ageMs = 0;
    let looks = 0;
    while (ageMs < mergeMs) {
      ageMs += nextLookMs(ageMs, firstMs) + SEEN_LATE_MS;
      looks += 1;
    }
    firstMs = firstLookAfter(ageMs, firstMs);
    return { lateMs: ageMs - mergeMs, looks };
  });
}
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const repeated = (ms: number, count: number): number[] => Array.from({ length: count }, () => ms);

test.each([300, 700, 1_500, 3_000])(
  'merges of %d ms each are seen soon, with fewer than two and a half looks on average',
  (ms) => {
    const looks = play(repeated(ms, 50)).slice(10);
    expect(mean(looks.map(({ lateMs }) => lateMs))).toBeLessThan(SEEN_LATE_MS + Math.max(150, 0.2 * ms));
    expect(mean(looks.map((look) => look.looks))).toBeLessThan(2.5);
  },
);

test('after one slow merge the next quick ones are not waited for as long', () => {
  const looks = play([...repeated(600, 10), 9_000, ...repeated(600, 10)]);
  expect(Math.max(...looks.slice(11).map(({ lateMs }) => lateMs))).toBeLessThan(600);
});

test('where merges become slow the looks follow within a few of them', () => {
  const looks = play([...repeated(400, 10), ...repeated(3_500, 20)]);
  expect(looks[10]?.looks).toBeGreaterThan(4);
  expect(mean(looks.slice(18).map((look) => look.looks))).toBeLessThanOrEqual(2.5);
});

test('no look comes more often than every 200 ms, and none later than 4 s after the one before', () => {
  expect(nextLookMs(100, 50)).toBe(200);
  expect(nextLookMs(60_000)).toBe(4_000);
  expect(firstLookAfter(10, 100)).toBe(200);
});
