import { Background } from '../../../../local/forge/background.ts';
import type { Timers } from '../../../../local/forge/timers.ts';

test('a timer that fires a moment early is set again: the last task is not lost', async () => {
  let now = 1_000;
  const armed: { readonly ms: number; readonly run: () => void | Promise<void> }[] = [];
  const timers: Timers = { now: () => now, after: (ms, run) => void armed.push({ ms, run }) };
  const background = new Background(timers, (error) => {
    throw error;
  });
  let ran = 0;
  background.enqueue(50, async () => {
    ran += 1;
  });
  now = 1_049;
  await armed.shift()?.run();
  expect(ran).toBe(0);
  expect(armed.map((timer) => timer.ms)).toEqual([1]);
  now = 1_050;
  await armed.shift()?.run();
  expect(ran).toBe(1);
});
