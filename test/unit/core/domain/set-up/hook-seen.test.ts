import { HOOK_LOOK_EVERY_MS, isSetUpLookDue } from '#core/domain/set-up/hook-seen.ts';

const NOW = 1_800_000_000_000;
const MINUTE_MS = 60_000;

test.each([
  ['a look of an hour ago', NOW - HOOK_LOOK_EVERY_MS, true],
  ['a look of less than an hour ago', NOW - HOOK_LOOK_EVERY_MS + 1, false],
  ['a look of a machine whose clock is a little fast', NOW + MINUTE_MS, false],
  ['a look of before a clock was set back', NOW + MINUTE_MS + 1, true],
])('after %s another one is due: %s %s', (_what, lookedAt, isDue) => {
  expect(isSetUpLookDue(lookedAt, NOW)).toBe(isDue);
});
