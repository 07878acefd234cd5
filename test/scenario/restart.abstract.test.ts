import { wrapForge } from './hooks.ts';
import { givenProject, givenScheduled } from './stories.ts';
import { createWorld, type World } from './world.ts';

/** One box begins: its record may be an earlier one that was put back, so each open head is read before anything begins (decision 0232). */

const MINUTE_MS = 60_000;

/** Minutes from the start of the engine to the first merge. */
async function minutesToFirstMerge(world: World): Promise<number> {
  const begunAt = world.clock.now();
  await world.drain({ maxMs: 60 * MINUTE_MS, until: () => world.forge.merges().length > 0 });
  return (world.clock.now() - begunAt) / MINUTE_MS;
}

test('each look may be too short for all heads: those that no look has come to are read first', async () => {
  let readMs = 0;
  const world: World = await createWorld({
    lastingEngine: true,
    mayBeOlder: true,
    wrapForge: wrapForge(async (name, _asked, answer) => {
      if (name === 'readStatuses') await world.clock.advance(readMs);
      return answer();
    }),
  });
  const { forge } = world;
  await givenProject(forge);
  // All statuses of what is scheduled are read in each look.
  await forge.setProtection({ requiredContexts: ['mq', 'other/ci'] });
  const numbers: number[] = [];
  for (let index = 0; index < 60; index += 1)
    numbers.push(await forge.openPullRequest({ branch: `p${index}`, files: { [`p${index}.txt`]: 'x' } }));
  await world.reconcile();
  for (const pr of numbers) {
    await forge.postStatusAs('other-ci', (await forge.pull(pr)).headSha, 'other/ci', 'success');
    await forge.schedule(pr);
  }
  await world.clock.advance(MINUTE_MS);
  world.restartEngine();
  readMs = 250;
  expect(await minutesToFirstMerge(world)).toBeLessThan(10);
});

test('a head whose statuses take longer than a look holds up the others for minutes, not for ever', async () => {
  let slow = '';
  const world: World = await createWorld({
    lastingEngine: true,
    mayBeOlder: true,
    wrapForge: wrapForge(async (name, [sha], answer) => {
      if (name === 'readStatuses' && sha === slow) await world.clock.advance(10_000);
      return answer();
    }),
  });
  const { forge } = world;
  await givenProject(forge);
  const idle = await forge.openPullRequest({ branch: 'idle', files: { 'idle.txt': 'x' } });
  await world.reconcile();
  slow = (await forge.pull(idle)).headSha;
  await givenScheduled(forge, 'a');
  await world.clock.advance(MINUTE_MS);
  world.restartEngine();
  expect(await minutesToFirstMerge(world)).toBeLessThan(10);
});
