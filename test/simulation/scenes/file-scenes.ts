import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes about the settings file of a repository (decisions 0237 and 0238). */

const MINUTE_MS = 60_000;
const FILE = '.mergeyard.yml';
const WRONG = 'bisect_fanout: many\n';

/** The stored fan-out allows sixteen gate runs at once; `file` is on the base. */
async function givenStage(file: string | null, options: Parameters<typeof setStage>[0] = {}): Promise<Stage> {
  const stage = await setStage({ ...options, repo: { settingsFile: true, bisectFanout: 16 } });
  await givenProject(stage.forge, file === null ? {} : { [FILE]: file });
  stage.forge.gateDurationMs = 5 * MINUTE_MS;
  await look(stage, 2);
  return stage;
}

/** Looks for an hour while every second pull request of many fails. Returns how many gate runs were out at once, at most. */
async function mostOfMany(stage: Stage): Promise<number> {
  for (let each = 1; each <= 12; each += 1)
    await givenScheduled(stage.forge, `b${each}`, each % 2 === 0 ? 'BAD\n' : `${each}\n`);
  let most = 0;
  for (let looks = 0; looks < 120; looks += 1) {
    await look(stage, 1);
    most = Math.max(most, stage.forge.runs().filter(({ state }) => state === 'running').length);
  }
  return most;
}

const tooMany = (most: number, max: number): readonly string[] =>
  most > max ? [`${most} gate runs were out at once, and the settings file allows ${max}`] : [];

/** A file on the base allows one gate run at once; the stored fan-out allows more. */
async function obeyFile(): Promise<readonly string[]> {
  return tooMany(await mostOfMany(await givenStage('bisect_fanout: 1\n')), 1);
}

/** A file that is in force becomes wrong on the base. */
async function makeFileWrong(): Promise<readonly string[]> {
  const stage = await givenStage('bisect_fanout: 1\n');
  await stage.forge.pushToBase({ [FILE]: WRONG });
  await look(stage, 2);
  return tooMany(await mostOfMany(stage), 1);
}

/** Asked for the tree of a base that has moved, the forge lists another one, again and again. */
async function listOtherTree(): Promise<readonly string[]> {
  let isOther = false;
  const stage = await givenStage('bisect_fanout: 1\n', {
    wrapForge: (forge) => ({
      ...forge,
      readTree: async (id, depth) => {
        const listing = await forge.readTree(id, depth);
        return isOther && depth === 'one' ? { tree: 'f'.repeat(40), entries: [] } : listing;
      },
    }),
  });
  isOther = true;
  await stage.forge.pushToBase({ 'other.txt': 'x\n' });
  await look(stage, 4);
  const { settingsSeen } = await stage.record();
  return settingsSeen?.values.bisect_fanout === 1
    ? []
    : ['another tree was read as a base without the settings file'];
}

/** The file on the base changes, and is then taken away. */
async function changeAndRemoveFile(): Promise<readonly string[]> {
  const stage = await givenStage('bisect_fanout: 2\n');
  const problems: string[] = [];
  const expectFanout = async (fanout: number | undefined, what: string): Promise<void> => {
    await look(stage, 2);
    if ((await stage.record()).settingsSeen?.values.bisect_fanout !== fanout) problems.push(what);
  };
  await stage.forge.pushToBase({ [FILE]: 'bisect_fanout: 3\n' });
  await expectFanout(3, 'a change of the settings file did not take effect');
  await stage.forge.pushToBase({ [FILE]: null });
  await expectFanout(undefined, 'a settings file that is gone is still obeyed');
  return problems;
}

/** A landing changes the file, and then the list shows the base of before for some seconds. */
async function seeBaseLate(): Promise<readonly string[]> {
  const stage = await givenStage('bisect_fanout: 1\n');
  stage.forge.lags = { ...NO_LAGS, listRefs: 15_000 };
  stage.forge.gateDurationMs = 30_000;
  const pr = await givenScheduled(stage.forge, 'a', 'bisect_fanout: 2\n', { path: FILE });
  const went: unknown[] = [];
  let isOpened = false;
  for (let looks = 0; looks < 200; looks += 1) {
    await stage.reconcile();
    await stage.clock.advance(1_000);
    const value = (await stage.record()).settingsSeen?.values.bisect_fanout;
    if (value !== went.at(-1)) went.push(value);
    if (value === 2 && !isOpened) {
      isOpened = true;
      await givenScheduled(stage.forge, 'late');
    }
  }
  if (!stage.forge.isMerged(pr) || !isOpened) return ['the scene did not come about'];
  return went.join() === '1,2' ? [] : [`settings went back with a late reading of the base: ${went.join()}`];
}

/** A change of the file is staged, and staged again because the base moves. */
async function tellChangeTwice(): Promise<readonly string[]> {
  const stage = await givenStage('bisect_fanout: 1\n');
  const pr = await givenScheduled(stage.forge, 'a', 'bisect_fanout: 2\n', { path: FILE });
  await look(stage, 4);
  await stage.forge.pushToBase({ 'other.txt': 'x\n' });
  await look(stage, 6);
  const runs = stage.forge.runs().length;
  const head = (await stage.forge.pull(pr)).headSha;
  const words = stage.forge.statusHistory(head).filter(({ description }) => description.includes(FILE));
  if (runs < 2) return ['the scene did not come about'];
  if (words.length > 1) return ['a change of settings was told again though its words stood'];
  return words.length === 1 ? [] : ['a change of settings was not told'];
}

export const FILE_SCENES = {
  'a settings file allows one gate run, and the page sixteen': obeyFile,
  'a settings file on the base becomes wrong': makeFileWrong,
  'the forge lists another tree than that of the base': listOtherTree,
  'a settings file changes and is taken away': changeAndRemoveFile,
  'a settings file lands, and the list shows the base of before': seeBaseLate,
  'a change of a settings file is staged twice': tellChangeTwice,
} satisfies Scenes;
