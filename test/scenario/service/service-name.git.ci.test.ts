import { gateWorkflow } from '../../../local/forge/fake-forge.ts';
import { gitWorlds } from '../git-world.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';

jest.setTimeout(60_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

test('a service with a name of its own has its branches, its gate and its commits under that name alone', async () => {
  const world = await worlds.create({ queueName: 'train', repo: { statusContext: 'train' } });
  const { forge } = world;
  await givenProject(forge);
  await forge.pushToBase({
    '.forgejo/workflows/mq-gate.yaml': null,
    '.forgejo/workflows/train-gate.yaml': gateWorkflow('train'),
  });
  await forge.setProtection({ requiredContexts: ['train'] });
  const prs = [await givenScheduled(forge, 'one', '1'), await givenScheduled(forge, 'two', '2')];
  const seen = new Set<string>();
  await world.drain({
    maxMs: 30 * 60_000,
    afterEach: async () => {
      for (const branch of await forge.branches()) seen.add(branch);
      return true;
    },
  });
  expect((await endingOf(world, prs)).landed).toEqual(prs);
  await expectHonestEnd(world, prs);
  const own = [...seen].filter((branch) => /staging|-work\//.test(branch));
  expect(own).toContain('train/main/staging');
  expect(own.filter((branch) => !/^train(-work)?\//.test(branch))).toEqual([]);
});
