import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { gitWorlds } from '../git-world.ts';
import { endingOf, expectHonestEnd, givenProject } from '../stories.ts';
import type { GitDesk } from '../trees/git-desk.ts';
import type { World } from '../world.ts';

const MINUTE_MS = 60_000;
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const worlds = gitWorlds('gt126');
afterEach(() => worlds.closeAll());

/** A commit on another one, with the entries of that one, a new file and a directory with nothing in it. */
async function commitBesideEmpty(desk: GitDesk, parent: string): Promise<string> {
  await desk.git(['mktree'], Buffer.alloc(0));
  const blob = await desk.git(['hash-object', '-w', '--stdin'], Buffer.from('new\n'));
  const listed = await desk.git(['ls-tree', parent]);
  const entries = [listed, `040000 tree ${EMPTY_TREE}\tempty`, `100644 blob ${blob}\tnew.txt`, ''].join('\n');
  const tree = await desk.git(['mktree'], Buffer.from(entries));
  return desk.git(['commit-tree', tree, '-p', parent, '-m', 'Add a file beside an empty directory']);
}

/** A commit as a person makes it, through the index of git. */
async function changeByIndex(desk: GitDesk, parent: string, path: string): Promise<string> {
  await desk.git(['read-tree', parent]);
  const blob = await desk.git(['hash-object', '-w', '--stdin'], Buffer.from('changed\n'));
  await desk.git(['update-index', '--cacheinfo', `100644,${blob},${path}`]);
  return desk.git(['commit-tree', await desk.git(['write-tree']), '-p', parent, '-m', `Change ${path}`]);
}

async function givenEmptyDirectory(style: 'rebase' | 'squash' | 'merge') {
  const world = await worlds.create({ repo: { mergeStyle: style } });
  await givenProject(world.forge);
  const desk = await worlds.openDesk(world);
  await desk.readLine('main');
  const head = await commitBesideEmpty(desk, await world.forge.tip('main'));
  await desk.push({ odd: head });
  const pr = await world.forge.openPullRequest({ branch: 'odd', head });
  await world.clock.advance(MINUTE_MS);
  await world.forge.schedule(pr, style);
  await world.drain({ maxMs: 10 * MINUTE_MS });
  return { world, desk, head, pr };
}

async function listBase(world: World, desk: GitDesk): Promise<string> {
  await desk.readLine('main');
  return desk.git(['ls-tree', '-r', '-t', await world.forge.tip('main')]);
}

test('rebase: a head that would land as it is, with an empty directory, is refused, and the step that its words name lands it', async () => {
  const { world, desk, head, pr } = await givenEmptyDirectory('rebase');
  expect((await endingOf(world, [pr])).landed).toEqual([]);
  const { says } = PULL_CODES.empty_directory;
  expect(await world.forge.status(head, DEFAULT_SERVICE_NAME)).toMatchObject({ description: says });

  const made = await changeByIndex(desk, head, 'README.md');
  expect(await desk.git(['ls-tree', made])).not.toContain(EMPTY_TREE);
  await desk.push({ odd: made });
  await world.clock.advance(MINUTE_MS);
  await world.drain({ maxMs: 20 * MINUTE_MS });
  expect((await endingOf(world, [pr])).landed).toEqual([pr]);
  await expectHonestEnd(world, [pr]);
});

test.each(['squash', 'merge'] as const)(
  '%s: git leaves an empty directory out, and what lands is the tree that was proven',
  async (style) => {
    const { world, desk, pr } = await givenEmptyDirectory(style);
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    const listed = await listBase(world, desk);
    expect(listed).toContain('new.txt');
    expect(listed).not.toContain(EMPTY_TREE);
    await expectHonestEnd(world, [pr]);
  },
);
