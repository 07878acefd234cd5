import { LATE_PUSH_ENTRY_MS } from '../../../engine-container/src/queue/admission/eligibility.ts';
import { gitWorlds } from '../git-world.ts';
import { expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import type { World } from '../world.ts';

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

/** From a line of `size` to the look that finds nothing left, by engines that remember nothing but the record. */
async function landBatch(world: World, size: number) {
  const prs: number[] = [];
  for (let index = 1; index <= size; index += 1) {
    prs.push(await givenScheduled(world.forge, `p${size}-${index}`));
  }
  // So long after the schedules no success waits for a push that is written down late.
  await world.clock.advance(LATE_PUSH_ENTRY_MS);
  const landed = world.forge.merges().length;
  const runs = world.forge.runs().length;
  takeCalls(world);
  await world.drain({
    until: async () =>
      (await world.record()).batches.length === 0 && world.forge.merges().length === landed + size,
  });
  const counts = takeCalls(world);
  expect(world.forge.runs().length).toBe(runs + 1);
  await world.drain();
  await expectHonestEnd(world, prs);
  return counts;
}

/**
 * Each has its timeline read when it is seen and right before it lands, its statuses and its tree once, whether it holds the
 * base, a patch, a last look at it and at what changed last, the word that it is staged, its `success` and the word that takes
 * its place, and the tree of its merge: only the timeline knows a schedule, only trees know ids, only a listing knows that two
 * commits have one in common, and a base is proven before anything else is opened on it (A2). All the rest is one call for the
 * batch: list, rule, who may write, base tree, gate, whose push began it, history of the landings and whose merges they are, the branches' ends, and the list
 * that finds nothing left.
 */
test('on Forgejo a batch lands with thirteen calls per pull request and eleven more', async () => {
  const world = await createSettled();
  const sizes = [4, 8, 16];
  const counts = [];
  for (const size of sizes) counts.push(await landBatch(world, size));
  expect(counts.map(sum)).toEqual(sizes.map((size) => PER_PULL_REQUEST * size + PER_BATCH));
  expect(counts[1]).toEqual({
    'GET pulls': 11,
    'GET branch_protections': 1,
    'GET issues/{n}/timeline': 16,
    'GET commits/{sha}/status': 8,
    'GET git/trees/{sha}': 17,
    'POST diffpatch': 8,
    'GET actions/runs': 1,
    'GET user': 1,
    'GET pulls/{n}': 8,
    'GET tags/{tag}': 8,
    'POST statuses/{sha}': 24,
    'GET commits': 9,
    'DELETE branches/{branch}': 2,
    'GET assignees': 1,
  });
});
/** One of them is for a tag of the name of the base, of which Gitea is not asked (decision 0323). */
const PER_PULL_REQUEST = 13;
const PER_BATCH = 11;

test('an idle repository with 100 open pull requests that are not scheduled', async () => {
  const world = await worlds.create();
  await givenProject(world.forge);
  for (let index = 1; index <= 100; index += 1) {
    await world.forge.openPullRequest({ branch: `p${index}`, files: { [`src/p${index}.txt`]: 'x\n' } });
  }
  // Seen once, and once more when their time stamps can no longer hide a change.
  for (let look = 0; look < 2; look += 1) {
    await world.clock.advance(60_000);
    await world.reconcile();
  }
  takeCalls(world);
  for (let look = 0; look < 3; look += 1) {
    await world.clock.advance(300_000);
    await world.reconcile();
    const counts = takeCalls(world);
    // Two pages, and the statuses of two of them, in turn (A7).
    expect(counts).toEqual({ 'GET pulls': 2, 'GET commits/{sha}/status': 2 });
  }
});
