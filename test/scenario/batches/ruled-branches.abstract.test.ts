import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

const MINUTE_MS = 60_000;
const OWN = 'mq/main/staging';

async function givenTwo() {
  const world = await createWorld();
  await givenProject(world.forge);
  const prs = [await givenScheduled(world.forge, 'first'), await givenScheduled(world.forge, 'second')];
  return { world, prs };
}

/** A rule of the repository such as `mq/**`: the forge refuses pushes there, and lets no account delete or rewrite a branch. */
describe('a rule over the branches of the queue', () => {
  test('is told as a rule, blames no pull request, and the queue goes on once it is gone', async () => {
    const { world, prs } = await givenTwo();
    await world.forge.protectBranch(OWN, { directPushAllowed: false });
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(await world.reconcile()).toMatchObject({ errorCode: 'protection_conflict' });
    expect((await world.record()).deferred).toEqual([]);
    for (const pr of prs) {
      const { headSha } = await world.forge.pull(pr);
      expect(await world.forge.status(headSha, DEFAULT_SERVICE_NAME)).toMatchObject({
        state: 'pending',
        description: PULL_CODES.queue_stopped.says,
      });
    }
    expect((await world.events()).map(({ event }) => event)).not.toContain('pr_refused');
    expect(await endingOf(world, prs)).toEqual({ landed: [], bounced: [] });
    await world.forge.unprotectBranch(OWN);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    await expectHonestEnd(world, prs);
  });

  test('that lets the bot push is told once the branch has to go: the rest of its batch lands', async () => {
    const { world, prs } = await givenTwo();
    world.forge.judge = () => 'hold';
    await world.drain({ until: () => world.forge.runs().length === 1 });
    await world.forge.protectBranch(OWN, { directPushAllowed: true });
    await world.forge.finishRun(world.forge.runs()[0]?.id ?? '', 'success');
    await world.drain({ maxMs: 10 * MINUTE_MS });
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    const third = await givenScheduled(world.forge, 'third');
    await world.drain({ maxMs: 10 * MINUTE_MS });
    expect(await world.reconcile()).toMatchObject({ errorCode: 'protection_conflict' });
    await world.forge.unprotectBranch(OWN);
    world.forge.judge = () => 'success';
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, [third])).landed).toContain(third);
    expect((await world.reconcile())?.errorCode).toBeNull();
    await expectHonestEnd(world, [...prs, third]);
  });
});
