import type { EngineForge } from '#core/ports/forge.ts';
import { gitWorlds } from './git-world.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from './stories.ts';
import { createWorld, type World } from './world.ts';

jest.setTimeout(60_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

const patchesOf = (world: World): number =>
  world.forge.calls().filter(({ call }) => call === 'POST diffpatch').length;

describe('members in a row share one staged commit (A9)', () => {
  test('it stands on the base, has the tree of all, and names the exact heads in order', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const base = await world.forge.tip('main');
    const prs: number[] = [];
    for (const name of ['a', 'b', 'c']) prs.push(await givenScheduled(world.forge, name));
    await world.drain({ until: () => world.forge.runs().length > 0 });
    const { message, parents } = world.forge.commit(world.forge.runs()[0]?.sha ?? '');
    expect(parents).toEqual([base]);
    const heads = await Promise.all(prs.map(async (pr) => (await world.forge.pull(pr)).headSha));
    expect(message.trim().split('\n').slice(2)).toEqual(heads.map((head, at) => `${prs[at]} ${head}`));
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    expect(patchesOf(world)).toBe(1);
    await expectHonestEnd(world, prs);
  });

  test.each([
    ['abstract', 'merge'],
    ['abstract', 'squash'],
    ['abstract', 'rebase'],
    ['git', 'squash'],
  ] as const)(
    'a culprit in the middle is found among trees that the forge never had: %s, %s',
    async (level, mergeStyle) => {
      const options = { repo: { mergeStyle } };
      const world: World = level === 'git' ? await worlds.create(options) : await createWorld(options);
      await givenProject(world.forge);
      const prs: number[] = [];
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f'])
        prs.push(
          await givenScheduled(world.forge, name, name === 'd' ? 'BAD\n' : `${name}\n`, {
            style: mergeStyle,
          }),
        );
      await world.clock.advance(60_000);
      await world.drain();
      const ending = await endingOf(world, prs);
      expect(ending.bounced).toEqual([prs[3]]);
      expect([...ending.landed].sort((a, b) => a - b)).toEqual(prs.filter((pr) => pr !== prs[3]));
      await expectHonestEnd(world, prs);
    },
  );

  test('what takes back all before it has a commit of its own: no forge takes an empty patch', async () => {
    const world = await worlds.create({ repo: { mergeStyle: 'merge' } });
    await givenProject(world.forge);
    const first = await givenScheduled(world.forge, 'a', 'a\n', { style: 'merge' });
    const second = await world.forge.openPullRequest({
      branch: 'b',
      from: (await world.forge.pull(first)).headSha,
      files: { 'src/a.txt': null },
    });
    await world.forge.schedule(second, 'merge');
    await world.clock.advance(60_000);
    await world.drain();
    expect((await endingOf(world, [first, second])).landed).toEqual([first, second]);
    expect(patchesOf(world)).toBe(2);
    await expectHonestEnd(world, [first, second]);
  });

  test('a shared commit that does not come out as planned is built again one by one', async () => {
    let spoiled = 0;
    const world = await createWorld({
      wrapForge: (forge): EngineForge => ({
        ...forge,
        async applyPatch(request) {
          const commit = await forge.applyPatch(request);
          if (commit === 'conflict' || !request.message.includes('pull requests')) return commit;
          spoiled += 1;
          return { ...commit, tree: '0'.repeat(40) };
        },
      }),
    });
    await givenProject(world.forge);
    const prs: number[] = [];
    for (const name of ['a', 'b', 'c']) prs.push(await givenScheduled(world.forge, name));
    await world.drain();
    expect(spoiled).toBe(1);
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    expect(patchesOf(world)).toBe(4);
    await expectHonestEnd(world, prs);
  });
});
