import { FORGE_ROWS_MAX } from '#core/domain/limits.ts';
import { countListings, gitWorlds } from '../git-world.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import type { DeskChange, DeskCommit } from '../trees/git-desk.ts';
import type { World } from '../world.ts';

jest.setTimeout(240_000);

const MINUTE_MS = 60_000;
const worlds = gitWorlds('gt126');
afterEach(() => worlds.closeAll());

const file = (path: string, content: string): DeskChange => ({ [path]: { mode: '100644', content } });

/** More commits than one listing may have, the last ones of which change something; the base goes on beside it. */
async function givenImport(world: World): Promise<number> {
  const desk = await worlds.openDesk(world);
  await desk.readLine('main');
  const commits: DeskCommit[] = [];
  for (let at = 0; at <= FORGE_ROWS_MAX; at += 1) {
    const parent = at === 0 ? await world.forge.tip('main') : at - 1;
    commits.push({ parent, change: file('src/import.txt', `${at}\n`), message: 'x' });
  }
  const head = (await desk.commitAll(commits)).at(-1) ?? '';
  await desk.push({ import: head });
  const pr = await world.forge.openPullRequest({ branch: 'import', head });
  await world.forge.pushToBase({ 'other.txt': 'one more\n' });
  await world.clock.advance(MINUTE_MS);
  return pr;
}

test.each(['squash', 'merge'] as const)(
  '%s: an import of more commits than one listing has, behind the base, lands',
  async (style) => {
    const world = await worlds.create({ repo: { mergeStyle: style } });
    await givenProject(world.forge);
    const pr = await givenImport(world);
    await world.forge.schedule(pr, style);
    const other = await givenScheduled(world.forge, 'other', 'b\n', { style });
    world.forge.clearCalls();
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, [pr, other])).landed).toEqual([pr, other]);
    expect(countListings(world)).toBeLessThan(25);
    await expectHonestEnd(world, [pr, other]);
  },
);

test('rebase: an import of more commits than one listing has is refused at once, with a step that helps', async () => {
  const world = await worlds.create({ repo: { mergeStyle: 'rebase' } });
  await givenProject(world.forge);
  const pr = await givenImport(world);
  await world.forge.schedule(pr, 'rebase');
  const other = await givenScheduled(world.forge, 'other', 'b\n', { style: 'rebase' });
  world.forge.clearCalls();
  await world.drain({ maxMs: 120 * MINUTE_MS });
  expect((await endingOf(world, [pr, other])).landed).toEqual([other]);
  const { headSha } = await world.forge.pull(pr);
  expect((await world.forge.status(headSha, 'mq'))?.description).toMatch(
    /^refused: more than 10,000 commits/,
  );
  expect(countListings(world)).toBeLessThan(15);
  await expectHonestEnd(world, [pr, other]);
});

test('merge: what stands early in such an import waits for it, and lands as git merges it', async () => {
  const world = await worlds.create({ repo: { mergeStyle: 'merge' } });
  await givenProject(world.forge);
  const pr = await givenImport(world);
  const early = `${(await world.forge.pull(pr)).headSha}~${FORGE_ROWS_MAX - 20}`;
  const top = await world.forge.openPullRequest({
    branch: 'top',
    from: early,
    files: { 'src/top.txt': 'x\n' },
  });
  await world.clock.advance(MINUTE_MS);
  for (const each of [pr, top]) await world.forge.schedule(each, 'merge');
  await world.drain({ maxMs: 30 * MINUTE_MS });
  expect((await endingOf(world, [pr, top])).landed).toEqual([pr, top]);
  expect((await world.record()).halted).toBeNull();
  const files = await world.forge.readFiles(await world.forge.tip('main'));
  expect(files.get('src/import.txt')).toBe(`${FORGE_ROWS_MAX}\n`);
  await expectHonestEnd(world, [pr, top]);
});
