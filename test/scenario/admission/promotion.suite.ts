import { headOf, landedOf, stateOf, told } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import type { World } from '../world.ts';

type Create = (style: 'rebase' | 'squash') => Promise<World>;

const MINUTE = 60_000;
const REFUSED = 'pr_refused:base_heads_another';

/** Main is ahead of `release`, whose rule asks for the status of the queue or what else is given. */
async function givenRelease(world: World, requiredContexts: readonly string[] = ['mq']): Promise<void> {
  const { forge } = world;
  await givenProject(forge);
  await forge.pushBranch('release', await forge.tip('main'));
  await forge.pushToBase({ 'n.txt': 'n\n' });
  await forge.setProtection({ requiredContexts }, 'release');
  await world.clock.advance(5_000);
}

async function openPromotion(world: World): Promise<number> {
  const { forge, clock } = world;
  const head = await forge.tip('main');
  const pr = await forge.openPullRequest({ branch: 'main', head, base: 'release', title: 'Promote main' });
  await clock.advance(5_000);
  return pr;
}

const isMerged = async (world: World, pr: number): Promise<boolean> => (await world.forge.pull(pr)).merged;

/**
 * A landing by fast-forward makes its head, on which the success still stands, the tip of the base: the head of a pull
 * request from the base to another branch, which no run has tested.
 */
export function promotionSuite(create: Create): void {
  test('with such a pull request open, no fast-forward lands; closed, it does', async () => {
    const world = await create('rebase');
    await givenRelease(world);
    const promotion = await openPromotion(world);
    await world.forge.schedule(promotion, 'merge');
    const pr = await givenScheduled(world.forge, 'a', 'a\n', { style: 'rebase' });
    await world.drain({ maxMs: 30 * MINUTE });
    expect([await isMerged(world, promotion), landedOf(world)]).toEqual([false, []]);
    expect(await told(world, pr)).toContain(REFUSED);
    await world.forge.close(promotion);
    await world.clock.advance(10 * MINUTE);
    await world.drain({ maxMs: 30 * MINUTE });
    expect([await isMerged(world, pr), await isMerged(world, promotion)]).toEqual([true, false]);
  });

  test.each([
    ['a head that is behind its base is rebased', 'rebase', true, ['mq']],
    ['a squash makes a commit of its own', 'squash', false, ['mq']],
    ['a branch that asks for another status', 'rebase', false, ['ci']],
  ] as const)('what no fast-forward opens lands beside it: %s', async (_name, style, isBehind, contexts) => {
    const world = await create(style);
    await givenRelease(world, contexts);
    const promotion = await openPromotion(world);
    await world.forge.schedule(promotion, 'merge');
    const pr = await givenScheduled(world.forge, 'a', 'a\n', { style });
    if (isBehind) await world.forge.pushToBase({ 'z.txt': 'z\n' });
    await world.clock.advance(5_000);
    await world.drain({ maxMs: 30 * MINUTE });
    expect([await isMerged(world, pr), await isMerged(world, promotion)]).toEqual([true, false]);
  });

  test('one that is opened while the head is tested is found right before the success', async () => {
    const world = await create('rebase');
    await givenRelease(world);
    const pr = await givenScheduled(world.forge, 'a', 'a\n', { style: 'rebase' });
    await world.drain({ until: () => world.forge.runs().length > 0 });
    const promotion = await openPromotion(world);
    await world.forge.schedule(promotion, 'merge');
    await world.drain({ maxMs: 30 * MINUTE });
    expect([await isMerged(world, promotion), await isMerged(world, pr)]).toEqual([false, false]);
    expect(await told(world, pr)).toContain(REFUSED);
  });

  test.each([
    ['its status', ['mq']],
    ['all statuses', []],
  ] as const)(
    'the tip that a fast-forward left says pending for good, and a branch that asks for %s stays closed to it',
    async (_name, contexts) => {
      const world = await create('rebase');
      await givenRelease(world, contexts);
      const pr = await givenScheduled(world.forge, 'a', 'a\n', { style: 'rebase' });
      await world.drain({ maxMs: 30 * MINUTE });
      const head = await headOf(world, pr);
      expect([await world.forge.tip('main'), await stateOf(world, head)]).toEqual([head, 'pending']);
      const promotion = await openPromotion(world);
      await world.forge.schedule(promotion, 'merge');
      await world.clock.advance(10 * MINUTE);
      await world.drain({ maxMs: 30 * MINUTE });
      expect([await isMerged(world, promotion), await stateOf(world, head)]).toEqual([false, 'pending']);
    },
  );
}
