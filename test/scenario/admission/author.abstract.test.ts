import type { ActivityEventName } from '#core/domain/queue/batch.ts';
import { givenProject } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const authorsOf = async (world: World, name: ActivityEventName) =>
  (await world.events()).filter(({ event }) => event === name).map(({ pr, author }) => [pr, author]);

describe('an event names the author of its pull request', () => {
  test('when it is queued, staged and landed', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await world.forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a' }, author: 'ann' });
    await world.forge.scheduleAs('oncall', pr, 'squash');
    await world.drain();
    for (const name of ['pr_queued', 'pr_staged', 'pr_landed'] as const)
      expect([name, await authorsOf(world, name)]).toEqual([name, [[pr, 'ann']]]);
  });

  test('when it is bounced', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const bad = await world.forge.openPullRequest({
      branch: 'bad',
      files: { 'src/a.txt': 'BAD\n' },
      author: 'ann',
    });
    await world.forge.schedule(bad);
    await world.drain();
    expect(await authorsOf(world, 'pr_bounced')).toEqual([[bad, 'ann']]);
  });

  test('a twin that landed in place of another is that of its own author', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const first = await world.forge.openPullRequest({
      branch: 'a',
      files: { 'src/a.txt': 'a' },
      author: 'ann',
    });
    await world.forge.schedule(first);
    const { headSha } = await world.forge.pull(first);
    const twin = await world.forge.openPullRequest({ branch: 'twin', head: headSha, author: 'bob' });
    await world.forge.schedule(twin);
    world.forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
    await world.drain();
    expect(await authorsOf(world, 'pr_landed')).toEqual([[twin, 'bob']]);
  });
});
