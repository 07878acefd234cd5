import { redeliverySeconds, retryDelayMs, shareOf } from '#core/domain/wakes/wake-rule.ts';

test('a wake without an answer comes back later each time: five deliveries outlast a minute of throttling', () => {
  const waits = [1, 2, 3, 4].map(redeliverySeconds);
  expect(waits).toEqual([10, 20, 30, 30]);
  // A value that is no count means the first delivery.
  expect(redeliverySeconds(0)).toBe(10);
});

test('the next try is after 10 to 30 s, whatever the share, until the failure has lasted for 15 minutes', () => {
  for (const share of [0, 0.5, 1]) {
    for (let failingMs = 0; failingMs < 900_000; failingMs += 7_000) {
      const delayMs = retryDelayMs(failingMs, share) ?? 0;
      expect([delayMs >= 10_000, delayMs <= 30_000]).toEqual([true, true]);
    }
    expect(retryDelayMs(900_000, share)).toBeNull();
  }
});

test('shares of a thousand repos are spread over the whole range', () => {
  const buckets = new Array<number>(10).fill(0);
  for (let index = 0; index < 1_000; index += 1) {
    const bucket = Math.floor(shareOf(`1 repo-${index}`) * 10);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  expect(Math.min(...buckets)).toBeGreaterThan(40);
});
