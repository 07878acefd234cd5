import { gitWorlds } from './git-world.ts';
import { expectHonestEnd, givenProject, givenScheduled } from './stories.ts';
import type { World } from './world.ts';

jest.setTimeout(120_000);

const worlds = gitWorlds('fj15');
afterEach(() => worlds.closeAll());

/** Requests of the bot since the last count, by label. */
function takeCalls(world: World): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const call of world.forge.calls()) {
    if (call.by === 'mq-bot') counts[call.call] = (counts[call.call] ?? 0) + 1;
  }
  world.forge.clearCalls();
  return counts;
}
const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** A repository whose record is settled: one pull request has landed, nothing is left to find out. */
async function createSettled(): Promise<World> {
  const world = await worlds.create();
  await givenProject(world.forge);
  world.forge.gateDurationMs = 2_000;
  const first = await givenScheduled(world.forge, 'first');
  await world.drain();
  expect((await world.forge.pull(first)).merged).toBe(true);
  return world;
}

async function landBatch(world: World, size: number) {
  const prs: number[] = [];
  for (let index = 1; index <= size; index += 1) {
    prs.push(await givenScheduled(world.forge, `p${size}-${index}`));
  }
  await world.clock.advance(60_000);
  const landed = world.forge.merges().length;
  const runs = world.forge.runs().length;
  takeCalls(world);
  await world.drain({
    until: async () =>
      (await world.record()).roots.length === 0 && world.forge.merges().length === landed + size,
  });
  const counts = takeCalls(world);
  expect(world.forge.runs().length).toBe(runs + 1);
  await world.drain();
  await expectHonestEnd(world, prs);
  return counts;
}

/**
 * Per pull request: its tree, its patch, a last look at it, its status, and two reads that prove its merge (the forges
 * name the tree of a commit in another call than its parents). Its timeline is read once when it is scheduled, and the
 * rest is shared: list, rule, base tree, runs, branches. None of the six can be shared: only the timeline knows a
 * schedule, only the tree knows ids, a list is no last look before a post, and each landing is proven before the next
 * one is opened (A2), its tree and its parents in two answers.
 */
test('a batch lands with six calls per pull request and one to find it, whatever its size', async () => {
  const world = await createSettled();
  const alone = await landBatch(world, 1);
  const four = await landBatch(world, 4);
  const eight = await landBatch(world, 8);
  const TIMELINE = 'GET issues/{n}/timeline';
  expect([alone, four, eight].map((counts) => counts[TIMELINE])).toEqual([1, 4, 8]);
  const work = (counts: Readonly<Record<string, number>>) => sum(counts) - (counts[TIMELINE] ?? 0);
  expect((work(eight) - work(four)) / 4).toBeLessThanOrEqual(6);
  expect(work(alone)).toBeLessThanOrEqual(16);
  expect(work(eight)).toBeLessThanOrEqual(62);
  expect(eight).toMatchObject({
    'POST diffpatch': 8,
    'POST statuses/{sha}': 8,
    'GET branch_protections': 2,
    'GET git/commits/{sha}': 8,
  });
  expect(eight['GET commits?not'] ?? 0).toBe(0);
});

test('an idle repository with 100 open pull requests that nobody scheduled', async () => {
  const world = await worlds.create();
  await givenProject(world.forge);
  for (let index = 1; index <= 100; index += 1) {
    await world.forge.openPullRequest({ branch: `p${index}`, files: { [`src/p${index}.txt`]: 'x\n' } });
  }
  await world.clock.advance(60_000);
  await world.reconcile();
  takeCalls(world);
  for (let look = 0; look < 3; look += 1) {
    await world.clock.advance(300_000);
    await world.reconcile();
    const counts = takeCalls(world);
    expect(Object.keys(counts)).toEqual(['GET pulls']);
    expect(sum(counts)).toBeLessThanOrEqual(4);
  }
});
