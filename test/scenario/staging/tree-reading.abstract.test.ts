import type { EngineForge } from '#core/ports/forge.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled, statusOf } from '../stories.ts';
import { createWorld, type World, type WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;
/** One byte that is not UTF-8, as the abstract forge takes it. */
const BYTE = '\udcff';

describe('a file name that is not UTF-8, which the forge shows as another', () => {
  test('in a pull request: it is refused for its name before a run, and the others land', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const odd = await givenScheduled(world.forge, 'odd', 'x\n', { path: `src/${BYTE}.txt` });
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect(world.forge.runs()).toEqual([]);
    expect(await statusOf(world, odd)).toMatch(/^error: refused: a file name in this change is not UTF-8/);
    const other = await givenScheduled(world.forge, 'a');
    await world.drain();
    expect(await endingOf(world, [odd, other])).toEqual({ landed: [other], bounced: [] });
    await expectHonestEnd(world, [odd, other]);
  });

  test('on the base, where no pull request touches its directory: all land', async () => {
    const world = await createWorld();
    await givenProject(world.forge, { [`elsewhere/${BYTE}.txt`]: 'x\n' });
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    const files = await world.forge.readFiles(await world.forge.tip('main'));
    expect(files.get(`elsewhere/${BYTE}.txt`)).toBe('x\n');
    await expectHonestEnd(world, prs);
  });

  test('on the base, beside what a pull request changes: it waits and is not blamed; what stands on a base without it lands', async () => {
    const world = await createWorld();
    await givenProject(world.forge, { [`src/${BYTE}.txt`]: 'x\n' });
    const innocent = await givenScheduled(world.forge, 'a');
    const other = await givenScheduled(world.forge, 'b', 'b\n', { path: 'lib/b.txt' });
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, [innocent, other])).landed).toEqual([other]);
    expect(await statusOf(world, innocent)).toMatch(
      /^pending: waiting: a folder it changes has a file name on the base that is not UTF-8/,
    );
    expect((await world.events()).map((event) => event.event)).not.toContain('pr_refused');
    await world.forge.pushToBase({ [`src/${BYTE}.txt`]: null, 'src/renamed.txt': 'x\n' });
    const updated = await givenScheduled(world.forge, 'c');
    await world.drain();
    expect((await endingOf(world, [updated])).landed).toEqual([other, updated]);
    await expectHonestEnd(world, [innocent, other, updated]);
  });

  test('in the root of the base: nothing is staged, and every author is told what stands in the way', async () => {
    const world = await createWorld();
    await givenProject(world.forge, { [`${BYTE}.txt`]: 'x\n' });
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(world.forge.runs()).toEqual([]);
    expect(world.forge.calls().filter((call) => call.call === 'POST diffpatch')).toEqual([]);
    for (const pr of prs) expect(await statusOf(world, pr)).toMatch(/^pending: waiting: .*on the base/);
  });
});

describe('a tree that takes longer to read than a reconcile has', () => {
  const CALL_MS = 5_000;

  /** Sixty directories of thirty files: more than one answer holds. */
  async function createLarge(options: WorldOptions = {}) {
    let reads = 0;
    const slowly = (forge: EngineForge): EngineForge => ({
      ...forge,
      readTree: async (id, depth) => {
        reads += 1;
        await world.clock.sleep(CALL_MS);
        return forge.readTree(id, depth);
      },
    });
    const world: Awaited<ReturnType<typeof createWorld>> = await createWorld({
      wrapForge: slowly,
      ...options,
    });
    const files: Record<string, string> = {};
    for (let n = 0; n < 1800; n += 1) files[`d${n % 60}/e/f${n}.txt`] = `${n}\n`;
    await givenProject(world.forge, files);
    return { world, reads: () => reads };
  }

  /** Touches as many directories as would take five reconciles to read. */
  async function givenWide(world: World): Promise<number> {
    const files: Record<string, string> = {};
    for (let n = 0; n < 24; n += 1) files[`d${n}/e/new.txt`] = `${n}\n`;
    const pr = await world.forge.openPullRequest({ branch: 'wide', files });
    await world.forge.schedule(pr, 'squash');
    // Behind its base: three trees are to be read.
    await world.forge.pushToBase({ 'd40/e/other.txt': 'other\n' });
    return pr;
  }

  test('trees that were read are kept by the engine, so that the pull request lands after some reconciles', async () => {
    const { world, reads } = await createLarge({ lastingEngine: true });
    const pr = await givenWide(world);
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    // The root twice, in whole and alone, and each directory of both sides that differs.
    expect(reads()).toBeLessThan(80);
    expect((await world.events()).filter((event) => event.event === 'pr_staged')).toHaveLength(1);
    await expectHonestEnd(world, [pr]);
  });

  test('and only what differs is read: one file in one of sixty directories takes a handful of calls', async () => {
    const { world, reads } = await createLarge({ lastingEngine: true });
    const first = await givenScheduled(world.forge, 'first');
    await world.drain({ maxMs: 60 * MINUTE_MS });
    const before = reads();
    const second = await givenScheduled(world.forge, 'second', 'x\n', { path: 'd7/e/second.txt' });
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect((await endingOf(world, [first, second])).landed).toEqual([first, second]);
    expect(reads() - before).toBeLessThanOrEqual(6);
  });
});
