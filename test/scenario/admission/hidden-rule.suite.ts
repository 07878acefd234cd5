import { endingOf, givenProject, givenRunForAnother, givenScheduled, refusalsOf } from '../stories.ts';
import type { World } from '../world.ts';

const MINUTE_MS = 60_000;

/**
 * A bot that is no administrator reads the summary of the branch rule alone. A merge that does not come, where something is in sight
 * that such a rule may ask about, bounces no pull request (D-14).
 */
export function defineHiddenRuleTests(createWorld: () => Promise<World>): void {
  async function expectHeld(world: World, pr: number, other: number): Promise<void> {
    await world.drain({ maxMs: 2 * 60 * MINUTE_MS });
    expect(await endingOf(world, [pr, other])).toEqual({ landed: [other], bounced: [] });
    expect(await refusalsOf(world, pr)).toEqual(['rule_hidden']);
    expect((await world.record()).mergeTimeoutCounts).toEqual([]);
    expect((await world.rows()).filter(({ prs }) => prs.includes(pr)).length).toBeLessThanOrEqual(2);
  }

  async function expectLands(world: World, pr: number): Promise<void> {
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect((await world.forge.pull(pr)).merged).toBe(true);
  }

  test('a rejection blocks it: told, not bounced, and it lands once that is settled', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.forge.setProtection({ blockOnRejectedReviews: true });
    await world.forge.setAccess('lead', 'write');
    const pr = await givenScheduled(world.forge, 'p');
    await world.forge.review(pr, 'lead', 'reject');
    const other = await givenScheduled(world.forge, 'q');
    await world.forge.setProtection({ blockOnRejectedReviews: true });
    await expectHeld(world, pr, other);
    // The one that landed beside it moved the base, which may be what such a rule asks about as well.
    await world.forge.review(pr, 'lead', 'approve');
    await world.forge.cancelSchedule(pr);
    await world.forge.schedule(pr, 'squash');
    await expectLands(world, pr);
  });

  test('a head without the tip of the base is blocked: told, not bounced, and its next head is tried', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'p');
    await world.forge.pushToBase({ 'z.txt': 'z\n' });
    await world.forge.setProtection({ blockOnOutdatedBranch: true });
    const other = await givenScheduled(world.forge, 'q');
    await expectHeld(world, pr, other);
    await world.forge.setProtection({ blockOnOutdatedBranch: false });
    await world.forge.pushToPullRequest(pr, { 'src/p.txt': 'p2\n' });
    await world.forge.cancelSchedule(pr);
    await world.forge.schedule(pr, 'squash');
    await expectLands(world, pr);
  });

  test('nothing in sight may be why: the second time-out bounces it as before', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'p');
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    await world.drain({ maxMs: 2 * 60 * MINUTE_MS });
    expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [pr] });
    expect(await refusalsOf(world, pr)).toEqual([]);
  });

  test('one merge is lost and the head holds the tip of the base: it lands at its second', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'p');
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    await world.drain({ until: async () => (await world.record()).mergeTimeoutCounts.length > 0 });
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await expectLands(world, pr);
  });

  test('who scheduled is not among those who may write any more, and the bot may not ask further', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenRunForAnother(world);
    await world.forge.setAccess('dev', 'read');
    await world.drain({ maxMs: 2 * 60 * MINUTE_MS });
    expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [] });
    expect(await refusalsOf(world, pr)).toEqual(['rule_hidden']);
    await world.forge.setAccess('dev', 'write');
    await expectLands(world, pr);
  });
}
