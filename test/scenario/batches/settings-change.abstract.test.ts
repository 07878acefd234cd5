import type { EngineForge } from '#core/ports/forge.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { headOf, landedOf, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World, type WorldOptions } from '../world.ts';

/** A pull request that changes `.mergeyard.yml` is told what would change, before it lands (decision 0238). */
const MINUTE = 60_000;
const FILE = '.mergeyard.yml';

async function given(file: string | null, options: WorldOptions = {}): Promise<World<AbstractForge>> {
  const world = await createWorld({ ...options, repo: { settingsFile: true, ...options.repo } });
  await givenProject(world.forge, file === null ? {} : { [FILE]: file });
  return world;
}
const change = (world: World, name: string, text: string) =>
  givenScheduled(world.forge, name, text, { path: FILE });
/** All that was ever said on the head of a pull request, oldest first. */
async function saidOn(world: World<AbstractForge>, pr: number): Promise<readonly string[]> {
  return world.forge.statusHistory(await headOf(world, pr)).map(({ description }) => description);
}
const ofSettings = (said: readonly string[]) => said.filter((words) => words.includes(FILE));
/** The words in the queue as the page has it, while the gate runs. */
async function noteOf(world: World, pr: number): Promise<string | undefined> {
  return (await world.record()).entries.find((entry) => entry.pr === pr)?.settingsNote?.says;
}
const untilRun = (world: World) => world.drain({ until: () => world.forge.runs().length > 0 });

test('its author is told once what would change, in the status and in full, and it lands (A138)', async () => {
  const world = await given('batch_target: 2\n');
  const pr = await change(world, 'a', 'batch_target: 8\nbisect_fanout: 2\nlow_labels: [chore]\n');
  await untilRun(world);
  await world.reconcile();
  expect(await noteOf(world, pr)).toBe(
    'batch_target 2 -> 8; bisect_fanout 1 -> 2; low_labels [] -> ["chore"]',
  );
  await world.drain({ maxMs: 20 * MINUTE });
  expect(ofSettings(await saidOn(world, pr))).toEqual([
    'queued: .mergeyard.yml would set batch_target 2 -> 8; bisect_fanout 1 -> 2; low_labels (1)',
  ]);
  expect(landedOf(world)).toEqual([pr]);
});

test('its words stand while it is staged again with the same change, and are not written once more (A138)', async () => {
  const writes: string[] = [];
  const world = await given('batch_target: 2\n', {
    wrapForge: wrapForge(async (name, args, answer) => {
      const { description = '' } = (args[1] ?? {}) as { readonly description?: string };
      if (name === 'postStatus' && description.includes(FILE)) writes.push(description);
      return answer();
    }),
  });
  world.forge.gateDurationMs = 10 * MINUTE;
  const pr = await change(world, 'a', 'batch_target: 8\n');
  await untilRun(world);
  await world.forge.pushToBase({ 'other.txt': 'x\n' });
  await world.drain({ until: () => world.forge.runs().length > 1 });
  await world.reconcile();
  await world.drain({ maxMs: 60 * MINUTE });
  expect([landedOf(world), world.forge.runs().length]).toEqual([[pr], 2]);
  expect(writes).toEqual(['queued: .mergeyard.yml would set batch_target 2 -> 8']);
});

test('a wrong file is told with line and key, and is not refused (A138)', async () => {
  const world = await given('batch_target: 2\n');
  const pr = await change(world, 'a', 'batch_target: 2\nbisect_fanout: 99\nTHE_KEY: 1\n');
  await untilRun(world);
  await world.reconcile();
  expect(await noteOf(world, pr)).toMatch(
    /^wrong, so nothing would change: line 2: bisect_fanout: .*; line 3: "THE_KEY" is no setting$/,
  );
  await world.drain({ maxMs: 20 * MINUTE });
  expect(ofSettings(await saidOn(world, pr))).toEqual([
    'queued: .mergeyard.yml would be wrong at line 2 (bisect_fanout), line 3, so no setting would change',
  ]);
  expect([landedOf(world), (await world.record()).settingsSeen?.values]).toEqual([[pr], { batch_target: 2 }]);
});

test('a file that is taken away gives the stored values back, and that is told', async () => {
  const world = await given('batch_target: 2\n');
  const pr = await world.forge.openPullRequest({ branch: 'a', title: 'Remove', files: { [FILE]: null } });
  await world.forge.schedule(pr, 'squash');
  await world.drain({ maxMs: 20 * MINUTE });
  expect(ofSettings(await saidOn(world, pr))).toEqual([
    'queued: .mergeyard.yml would set batch_target 2 -> 0',
  ]);
});

test('of two in one batch each is told of its own change', async () => {
  const world = await given('batch_target: 2\n\n\n\n\nbisect_fanout: 1\n');
  await world.settings({ batchLingerSeconds: 60 });
  const first = await change(world, 'a', 'batch_target: 3\n\n\n\n\nbisect_fanout: 1\n');
  const second = await change(world, 'b', 'batch_target: 2\n\n\n\n\nbisect_fanout: 4\n');
  const other = await givenScheduled(world.forge, 'c');
  await world.drain({ maxMs: 30 * MINUTE });
  expect([landedOf(world), world.forge.runs().length]).toEqual([[first, second, other], 1]);
  expect(ofSettings(await saidOn(world, first))).toEqual([
    'queued: .mergeyard.yml would set batch_target 2 -> 3',
  ]);
  expect(ofSettings(await saidOn(world, second))).toEqual([
    'queued: .mergeyard.yml would set bisect_fanout 1 -> 4',
  ]);
  expect(ofSettings(await saidOn(world, other))).toEqual([]);
});

test('contents that change no setting are told of nothing, and so is a file that is not read', async () => {
  const world = await given('batch_target: 2\n');
  const pr = await change(world, 'a', '# Two.\nbatch_target: 2\n');
  await world.drain({ maxMs: 20 * MINUTE });
  expect([landedOf(world), ofSettings(await saidOn(world, pr))]).toEqual([[pr], []]);
  const off = await given('batch_target: 2\n', { repo: { settingsFile: false } });
  const there = await change(off, 'a', 'batch_target: 8\n');
  await off.drain({ maxMs: 20 * MINUTE });
  expect([landedOf(off), ofSettings(await saidOn(off, there))]).toEqual([[there], []]);
});

test('a forge that fails on the contents keeps nothing from being staged', async () => {
  let isStaged = false;
  const failing = wrapForge(async (name, _args, answer) => {
    if (name === 'applyPatch') isStaged = true;
    if (name === 'readBlob' && isStaged) throw new ForgeError('unreachable', 'GET git/blobs/{sha}', 502);
    const answered = await answer();
    return answered;
  });
  const world = await given('batch_target: 2\n', {
    wrapForge: failing as (forge: EngineForge) => EngineForge,
  });
  const pr = await change(world, 'a', 'batch_target: 8\n');
  await untilRun(world);
  isStaged = false;
  await world.drain({ maxMs: 20 * MINUTE });
  expect([landedOf(world), world.forge.runs().length, ofSettings(await saidOn(world, pr))]).toEqual([
    [pr],
    1,
    [],
  ]);
});
