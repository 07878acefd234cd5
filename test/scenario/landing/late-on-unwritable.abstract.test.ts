import { headOf, landedOf, stateOf } from '../hooks.ts';
import { givenScheduled, unprovenLandings } from '../stories.ts';
import { givenThreeScheduled } from '../three-scheduled.ts';

/** On one head no status can be written, and one `success` without an answer is carried out there all the same, late. */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function lateOn(lateEffectMs: number, kind: 'now' | 'lost') {
  const { world, a, b, c } = await givenThreeScheduled();
  const head = await headOf(world, a);
  const posts = ({ method, path }: { method: string; path: string }) =>
    method === 'POST' && path.endsWith(`statuses/${head}`);
  world.forge.mergeBehaviour = (pr) => ({ kind: pr === a ? kind : 'now' });
  world.forge.fault = (call) => (posts(call) ? { status: 500 } : null);
  let tries = 0;
  world.forge.lateEffectMs = lateEffectMs;
  // The last of them before its pull request is given up.
  world.forge.isLate = (call) => {
    if (!posts(call)) return false;
    tries += 1;
    return tries === 10;
  };
  return { world, a, b, c, head };
}

test('nothing else lands before it can have arrived, so what it merges is proven', async () => {
  const { world, a, b, c } = await lateOn(110_000, 'now');
  await world.drain({ maxMs: 4 * HOUR, until: () => landedOf(world).length === 3 });
  expect(world.forge.merges().map(({ pr }) => pr)).toEqual([a, b, c]);
  expect(await unprovenLandings(world.forge)).toEqual([]);
  expect(world.log.filter(({ fields }) => fields.alarm === 'unverified_landing')).toEqual([]);
});

test('one that arrives later still and merges nothing at once is told at its first look, and the rest waits for a person', async () => {
  const { world, a, b, c, head } = await lateOn(8 * MINUTE, 'lost');
  await world.drain({ maxMs: 4 * HOUR, until: async () => (await stateOf(world, head)) === 'success' });
  const at = world.clock.now();
  const before = landedOf(world).length;
  const isTold = () => world.log.some(({ fields }) => fields.alarm === 'success_stands' && fields.pr === a);
  await world.drain({ maxMs: HOUR, until: isTold });
  expect(world.clock.now() - at).toBeLessThanOrEqual(2 * MINUTE);
  const d = await givenScheduled(world.forge, 'd');
  await world.drain({ maxMs: HOUR });
  expect(landedOf(world)).not.toContain(d);
  expect(landedOf(world).length).toBe(before);
  await world.forge.cancelSchedule(a);
  await world.drain({ maxMs: HOUR, until: () => landedOf(world).includes(d) });
  expect(landedOf(world)).toEqual([b, c, d]);
});

test('one that arrives later still and merges is alarmed as a landing that nothing proved', async () => {
  const { world, a } = await lateOn(8 * MINUTE, 'now');
  await world.drain({ maxMs: 4 * HOUR, until: () => landedOf(world).includes(a) });
  await world.drain({ maxMs: 10 * MINUTE });
  expect(world.log.some(({ fields }) => fields.alarm === 'unverified_landing')).toBe(true);
});
