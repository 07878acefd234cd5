import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;

/** The forge died over the push of a branch of the queue: git has it, and the forge's own table of branches has not. */
export function defineHalfMadeTests(createWorld: (options?: WorldOptions) => Promise<World>): void {
  const expectBothLanded = async (world: World, prs: readonly number[]) => {
    await world.drain({ until: () => world.forge.merges().length === 2, maxMs: 3 * MINUTE_MS });
    expect(await endingOf(world, prs)).toEqual({ landed: prs, bounced: [] });
    expect(world.forge.runs()).toHaveLength(1);
    await world.drain({ maxMs: 10 * MINUTE_MS });
    expect((await world.forge.branches()).filter((name) => name.startsWith('mq'))).toEqual([]);
    await expectHonestEnd(world, prs);
  };

  test('a staging branch that a forge half made when it died costs no failed staging', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'first'), await givenScheduled(world.forge, 'second')];
    await world.forge.leaveHalfMade('mq/main/staging', await world.forge.tip(world.forge.base));
    expect(await world.reconcile()).toMatchObject({ errorCode: null });
    await expectBothLanded(world, prs);
  });

  test('a work branch that it half made costs no more than the staging in which it died', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'first'), await givenScheduled(world.forge, 'second')];
    let isUp = true;
    world.forge.fault = ({ path }) => {
      if (!isUp || !path.endsWith('/diffpatch')) return null;
      isUp = false;
      return { status: 502, html: true, when: 'after' };
    };
    await world.reconcile();
    const [work = ''] = (await world.forge.branches()).filter((name) => name.startsWith('mq-work/'));
    await world.forge.leaveHalfMade(work, await world.forge.tip(work));
    await expectBothLanded(world, prs);
  });

  test('a patch on which the forge fails for its contents costs one call more, and is counted as before', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'poison');
    world.forge.fault = ({ path, about }) =>
      path.endsWith('/diffpatch') && about?.includes('src/poison') ? { status: 500 } : null;
    world.forge.clearCalls();
    expect(await world.reconcile()).toMatchObject({ errorCode: 'forge_call_failed' });
    const calls = world.forge.calls().map(({ call }) => call);
    expect(calls.filter((call) => call === 'POST diffpatch')).toHaveLength(1);
    expect(calls.filter((call) => call.startsWith('DELETE branches'))).toHaveLength(1);
    expect((await world.record()).entries.find((entry) => entry.pr === pr)?.stagingTries).toBe(1);
  });

  test.each([
    ['no call', { status: 502, html: true }],
    ['nothing but bare faults', { status: 500 }],
  ])('a forge that answers %s from a patch on is asked for no removal', async (_how, answer) => {
    const world = await createWorld();
    await givenProject(world.forge);
    await givenScheduled(world.forge, 'first');
    let isDown = false;
    world.forge.fault = ({ path }) => {
      isDown ||= path.endsWith('/diffpatch');
      return isDown ? answer : null;
    };
    world.forge.clearCalls();
    await world.reconcile();
    expect(isDown).toBe(true);
    const removals = world.forge.calls().filter(({ call }) => call.startsWith('DELETE branches'));
    expect(removals).toEqual([]);
  });

  test('a patch that was applied although its answer was lost is not removed at once', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'first');
    let isLost = true;
    world.forge.fault = ({ path }) => {
      if (!isLost || !path.endsWith('/diffpatch')) return null;
      isLost = false;
      return { status: 502, html: true, when: 'after' };
    };
    world.forge.clearCalls();
    await world.reconcile();
    expect(isLost).toBe(false);
    expect(await world.forge.branches()).toContain('mq/main/staging');
    await world.drain({ maxMs: 10 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    await expectHonestEnd(world, [pr]);
  });
}
