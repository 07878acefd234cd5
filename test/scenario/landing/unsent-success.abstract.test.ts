import { createPacedWorld } from '../paced-world.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import type { World } from '../world.ts';

const BUDGET_SPENT_MS = 25_000;
const NUDGE_AFTER_MS = 15_000;

/** One whose merge does not come. The time of a reconcile is over between a look that asks for its success once more and that post. */
async function givenUnsent() {
  const seen = { head: '', postedAt: 0, isSpent: false, isSentAgain: false };
  const hasSuccess = async () =>
    seen.head !== '' && (await world.forge.status(seen.head, 'mq'))?.state === 'success';
  const world: World = await createPacedWorld(async (name, call, clock) => {
    if (seen.postedAt === 0 && (await hasSuccess())) seen.postedAt = clock.now();
    const isLate = seen.postedAt > 0 && clock.now() - seen.postedAt >= NUDGE_AFTER_MS;
    if (name === 'postStatus' && seen.isSpent) seen.isSentAgain = true;
    if (name === 'readPullRequest' && isLate && !seen.isSpent) {
      seen.isSpent = true;
      await clock.advance(BUDGET_SPENT_MS);
    }
    return call();
  });
  await givenProject(world.forge);
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(world.forge, 'a');
  seen.head = (await world.forge.pull(pr)).headSha;
  await world.drain({ until: () => seen.isSpent });
  return { world, isSentAgain: () => seen.isSentAgain };
}

describe('a success that a reconcile had no time left to send', () => {
  test('is none that may be carried out late: each that counts as asked for was sent', async () => {
    const { world, isSentAgain } = await givenUnsent();
    await world.drain({ until: isSentAgain });
    const landing = (await world.record()).batches[0]?.landing;
    expect(landing?.asked).toBeGreaterThan(1);
    expect(landing?.answered).toBe(landing?.asked);
  });
});
