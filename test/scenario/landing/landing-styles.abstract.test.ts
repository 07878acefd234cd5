import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';
import { describeLandingStyles } from './landing-styles.suite.ts';

describeLandingStyles('abstract forge', createWorld);

describe('lingering (A33)', () => {
  async function givenLinger(repo: { batchLingerSeconds: number; batchTarget: number }) {
    const world = await createWorld({ repo });
    await givenProject(world.forge);
    world.forge.judge = () => 'hold';
    return world;
  }

  test('nothing is staged before the linger has passed since the newest ready pull request', async () => {
    const world = await givenLinger({ batchLingerSeconds: 120, batchTarget: 0 });
    const first = await givenScheduled(world.forge, 'a');
    await world.reconcile();
    await world.clock.advance(100_000);
    const second = await givenScheduled(world.forge, 'b');
    const report = await world.reconcile();
    expect(report?.wakeAt).toBe(world.clock.now() + 120_000);
    await world.clock.advance(119_000);
    await world.reconcile();
    expect(await world.rows()).toEqual([]);
    await world.clock.advance(1_000);
    await world.reconcile();
    expect((await world.rows())[0]?.prs).toEqual([first, second]);
  });

  test('enough ready pull requests end the wait', async () => {
    const world = await givenLinger({ batchLingerSeconds: 3_600, batchTarget: 2 });
    const first = await givenScheduled(world.forge, 'a');
    await world.reconcile();
    expect(await world.rows()).toEqual([]);
    const second = await givenScheduled(world.forge, 'b');
    await world.reconcile();
    expect((await world.rows())[0]?.prs).toEqual([first, second]);
  });

  test('0 stages at once', async () => {
    const world = await givenLinger({ batchLingerSeconds: 0, batchTarget: 0 });
    await givenScheduled(world.forge, 'a');
    await world.reconcile();
    expect(await world.rows()).toHaveLength(1);
  });
});
