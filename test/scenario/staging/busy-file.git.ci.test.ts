import type { EngineForge } from '#core/ports/forge.ts';
import { gitWorlds } from '../git-world.ts';
import { endingOf, expectHonestEnd, givenProject } from '../stories.ts';
import type { DeskChange, DeskCommit } from '../trees/git-desk.ts';
import type { World } from '../world.ts';

jest.setTimeout(240_000);

const MINUTE_MS = 60_000;
const READ_MS = 240;
const COMMITS = 100;
const worlds = gitWorlds('gt126');
afterEach(() => worlds.closeAll());

const file = (top: string, bottom: string): DeskChange => ({
  'values.txt': {
    mode: '100644',
    content: `${top}\n${Array.from({ length: 30 }, (_, at) => `${at}\n`).join('')}${bottom}\n`,
  },
});

/** Each reading of a tree or of contents takes its time. */
function slowly(world: () => World | null): (forge: EngineForge) => EngineForge {
  return (forge) =>
    new Proxy(forge, {
      get(target, name) {
        const call: unknown = Reflect.get(target, name);
        if (typeof call !== 'function' || (name !== 'readBlob' && name !== 'readTree')) return call;
        return async (...values: unknown[]) => {
          await world()?.clock.advance(READ_MS);
          return call.apply(target, values);
        };
      },
    });
}

test('rebase: a base that has changed one file in a hundred commits is read once, and the head lands', async () => {
  let slow: World | null = null;
  const world = await worlds.create({
    lastingEngine: true,
    repo: { mergeStyle: 'rebase' },
    wrapForge: slowly(() => slow),
  });
  await givenProject(world.forge);
  const desk = await worlds.openDesk(world);
  await desk.readLine('main');
  const commits: DeskCommit[] = [
    { parent: await world.forge.tip('main'), change: file('first', 'end'), message: 'First' },
    { parent: 0, change: file('first', 'changed'), message: 'Change the end' },
    { parent: 0, change: file('0', 'end'), message: 'Set 0' },
  ];
  for (let at = 1; at < COMMITS; at += 1)
    commits.push({ parent: commits.length - 1, change: file(`${at}`, 'end'), message: `Set ${at}` });
  const ids = await desk.commitAll(commits);
  const [head = '', tip = ''] = [ids[1], ids.at(-1)];
  await desk.push({ head, line: tip });
  await world.forge.pushBranch('main', tip);
  const pr = await world.forge.openPullRequest({ branch: 'head', head });
  await world.clock.advance(MINUTE_MS);
  await world.forge.schedule(pr, 'rebase');
  world.forge.clearCalls();
  slow = world;
  await world.drain({ maxMs: 30 * MINUTE_MS });
  expect((await endingOf(world, [pr])).landed).toEqual([pr]);
  const reads = world.forge.calls().filter(({ call }) => call === 'GET git/blobs/{sha}');
  expect(reads.length).toBeLessThan(1.2 * COMMITS);
  await expectHonestEnd(world, [pr]);
});
