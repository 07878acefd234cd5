import { landedOf } from './hooks.ts';
import { expectHonestEnd, givenProject, givenScheduled } from './stories.ts';
import { givenThreeScheduled } from './three-scheduled.ts';
import { createWorld } from './world.ts';

/** The author sees on the forge where a pull request stands, with one word for each change of that (decision 0079). */
const MINUTE_MS = 60_000;
const QUEUED = 'queued: waits for its batch';
const STAGED = 'staged: in a batch whose gate run judges it';

type World = Awaited<ReturnType<typeof createWorld>>;

async function wordsOn(world: World, pr: number): Promise<readonly (string | undefined)[]> {
  const { headSha } = await world.forge.pull(pr);
  return world.forge.statusHistory(headSha).map(({ description }) => description);
}

test('one that is staged at once is told so with one word, however often it is looked at', async () => {
  const { world, a, b, c } = await givenThreeScheduled();
  world.forge.gateDurationMs = 30 * MINUTE_MS;
  await world.drain({ until: () => world.forge.runs().length > 0 });
  for (let look = 0; look < 5; look += 1) await world.reconcile();
  for (const pr of [a, b, c]) expect(await wordsOn(world, pr)).toEqual([STAGED]);
  await world.drain();
  expect(landedOf(world)).toEqual([a, b, c]);
  for (const pr of [a, b, c]) expect(await wordsOn(world, pr)).toHaveLength(3);
});

test('one that waits for its batch is told so, and that it is staged once it is', async () => {
  const { world } = await givenThreeScheduled({ repo: { bisectFanout: 1 } });
  world.forge.gateDurationMs = 30 * MINUTE_MS;
  await world.drain({ until: () => world.forge.runs().length > 0 });
  const late = await givenScheduled(world.forge, 'late');
  await world.clock.advance(MINUTE_MS);
  await world.reconcile();
  expect(await wordsOn(world, late)).toEqual([QUEUED]);
  await world.drain({ until: () => world.forge.runs().length > 1 });
  await world.reconcile();
  expect(await wordsOn(world, late)).toEqual([QUEUED, STAGED]);
  await world.drain();
  await expectHonestEnd(world, [late]);
});

test('of two pull requests with one head one speaks', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const first = await givenScheduled(world.forge, 'a');
  const twin = await world.forge.openPullRequest({
    branch: 'twin',
    head: (await world.forge.pull(first)).headSha,
  });
  await world.forge.schedule(twin, 'squash');
  world.forge.gateDurationMs = 30 * MINUTE_MS;
  await world.drain({ until: () => world.forge.runs().length > 0 });
  for (let look = 0; look < 5; look += 1) await world.reconcile();
  expect(await wordsOn(world, first)).toEqual([STAGED]);
});

test('a look that only writes a word does not forget when the next batch may start', async () => {
  const world = await createWorld({ repo: { bisectFanout: 8, wakeupMode: 'webhook' } });
  await givenProject(world.forge);
  world.forge.gateDurationMs = 9 * MINUTE_MS;
  await givenScheduled(world.forge, 'first');
  await world.drain();
  await world.clock.advance(MINUTE_MS);
  await world.store.noteHeard('repo-1', 'run', world.clock.now());
  await givenScheduled(world.forge, 'below');
  const runs = world.forge.runs().length;
  await world.drain({ until: () => world.forge.runs().length > runs });
  await givenScheduled(world.forge, 'above');
  await world.clock.advance(MINUTE_MS / 4);
  const report = await world.reconcile();
  const { batches } = await world.record();
  expect(batches).toHaveLength(1);
  expect(world.forge.calls().at(-1)?.call).toBe('POST statuses/{sha}');
  // Three places of the pipeline share the time of a gate run.
  const waitMs = (report?.wakeAt ?? Number.POSITIVE_INFINITY) - (batches[0]?.createdAt ?? 0);
  expect(Math.round(waitMs / MINUTE_MS)).toBe(3);
});
