import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const SECOND_MS = 1_000;
const TURN_MS = 300 * SECOND_MS;

const countOf = (world: World, label: string) =>
  world.forge.calls().filter(({ call, by }) => call === label && by === 'mq-bot').length;

/** Four open pull requests that are not scheduled, at the begin of a turn. */
async function givenFourInTurn(): Promise<World> {
  const world = await createWorld({ lastingEngine: true });
  await givenProject(world.forge);
  for (const name of ['a', 'b', 'c', 'd']) await world.forge.openPullRequest({ branch: name });
  await world.reconcile();
  await world.clock.advance(2 * TURN_MS - (world.clock.now() % TURN_MS));
  return world;
}

test('the statuses of those that are read in turn are read once a turn, however often an engine looks', async () => {
  const world = await givenFourInTurn();
  for (let turn = 0; turn < 4; turn += 1) {
    world.forge.clearCalls();
    for (let look = 0; look < 5; look += 1) {
      await world.reconcile();
      await world.clock.advance(20 * SECOND_MS);
    }
    expect(countOf(world, 'GET commits/{sha}/status')).toBe(2);
    await world.clock.advance(TURN_MS - 100 * SECOND_MS);
  }
});

test('statuses that could not be read in turn are read by the next look of the same turn', async () => {
  const world = await givenFourInTurn();
  world.forge.fault = ({ path }) => (path.includes('/status') ? { status: 502 } : null);
  await world.reconcile();
  world.forge.fault = () => null;
  world.forge.clearCalls();
  await world.clock.advance(20 * SECOND_MS);
  await world.reconcile();
  expect(countOf(world, 'GET commits/{sha}/status')).toBe(2);
});

test('who may write is asked for once for a pull request whose timeline is read again only because it was new', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  world.forge.gateDurationMs = 120 * SECOND_MS;
  // An engine that knows how long the gate takes does not wait for its end.
  await givenScheduled(world.forge, 'first');
  await world.drain({ until: () => world.forge.merges().length === 1 });
  await world.drain();
  await givenScheduled(world.forge, 'second');
  world.forge.clearCalls();
  await world.drain({ until: () => world.forge.merges().length === 2 });
  expect(countOf(world, 'GET issues/{n}/timeline')).toBe(2);
  expect(countOf(world, 'GET assignees')).toBe(1);
});
