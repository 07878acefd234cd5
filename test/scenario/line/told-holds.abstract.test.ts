import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { dailyWindow } from '../../support/freeze-windows.ts';
import { wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

/** What the page shows of a drain and of a freeze window is what the statuses say (decision 0208). */
const MINUTE = 60_000;

async function givenWaiting(world: World): Promise<readonly number[]> {
  await givenProject(world.forge);
  world.forge.gateDurationMs = 30 * MINUTE;
  const first = await givenScheduled(world.forge, 'a');
  await world.drain({ until: () => world.forge.runs().length > 0 });
  return [first, await givenScheduled(world.forge, 'b')];
}

/** By the stored view, which the page reads: a view that is computed anew would hide that it was not stored. */
async function told(world: World, prs: readonly number[]) {
  const view = (await world.store.readQueueViews(['repo-1'])).get('repo-1');
  const words = await Promise.all(
    prs.map(
      async (pr) => (await world.forge.status((await world.forge.pull(pr)).headSha, 'mq'))?.description,
    ),
  );
  const reasonOf = (pr: number) => view?.places.find((place) => place.pr === pr)?.reason ?? null;
  return prs.map((pr, nth) => ({ page: reasonOf(pr), isSaid: words[nth]?.startsWith('paused') === true }));
}

const drained = (now: number): Partial<ManagedRepo> => ({
  pause: { kind: 'drain', reason: null, since: now, until: null },
});
const frozen = (now: number): Partial<ManagedRepo> => ({
  freezeWindows: [dailyWindow(now - MINUTE, now + 180 * MINUTE)],
});

test.each([
  ['a drain', drained, [false, true]],
  ['a freeze window', frozen, [true, true]],
] as const)(
  '%s that comes while the queue looks is shown at once, as the statuses say',
  async (_what, change, isSaid) => {
    let isDue = false;
    const world: World = await createWorld({
      wrapForge: wrapForge(async (name, _args, answer) => {
        if (name === 'listOpenPullRequests' && isDue) {
          isDue = false;
          await world.settings(change(world.clock.now()));
        }
        return answer();
      }),
    });
    const prs = await givenWaiting(world);
    isDue = true;
    await world.reconcile();
    await world.reconcile();
    const expected = isSaid.map((said) => ({ page: said ? 'paused' : null, isSaid: said }));
    expect(await told(world, prs)).toEqual(expected);
  },
);
