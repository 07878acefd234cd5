import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { landedOf, told, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorldOn } from '../world.ts';

/** Many of the queue are merged past it at once: each look reads some of them, and a call that hangs holds up one look, not all. */

const MINUTE_MS = 60_000;
const COUNT = 45;
const READS_MAX = 20;
const HANG_MS = 10_000;

/** All but the last are merged by hand in a pause, and the heads that `hangs` names take ten seconds to fail. */
async function givenMergedByHand(hangs: boolean) {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock });
  const merged = new Set<string>();
  /** Calls of each full look about one that is merged: how it is, and what stands on its head. */
  const looks: { pulls: number; statuses: number }[] = [];
  const hooked = wrapForge(async (name, [about], real) => {
    const look = looks.at(-1);
    if (name === 'listOpenPullRequests') looks.push({ pulls: 0, statuses: 0 });
    if (name === 'readPullRequest' && look !== undefined && forge.isMerged(Number(about))) look.pulls += 1;
    const isOfMerged = name === 'readStatuses' && merged.has(String(about));
    if (isOfMerged && look !== undefined) look.statuses += 1;
    if (isOfMerged && hangs) await clock.advance(HANG_MS);
    return real();
  });
  const world = await createWorldOn(clock, forge, forge.forge, { lastingEngine: true, wrapForge: hooked });
  await givenProject(world.forge);
  const pause = { kind: 'pause', reason: null, since: clock.now(), until: null } as const;
  await world.settings({ pause });
  const prs: number[] = [];
  for (let i = 0; i < COUNT; i += 1) prs.push(await givenScheduled(world.forge, `p${i}`));
  await world.drain({ maxMs: 2 * MINUTE_MS });
  const [last = 0, ...byHand] = [...prs].reverse();
  for (const pr of byHand) {
    merged.add((await world.forge.pull(pr)).headSha);
    await world.forge.mergeByHand(pr);
  }
  if (hangs)
    world.forge.fault = ({ path }) =>
      [...merged].some((sha) => path.includes(sha)) ? { status: 500 } : null;
  await world.settings({ pause: null });
  return { world, last, byHand, looks };
}

test('a look reads a few of them, and all are told within minutes', async () => {
  const { world, last, byHand, looks } = await givenMergedByHand(false);
  await world.drain({ maxMs: 10 * MINUTE_MS, until: () => landedOf(world).includes(last) });
  expect(Math.max(...looks.map(({ pulls }) => pulls))).toBeLessThanOrEqual(READS_MAX);
  for (const pr of byHand) expect(await told(world, pr)).toContain('pr_skipped:merged_outside_the_queue');
});

test('where reading what stands on their heads hangs, a look meets one such call, and the others go on', async () => {
  const { world, last, looks } = await givenMergedByHand(true);
  await world.drain({ maxMs: 20 * MINUTE_MS, until: () => landedOf(world).includes(last) });
  // One of those that left, and one of those that the moved base shows.
  expect(Math.max(...looks.map(({ statuses }) => statuses))).toBeLessThanOrEqual(2);
});
