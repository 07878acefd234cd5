import { ForgeError } from '#core/ports/forge.ts';
import { wrapForge } from '../hooks.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

/** What comes back to the line stands before a batch of later ones that is not built yet (decision 0255). */
const HOURS = 'src/hours.txt';

test('suspects that come back are not overtaken by a later one of the same file that is about to be staged', async () => {
  let isHeldUp = false;
  const world = await createWorld({
    repo: { bisectFanout: 4 },
    wrapForge: wrapForge(async (name, _args, answer) => {
      if (isHeldUp && name === 'applyPatch') throw new ForgeError('unreachable', 'POST diffpatch', 503);
      return answer();
    }),
  });
  const { forge, clock } = world;
  await givenProject(forge, { [HOURS]: 'nine to five\n' });
  forge.judge = () => 'hold';
  const first = await givenScheduled(forge, 'first', 'eight to five\n', { path: HOURS });
  const prs = [first];
  for (const name of ['b', 'c', 'd']) prs.push(await givenScheduled(forge, name));
  await clock.advance(30_000);
  await world.reconcile();
  const last = await givenScheduled(forge, 'last', 'nine to six\n', { path: HOURS });
  await clock.advance(30_000);
  isHeldUp = true;
  await forge.finishRun(forge.runs()[0]?.id ?? '', 'failure');
  await world.reconcile();
  const { batches } = await world.record();
  expect(batches.map(({ place, chain, members }) => [place, chain.length, members.length])).toEqual([
    ['suspect', 4, 4],
    ['pipeline', 0, 1],
  ]);

  await forge.cancelSchedule(prs[3] ?? 0);
  await clock.advance(6_000);
  isHeldUp = false;
  forge.judge = () => 'success';
  await world.drain();
  expect((await endingOf(world, prs)).landed).toEqual(prs.slice(0, -1));
  expect((await world.record()).deferred).toMatchObject([{ pr: last, reason: 'conflict' }]);
  await expectHonestEnd(world, [...prs, last]);
});
