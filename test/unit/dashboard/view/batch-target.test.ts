import { describeTarget } from '../../../../dashboard/view/batch-target.ts';

test.each([
  [0, 'No number: ends the wait at 50, the largest batch.'],
  [1, 'Ends the wait once 1 is ready.'],
  [50, 'Ends the wait once 50 are ready.'],
  [51, 'Ends the wait once 50 are ready: no batch is larger.'],
])('a target of %d: %s', (target, hint) => {
  expect(describeTarget(target)).toBe(hint);
});
