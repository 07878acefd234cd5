import { runSimulation } from '../support/simulation-process.ts';
import { simulate } from './simulate.ts';

/** A first look: `lives.ci.test.ts` lives more of them, and asks what happened in them. */
const SEEDS = 8;
/** Ends a hang. However slow the machine, all are lived: of fewer it cannot be asked that everything happened. */
const LIVES_MS_MAX = 900_000;

test(
  'a few seeded lives break no promise, and all come to rest',
  async () => {
    const { lines, summary } = await runSimulation('--seeds', String(SEEDS), '--old', '0', '--jobs', '1');
    expect(lines).toEqual([]);
    expect(summary.violations).toBe(0);
    expect(summary.seeds).toBe(SEEDS);
  },
  LIVES_MS_MAX,
);

test('a seed is one life: lived again it is the same to the last call', async () => {
  const [first, again] = [
    await simulate(7, 'everything', {}, true),
    await simulate(7, 'everything', {}, true),
  ];
  expect(first.trace.length).toBeGreaterThan(50);
  expect(again).toEqual(first);
});
