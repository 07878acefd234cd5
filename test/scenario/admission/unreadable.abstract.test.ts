import { givenProject, givenScheduled, staleSuccesses, unprovenLandings } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const MINUTE_MS = 60_000;

async function givenThree(world: World): Promise<readonly [number, number, number]> {
  await givenProject(world.forge);
  return [
    await givenScheduled(world.forge, 'a'),
    await givenScheduled(world.forge, 'b'),
    await givenScheduled(world.forge, 'c'),
  ];
}

const landed = (world: World) => world.forge.merges().map((merge) => merge.pr);

async function wordsOn(world: World, pr: number): Promise<string> {
  const { headSha } = await world.forge.pull(pr);
  return (await world.forge.status(headSha, 'mq'))?.description ?? '';
}

test('one that cannot be read when it is its turn to land keeps no other waiting, and is told why', async () => {
  const world = await createWorld();
  const [first, second, third] = await givenThree(world);
  world.forge.fault = ({ path }) => (path.endsWith(`/pulls/${second}`) ? { status: 500 } : null);
  await world.drain({ maxMs: 20 * MINUTE_MS });
  expect(landed(world)).toEqual([first, third]);
  expect(await wordsOn(world, second)).toMatch(
    /^waiting: the forge fails each time the queue stages or lands this pull request/,
  );
});

test('one that cannot be read any more after its success gives it back after the time of any landing', async () => {
  const world = await createWorld();
  const [first, second, third] = await givenThree(world);
  const { headSha } = await world.forge.pull(second);
  world.forge.mergeBehaviour = (pr) => (pr === second ? { kind: 'lost' } : { kind: 'now' });
  const isOpened = async () => (await world.forge.status(headSha, 'mq'))?.state === 'success';
  await world.drain({ until: isOpened });
  world.forge.fault = ({ path }) => (path.endsWith(`/pulls/${second}`) ? { status: 502 } : null);
  await world.drain({ maxMs: 40 * MINUTE_MS });
  expect(landed(world)).toEqual([first, third]);
  expect(await staleSuccesses(world.forge, [second])).toEqual([]);
  expect(await unprovenLandings(world.forge)).toEqual([]);
  expect((await world.events()).map(({ event }) => event)).not.toContain('pr_bounced');
});

test('a head that the forge shows and never has is told of after ten minutes', async () => {
  const world = await createWorld();
  const [first, second, third] = await givenThree(world);
  const { headSha } = await world.forge.pull(second);
  world.forge.fault = ({ path }) => (path.includes(`/git/trees/${headSha}`) ? { status: 404 } : null);
  await world.drain({ maxMs: 5 * MINUTE_MS });
  expect(landed(world)).toEqual([first, third]);
  expect(await wordsOn(world, second)).toMatch(/^queued:/);
  await world.drain({ maxMs: 15 * MINUTE_MS });
  expect(await wordsOn(world, second)).toMatch(
    /^waiting: the forge fails each time the queue stages or lands this pull request/,
  );
});
