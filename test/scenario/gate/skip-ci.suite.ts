import { endingOf, expectHonestEnd, GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;

/** Words in the commits of the base must not keep a gate from running on them. */
export function defineSkipCiTests(createWorld: (options?: WorldOptions) => Promise<World>): void {
  describe('a base tip whose message tells the forge to start no run', () => {
    async function givenSilentBase(): Promise<World> {
      const world = await createWorld();
      await givenProject(world.forge);
      const silent = await world.forge.openPullRequest({
        branch: 'docs',
        title: 'Say more [skip ci]',
        files: { 'docs.md': 'more\n' },
      });
      await world.forge.mergeByHand(silent);
      await world.clock.advance(MINUTE_MS);
      return world;
    }

    test('is probed all the same: on it the one that fails is bounced, the others land', async () => {
      const world = await givenSilentBase();
      const tip = await world.forge.tip(world.forge.base);
      const baseTree = await world.forge.tree(tip);
      const bad = await givenScheduled(world.forge, 'bad', 'BAD\n');
      const good = await givenScheduled(world.forge, 'good');
      await world.drain({ maxMs: 60 * MINUTE_MS });
      expect(await endingOf(world, [bad, good])).toEqual({
        landed: expect.arrayContaining([good]),
        bounced: [bad],
      });
      const probes = world.forge.runs().filter((run) => run.tree === baseTree);
      expect(probes.map((run) => run.state)).toEqual(['success']);
      expect(probes.map((run) => run.sha)).not.toContain(tip);
      await expectHonestEnd(world, [bad, good]);
    });
  });

  test('a batch is cut where its changes cancel each other out: that tree is published too', async () => {
    const world = await createWorld({ repo: { mergeStyle: 'merge', bisectFanout: 1 } });
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'there', 'x\n', { style: 'merge' })];
    const back = await world.forge.openPullRequest({
      branch: 'back',
      files: { 'src/there.txt': null },
      from: (await world.forge.pull(prs[0] ?? 0)).headSha,
    });
    await world.forge.schedule(back, 'merge');
    prs.push(back);
    for (const name of ['c', 'bad'])
      prs.push(await givenScheduled(world.forge, name, name === 'bad' ? 'BAD\n' : 'c\n', { style: 'merge' }));
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect(await endingOf(world, prs)).toEqual({ landed: prs.slice(0, 3), bounced: prs.slice(3) });
    await expectHonestEnd(world, prs);
  });

  test('a gate file that is renamed and fails: its base is probed under the name that the base knows', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const renamed = GATE_PATH.replace('.yaml', '.yml');
    const pr = await world.forge.openPullRequest({
      branch: 'rename',
      files: { [GATE_PATH]: null, [renamed]: GATE_FILE, 'src/bad.txt': 'BAD\n' },
    });
    await world.forge.schedule(pr, 'squash');
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [pr] });
    await expectHonestEnd(world, [pr]);
  });
}
