import { type AbstractForge, createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorldOn, type World } from '../world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Stopped {
  readonly world: World<AbstractForge>;
  readonly clock: SteppedClock;
  readonly code: 'tree_mismatch' | 'another_queue';
}

const codeOf = async (world: World) => (await world.reconcile())?.errorCode;

/** Switched on half an hour before it stops. */
async function createStepped() {
  const time = new VirtualClock();
  const forge = createAbstractForge({ clock: time });
  const clock = new SteppedClock(time);
  const world = await createWorldOn(clock, forge, forge.forge, { lastingEngine: true });
  await givenProject(forge);
  await world.settings({ enabledAt: clock.now() });
  await clock.advance(HOUR_MS / 2);
  return { time, forge, clock, world };
}

/** A push to the base comes between a `success` and its merge. */
async function stopByMerge(): Promise<Stopped> {
  const { forge, clock, world } = await createStepped();
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  let drop = 2;
  forge.mergeBehaviour = () => (drop-- > 0 ? { kind: 'lost' } : { kind: 'now' });
  await world.drain({ until: async () => (await forge.status(headSha, 'mq'))?.state === 'success' });
  await forge.pushToBase({ 'pushed.txt': 'pushed\n' });
  await clock.advance(MINUTE_MS);
  await world.drain({ maxMs: 5 * MINUTE_MS });
  return { world, clock, code: 'tree_mismatch' };
}

/** Another deployment, with a store of its own, lands one on the same repository. */
async function stopByRival(): Promise<Stopped> {
  const { time, forge, clock, world } = await createStepped();
  const one = await createWorldOn(time, forge, forge.forge, {});
  await givenScheduled(forge, 'earlier');
  await world.drain();
  await givenScheduled(forge, 'a');
  await one.drain();
  await time.advance(MINUTE_MS);
  await world.drain({ maxMs: 5 * MINUTE_MS });
  return { world, clock, code: 'another_queue' };
}

describe.each([
  ['a merge that is not as it was proven', stopByMerge],
  ['another queue', stopByRival],
])('stopped by %s, and then the wall clock is set back by an hour', (_, stop) => {
  test('a person who switches the queue off and on lifts it', async () => {
    const { world, clock, code } = await stop();
    expect(await codeOf(world)).toBe(code);
    clock.put(-HOUR_MS);
    expect(await codeOf(world)).toBe(code);
    await clock.advance(MINUTE_MS);
    await world.settings({ enabledAt: clock.now() });
    await clock.advance(MINUTE_MS);
    expect(await codeOf(world)).toBeNull();
    const next = await givenScheduled(world.forge, 'next');
    await world.drain({ maxMs: 10 * MINUTE_MS });
    expect(world.forge.isMerged(next)).toBe(true);
  });

  test('the switching-on of before it does not lift it', async () => {
    const { world, clock, code } = await stop();
    clock.put(-HOUR_MS);
    for (let look = 0; look < 3; look += 1) {
      expect(await codeOf(world)).toBe(code);
      await clock.advance(MINUTE_MS);
    }
  });
});
