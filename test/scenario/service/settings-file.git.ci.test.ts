import { gitWorlds } from '../git-world.ts';
import { landedOf } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';

jest.setTimeout(60_000);

/** The settings file, read by the real client from real git: its listing is that of the tree, not of the commit. */
const FILE = '.mergeyard.yml';
const worlds = { fj15: gitWorlds('fj15'), gt126: gitWorlds('gt126') };
afterEach(async () => {
  for (const each of Object.values(worlds)) await each.closeAll();
});

test.each(['fj15', 'gt126'] as const)(
  'a change of the file is told, lands and then holds, also after a wrong one (%s)',
  async (profile) => {
    const world = await worlds[profile].create({ repo: { settingsFile: true } });
    await givenProject(world.forge, { [FILE]: 'batch_target: 2\n' });
    const pr = await givenScheduled(world.forge, 'a', 'batch_target: 8\nlow_labels: [chore]\n', {
      path: FILE,
    });
    await world.drain({ until: () => world.forge.runs().length > 0 });
    const { settingsSeen, entries } = await world.record();
    expect(settingsSeen?.values).toEqual({ batch_target: 2 });
    expect(entries[0]?.settingsNote?.says).toBe('batch_target 2 -> 8; low_labels [] -> ["chore"]');
    await world.drain();
    await world.forge.pushToBase({ [FILE]: 'batch_target: many\n' });
    await world.drain();
    expect([landedOf(world), (await world.record()).settingsSeen]).toEqual([
      [pr],
      expect.objectContaining({
        commit: await world.forge.tip('main'),
        values: { batch_target: 8, low_labels: ['chore'] },
        problems: [expect.objectContaining({ line: 1, key: 'batch_target' })],
      }),
    ]);
  },
);
