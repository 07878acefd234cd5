import { gitWorlds } from '../git-world.ts';
import { landedOf, told } from '../hooks.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../stories.ts';
import type { World } from '../world.ts';

jest.setTimeout(120_000);

const MINUTE_MS = 60_000;
const worlds = gitWorlds('gt126');
/** It shows the same head everywhere, and keeps another one. */
const agreeing = gitWorlds('fj15');
afterEach(async () => {
  await worlds.closeAll();
  await agreeing.closeAll();
});

/** Deleted by mistake, made again with another commit, and the pull request opened again, with its schedule. */
async function makeBranchAgain(world: World, pr: number, branch: string): Promise<string> {
  const { forge } = world;
  const before = (await forge.pull(pr)).headSha;
  await forge.deleteBranch(branch);
  await world.drain({ until: async () => (await forge.pull(pr)).state === 'closed' });
  const other = await forge.openPullRequest({ branch: 'other', files: { 'src/other.txt': 'other\n' } });
  await forge.pushBranch(branch, (await forge.pull(other)).headSha);
  await forge.close(other);
  await world.drain({ maxMs: MINUTE_MS });
  await forge.reopen(pr);
  return before;
}

/** A forge that shows one head in its list and another one where it is asked for the pull request. */
async function givenTwoHeads() {
  const world = await worlds.create();
  await givenProject(world.forge);
  const torn = await givenScheduled(world.forge, 'torn');
  const kept = await makeBranchAgain(world, torn, 'torn');
  const good = await givenScheduled(world.forge, 'good');
  return { world, torn, good, kept };
}

test('is told so with a step, is staged no more for it, and holds up no other', async () => {
  const { world, torn, good, kept } = await givenTwoHeads();
  await world.drain({ maxMs: 25 * MINUTE_MS });
  expect(landedOf(world)).toEqual([good]);
  expect((await world.forge.status(kept, 'mq'))?.description).toMatch(/^waiting: the forge shows two heads/);
  const events = await told(world, torn);
  expect(events.filter((each) => each === 'pr_refused:heads_differ')).toHaveLength(1);
  // The first time the two had still time to agree.
  expect(events.filter((each) => each === 'pr_requeued:candidate_changed')).toHaveLength(1);
  expect(events.filter((each) => each.startsWith('pr_staged')).length).toBeLessThanOrEqual(2);
});

test('lands once a commit is pushed to its branch', async () => {
  const { world, torn, good } = await givenTwoHeads();
  await world.drain({ maxMs: 5 * MINUTE_MS });
  await world.forge.pushToPullRequest(torn, { 'src/more.txt': 'more\n' });
  await world.drain({ maxMs: 5 * MINUTE_MS, until: () => landedOf(world).length === 2 });
  expect(landedOf(world).toSorted()).toEqual([torn, good].toSorted());
  expect(await unprovenLandings(world.forge)).toEqual([]);
});

/** A push while the pull request was closed: opened again by a call, the forge goes on to keep the head of before. */
async function givenKeptHead() {
  const world = await agreeing.create();
  await givenProject(world.forge);
  const torn = await world.forge.openPullRequest({ branch: 'torn', files: { 'src/torn.txt': 'torn\n' } });
  await world.forge.close(torn);
  await world.forge.pushBranch('torn', await commitOver(world, torn));
  await world.drain({ maxMs: MINUTE_MS });
  await world.forge.reopen(torn);
  await world.forge.schedule(torn);
  const good = await givenScheduled(world.forge, 'good');
  return { world, torn, good };
}

async function commitOver(world: World, pr: number): Promise<string> {
  const other = await world.forge.openPullRequest({ branch: 'other', files: { 'src/other.txt': 'other\n' } });
  const { headSha } = await world.forge.pull(other);
  await world.forge.close(other);
  expect((await world.forge.pull(pr)).headSha).not.toBe(headSha);
  return headSha;
}

test('a head that the forge does not keep is told so after its first landing, blames no change, and holds up no other', async () => {
  const { world, torn, good } = await givenKeptHead();
  await world.drain({ maxMs: 25 * MINUTE_MS });
  expect(landedOf(world)).toEqual([good]);
  const { headSha } = await world.forge.pull(torn);
  expect((await world.forge.status(headSha, 'mq'))?.description).toMatch(
    /^waiting: the forge shows two heads/,
  );
  const events = await told(world, torn);
  expect(events.filter((each) => each === 'pr_refused:heads_differ')).toHaveLength(1);
  expect(events.filter((each) => /merge_timeout|bounced/.test(each))).toEqual([]);
  await world.forge.pushToPullRequest(torn, { 'src/more.txt': 'more\n' });
  await world.drain({ maxMs: 5 * MINUTE_MS, until: () => landedOf(world).length === 2 });
  expect(landedOf(world).toSorted()).toEqual([torn, good].toSorted());
  expect(await unprovenLandings(world.forge)).toEqual([]);
});
