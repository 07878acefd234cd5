/** From the first half of an act to its second: before the queue looks, before the next full look, and after it. */
export const AT_ONCE_MS = 0;
export const SOON_MS = 15_000;
export const LATE_MS = 100_000;
