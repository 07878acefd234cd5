import { ForgeError } from '#core/ports/forge.ts';
import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { type Hook, untilSuccess, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

/** Another repository has the name (decision 0355), and not each of its calls answers. */
async function givenTaken(fault: Hook) {
  let isTaken = false;
  const world = await createWorld({
    wrapForge: wrapForge((name, values, answer) => {
      if (!isTaken) return answer();
      const call = () =>
        (Reflect.get(other.forge, name) as (...args: readonly unknown[]) => Promise<unknown>)(...values);
      return fault(name, values, call);
    }),
  });
  const other = createAbstractForge({ clock: world.clock, repoId: 2 });
  await givenProject(other);
  await givenProject(world.forge);
  return { world, other, take: (is: boolean) => (isTaken = is) };
}

test('a success that stands where the name was is not forgotten while the id cannot be read', async () => {
  const { world, take } = await givenTaken(async (name, _, answer) => {
    if (name === 'readRepoId') throw new ForgeError('unreachable', 'GET repo', 502);
    return answer();
  });
  world.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(world.forge, 'a');
  const head = (await world.forge.pull(pr)).headSha;
  await untilSuccess(world, head);
  take(true);
  for (let look = 0; look < 40; look += 1) {
    await world.reconcile();
    await world.clock.advance(60_000);
  }
  const { batches, pendingStatuses } = await world.record();
  expect(batches.length + pendingStatuses.length).toBeGreaterThan(0);
});

test('a repository without pull requests at all is told as another one, and its base says nothing', async () => {
  const { world, other, take } = await givenTaken(async (name, _, answer) => {
    if (name === 'listOpenPullRequests' || name === 'listMergedPullRequests')
      throw new ForgeError('missing', 'GET pulls', 404);
    return answer();
  });
  await givenScheduled(world.forge, 'a');
  await world.drain();
  await other.pushToBase({ 'src/x.txt': 'x' });
  take(true);
  expect(await world.reconcile()).toMatchObject({ errorCode: 'forge_access_denied', refusal: 'replaced' });
  expect((await world.record()).unprovenBase).toBeUndefined();
});
