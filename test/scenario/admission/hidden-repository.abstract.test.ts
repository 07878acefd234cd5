import { headOf, landedOf, stateOf, untilSuccess } from '../hooks.ts';
import { unprovenLandings } from '../stories.ts';
import { givenThreeScheduled } from '../three-scheduled.ts';
import type { World } from '../world.ts';

/**
 * A repository that the bot may not see any more answers 404 to everything, as if pull request, commit and statuses were
 * gone. They are not, and a `success` on them merges as before (A24).
 */
const MINUTE = 60_000;

async function hiddenWhileLanding() {
  const { world, a, b } = await givenThreeScheduled();
  let kind: 'lost' | 'now' = 'lost';
  world.forge.mergeBehaviour = (pr) => ({ kind: pr === a ? kind : 'now' });
  const head = await headOf(world, a);
  await untilSuccess(world, head);
  world.forge.fault = () => ({ status: 404 });
  const show = () => {
    world.forge.fault = () => null;
    kind = 'now';
  };
  return { world, a, b, head, show };
}

async function reconcileFor(world: World, ms: number): Promise<readonly unknown[]> {
  const codes: unknown[] = [];
  for (const until = world.clock.now() + ms; world.clock.now() < until; await world.clock.advance(20_000))
    codes.push((await world.reconcile())?.errorCode);
  return codes;
}

test('it is told from the first look on, and not taken back by a look that asks for less', async () => {
  const { world } = await hiddenWhileLanding();
  const codes = await reconcileFor(world, 25 * MINUTE);
  expect(new Set(codes)).toEqual(new Set(['forge_access_denied']));
});

test('nothing in it is taken for gone: no pull request leaves the queue, and the success is still to be taken back', async () => {
  const { world, head } = await hiddenWhileLanding();
  await reconcileFor(world, 25 * MINUTE);
  expect((await world.events()).filter(({ event }) => event === 'pr_skipped')).toEqual([]);
  expect(await stateOf(world, head)).toBe('success');
  const { pendingStatuses } = await world.record();
  expect(pendingStatuses.filter(({ sha, state }) => sha === head && state === 'pending')).toHaveLength(1);
});

test.each([3, 12, 25])(
  'once it shows again after %i min the success is taken back first, though the base has moved',
  async (minutes) => {
    const { world, head, show } = await hiddenWhileLanding();
    await reconcileFor(world, minutes * MINUTE);
    await world.forge.pushToBase({ 'pushed.txt': 'meanwhile\n' });
    show();
    await world.reconcile();
    expect(await stateOf(world, head)).toBe('pending');
    await world.drain({ maxMs: 60 * MINUTE });
    expect(landedOf(world)).toHaveLength(3);
    expect(await unprovenLandings(world.forge)).toEqual([]);
  },
);

test('what a lost record had in flight is looked for until it shows', async () => {
  const { world, head, show } = await hiddenWhileLanding();
  await world.loseRecord();
  await reconcileFor(world, 25 * MINUTE);
  await world.forge.pushToBase({ 'pushed.txt': 'meanwhile\n' });
  show();
  await world.reconcile();
  expect(await stateOf(world, head)).not.toBe('success');
  await world.drain({ maxMs: 60 * MINUTE });
  expect(await unprovenLandings(world.forge)).toEqual([]);
});
