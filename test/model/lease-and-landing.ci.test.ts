import { explore, GUARDS, type Guard } from './lease-and-landing.ts';

/** Which promise falls without each rule. */
const FALLS: Readonly<Record<Guard, RegExp>> = {
  fence: /undecided again/,
  deadline: /after a call of the holder that took the lease over/,
  grace: /after a call of the holder that took the lease over/,
  intent: /without a stored intent/,
  takeBack: /stands on what was given up/,
  'last word': /stands on what was given up/,
  tree: /told as landed/,
};

describe('one landing, one lease, two workers, every state', () => {
  test.each([false, true])('no promise is broken (people push to the base: %s)', (basePushes) => {
    const found = explore({ basePushes });
    process.stdout.write(`model: ${found.states} states, ${found.steps} steps\n`);
    expect(found.broken).toBeNull();
    expect(found.stuck).toBe(0);
    expect(found.states).toBeGreaterThan(1_000);
  });

  test.each(GUARDS)('without the %s a promise falls', (guard) => {
    const { broken } = explore({ without: guard, basePushes: guard === 'tree' });
    expect(broken?.what).toMatch(FALLS[guard]);
    expect(broken?.path.length).toBeGreaterThan(3);
  });
});
