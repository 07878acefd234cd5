import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorldOn } from '../world.ts';
import { defineForgeConflictTests } from './forge-conflict.suite.ts';

const MINUTE_MS = 60_000;

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
  expect(status?.description).toMatch(/^refused: the forge has called it a conflict/);
  const told = (await world.events()).filter((each) => each.pr === conflict && each.event === 'pr_refused');
  expect(told.map(({ reason }) => reason)).toEqual(['forge_conflict']);
  await expectHonestEnd(world, [ahead, conflict, behind]);
});
