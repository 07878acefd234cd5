import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorldOn } from '../world.ts';
import { defineForgeConflictTests } from './forge-conflict.suite.ts';

const MINUTE_MS = 60_000;
const REFUSED = /^refused: git merges it, but the forge calls it a conflict/;

function createWorld() {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches: { modesClash: true } });
  return createWorldOn(clock, forge, forge.forge, {});
}

defineForgeConflictTests('mode', createWorld);

test('a success that was posted on a reading from before the landing ahead delays the others by minutes', async () => {
  const world = await createWorld();
  const lines = Array.from({ length: 12 }, (_, at) => `line ${at}\n`).join('');
  await givenProject(world.forge, { 'src/old.txt': lines });
  const open = async (branch: string, content: string, mode: '100644' | '100755') => {
    const pr = await world.forge.openPullRequest({ branch, files: { 'src/old.txt': { content, mode } } });
    await world.forge.schedule(pr, 'merge');
    return pr;
  };
  const ahead = await open('mode', lines, '100755');
  const conflict = await open('content', `first\n${lines}`, '100644');
  const behind = await givenScheduled(world.forge, 'behind');
  world.forge.lags = { ...NO_LAGS, pull: 10_000 };
  await world.drain({ maxMs: 8 * MINUTE_MS });
  expect(await endingOf(world, [ahead, conflict, behind])).toMatchObject({
    landed: [ahead, behind],
    bounced: [],
  });
  await world.drain({ maxMs: 120 * MINUTE_MS });
  const { headSha } = await world.forge.pull(conflict);
  const status = await world.forge.status(headSha, 'mq');
  expect(status?.description).toMatch(REFUSED);
  const told = (await world.events()).filter((each) => each.pr === conflict && each.event === 'pr_refused');
  expect(told.map(({ reason }) => reason)).toEqual(['forge_conflict']);
  await expectHonestEnd(world, [ahead, conflict, behind]);
});

/** The base changes what it changes the mode of. */
async function givenModeConflict(world: Awaited<ReturnType<typeof createWorld>>): Promise<number> {
  await givenProject(world.forge, { 'src/old.txt': 'one\ntwo\n' });
  const files = { 'src/old.txt': { content: 'one\ntwo\n', mode: '100755' } } as const;
  const pr = await world.forge.openPullRequest({ branch: 'mode', files });
  await world.forge.schedule(pr, 'squash');
  await world.forge.pushToBase({ 'src/old.txt': 'first\none\ntwo\n' });
  return pr;
}

async function descriptionOn(world: Awaited<ReturnType<typeof createWorld>>, pr: number): Promise<string> {
  const { headSha } = await world.forge.pull(pr);
  return (await world.forge.status(headSha, 'mq'))?.description ?? '';
}

test('nine others in its batch pay once, and its author is told minutes after they have landed', async () => {
  const world = await createWorld();
  const pr = await givenModeConflict(world);
  const others: number[] = [];
  for (let at = 0; at < 9; at += 1) others.push(await givenScheduled(world.forge, `a${at}`));
  await world.drain({ maxMs: 15 * MINUTE_MS });
  expect((await endingOf(world, [pr])).landed).toEqual(others);
  expect(world.forge.runs()).toHaveLength(2);
  expect(await descriptionOn(world, pr)).toMatch(REFUSED);
});

test('its author is told in minutes where the forge calls another open one mergeable, scheduled or not', async () => {
  const world = await createWorld();
  const pr = await givenModeConflict(world);
  await world.forge.openPullRequest({ branch: 'open', files: { 'src/open.txt': '1\n' } });
  await world.drain({ maxMs: 5 * MINUTE_MS });
  expect(await descriptionOn(world, pr)).toMatch(/^waiting: the forge does not call it mergeable/);
  await world.drain({ maxMs: 5 * MINUTE_MS });
  expect(await descriptionOn(world, pr)).toMatch(REFUSED);
});

test('while the forge ends no check, none is refused for it, and all land once it does', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
  await world.forge.openPullRequest({ branch: 'open', files: { 'src/open.txt': '1\n' } });
  world.forge.checkDelayMs = 55 * MINUTE_MS;
  await world.forge.pushToBase({ 'z.txt': 'z\n' });
  await world.drain({ maxMs: 45 * MINUTE_MS });
  for (const pr of prs)
    expect(await descriptionOn(world, pr)).toMatch(/^waiting: the forge does not call it mergeable/);
  world.forge.checkDelayMs = 0;
  await world.drain({ maxMs: 60 * MINUTE_MS });
  expect((await endingOf(world, prs)).landed).toEqual(prs);
  expect((await world.events()).map(({ event }) => event)).not.toContain('pr_refused');
});

test('where the forge checks only what it is asked for by its number, one that is held lands once the base lets it', async () => {
  const world = await createWorld();
  const pr = await givenModeConflict(world);
  await world.drain({ maxMs: 20 * MINUTE_MS });
  world.forge.delaysChecks = true;
  await world.forge.pushToBase({ 'src/old.txt': 'one\ntwo\n' });
  await world.drain({ maxMs: 20 * MINUTE_MS });
  expect((await endingOf(world, [pr])).landed).toEqual([pr]);
});
