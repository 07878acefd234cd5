import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { gitWorlds } from '../git-world.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';

jest.setTimeout(120_000);

const MINUTE_MS = 60_000;
const { says, next } = PULL_CODES.unrelated_history;
const worlds = gitWorlds('gt126');
afterEach(() => worlds.closeAll());

const file = (path: string) => ({ [path]: { mode: '100644', content: `${path}\n` } as const });

test.each(['rebase', 'squash', 'merge'] as const)(
  '%s: a branch without a commit of the base is told as that, git refuses to merge the base into it, and the step that its words name lands it',
  async (style) => {
    const world = await worlds.create({ repo: { mergeStyle: style } });
    await givenProject(world.forge);
    const desk = await worlds.openDesk(world);
    await desk.readLine('main');
    const commits = [
      { parent: null, change: file('src/first.txt'), message: 'Begin anew' },
      { parent: 0, change: file('src/second.txt'), message: 'Go on' },
    ];
    const [, head = ''] = await desk.commitAll(commits);
    await desk.push({ orphan: head });
    const pr = await world.forge.openPullRequest({ branch: 'orphan', head });
    await world.clock.advance(MINUTE_MS);
    const other = await givenScheduled(world.forge, 'other', 'b\n', { style });
    await world.forge.schedule(pr, style);
    await world.drain({ maxMs: 10 * MINUTE_MS });
    expect((await endingOf(world, [pr, other])).landed).toEqual([other]);
    expect(await world.forge.status(head, DEFAULT_SERVICE_NAME)).toMatchObject({ description: says });

    await desk.readLine('main');
    const folder = mkdtempSync(join(tmpdir(), 'orphan-'));
    const inFolder = (args: readonly string[]) => desk.git(['-C', folder, ...args]);
    await desk.git(['update-ref', 'refs/remotes/origin/main', 'refs/seen/main']);
    await desk.git(['worktree', 'add', '-q', folder, head]);
    await expect(inFolder(['merge', 'origin/main'])).rejects.toThrow('unrelated histories');
    const step = /"git (.*?)"/.exec(next)?.[1]?.split(' ') ?? [];
    await inFolder(step);
    const made = await inFolder(['rev-parse', 'HEAD']);
    rmSync(folder, { recursive: true, force: true });
    await desk.push({ orphan: made });
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect((await endingOf(world, [pr, other])).landed).toEqual([other, pr]);
    const files = await world.forge.readFiles(await world.forge.tip('main'));
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['README.md', 'src/first.txt', 'src/second.txt', 'src/other.txt']),
    );
    await expectHonestEnd(world, [pr, other]);
  },
);
