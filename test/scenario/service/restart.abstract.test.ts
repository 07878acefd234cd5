import { wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

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

test('it begins while nothing is scheduled: the first schedule goes on as ever', async () => {
  const world = await createWorld({ lastingEngine: true, mayBeOlder: true });
  const { forge } = world;
  await givenProject(forge);
  for (let index = 0; index < 30; index += 1)
    await forge.openPullRequest({ branch: `idle${index}`, files: { [`idle${index}.txt`]: 'x' } });
  for (let looks = 0; looks < 4; looks += 1) await world.reconcile();
  world.restartEngine();
  for (let looks = 0; looks < 4; looks += 1) {
    await world.reconcile();
    await world.clock.advance(MINUTE_MS);
  }
  expect((await world.record()).reread).toBeUndefined();
  await givenScheduled(forge, 'a');
  expect(await minutesToFirstMerge(world)).toBeLessThan(5);
});

test('a queue that is off comes to rest', async () => {
  const world = await createWorld({ lastingEngine: true, mayBeOlder: true });
  await givenProject(world.forge);
  await world.forge.openPullRequest({ branch: 'idle', files: { 'idle.txt': 'x' } });
  await world.reconcile();
  await world.settings({ queueEnabled: false });
  world.restartEngine();
  for (let looks = 0; looks < 3; looks += 1) {
    await world.reconcile();
    await world.clock.advance(MINUTE_MS);
  }
  expect(await world.store.readObligations('repo-1')).toMatchObject({ open: false });
});

test('a head that never had a status, and that can be neither read nor written, holds up no other for long', async () => {
  const world = await createWorld({ lastingEngine: true, mayBeOlder: true });
  const { forge } = world;
  await givenProject(forge);
  const broken = await forge.openPullRequest({ branch: 'broken', files: { 'broken.txt': 'x' } });
  await world.reconcile();
  const { headSha } = await forge.pull(broken);
  forge.fault = ({ path }) => (path.includes(headSha) && path.includes('status') ? { status: 500 } : null);
  world.restartEngine();
  await forge.schedule(broken);
  await givenScheduled(forge, 'a');
  expect(await minutesToFirstMerge(world)).toBeLessThan(10);
  expect(world.log.filter(({ fields }) => fields.alarm !== undefined)).toEqual([]);
  expect((await world.record()).pendingStatuses.filter(({ takesBack }) => takesBack === true)).toEqual([]);
});
