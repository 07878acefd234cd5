import { RECONCILE_BUDGET_MS } from '#core/domain/limits.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { createPacedWorld } from '../paced-world.ts';
import { endingOf, expectHonestEnd, givenProject } from '../stories.ts';
import type { World } from '../world.ts';

/** As a forge was seen to list 60,000 files while it was busy. */
const LISTING_MS = 16_000;
const MINUTE_MS = 60_000;

/** A world whose forge lists no tree faster, and what was listed in which reconcile. */
async function givenSlowListings() {
  const listed: string[] = [];
  const byReconcile: string[][] = [];
  const world = await createPacedWorld(async (name, call, clock) => {
    if (name !== 'readTree') return call();
    await clock.advance(LISTING_MS);
    const listing = (await call()) as Awaited<ReturnType<EngineForge['readTree']>>;
    listed.push(listing.tree);
    return listing;
  });
  await givenProject(world.forge, { 'src/shared.txt': 'shared\n' });
  /** One look at a time, for as long as the engine wants to look again. */
  const drain = (maxMs: number, until?: () => boolean) =>
    world.drain({
      maxMs,
      ...(until === undefined ? {} : { until }),
      afterEach: async () => {
        byReconcile.push(listed.splice(0));
        return true;
      },
    });
  return { world, byReconcile, drain };
}

/** Its branch leaves the base before the base moves on: its head, the base and where they part are three trees. */
async function givenThreeTrees(world: World): Promise<number> {
  const pr = await world.forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a\n' } });
  await world.forge.pushToBase({ 'src/newer.txt': 'newer\n' });
  await world.forge.schedule(pr, 'squash');
  return pr;
}

describe('listings of a tree that take 16 seconds each, three for one staging', () => {
  test('do not fit one reconcile: what was read counts in the next one, and the batch lands', async () => {
    expect(3 * LISTING_MS).toBeGreaterThan(RECONCILE_BUDGET_MS);
    const { world, byReconcile, drain } = await givenSlowListings();
    const pr = await givenThreeTrees(world);
    await drain(20 * MINUTE_MS);
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    const working = byReconcile.filter((trees) => trees.length > 0);
    expect(working.length).toBeGreaterThan(1);
    const all = working.flat();
    expect(all.length).toBeGreaterThanOrEqual(3);
    // No tree is listed twice: nothing of an earlier reconcile was lost.
    expect(all).toEqual([...new Set(all)]);
    await expectHonestEnd(world, [pr]);
  });

  test('three of them in one batch: each reconcile gets further, none ends as an error, and all land', async () => {
    const { world, byReconcile, drain } = await givenSlowListings();
    const prs: number[] = [];
    for (const name of ['a', 'b', 'c']) {
      const files = { [`src/${name}.txt`]: `${name}\n` };
      prs.push(await world.forge.openPullRequest({ branch: name, files }));
      await world.forge.pushToBase({ [`other/${name}.txt`]: 'newer\n' });
    }
    for (const pr of prs) await world.forge.schedule(pr, 'squash');
    await drain(60 * MINUTE_MS, () => world.forge.merges().length === prs.length);
    expect(world.forge.merges().map(({ pr }) => pr)).toEqual(prs);
    expect(world.log.filter(({ message }) => message === 'reconcile failed')).toEqual([]);
    const all = byReconcile.flat();
    expect(all).toEqual([...new Set(all)]);
    await expectHonestEnd(world, prs);
  });
});
