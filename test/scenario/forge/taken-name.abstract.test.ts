import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { landedOf, wrapForge } from '../hooks.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

/** A repository gets another name, and another account makes one of the former name (decision 0355). */

test('the words say that another repository has the name, and the queue goes on once its own has it again', async () => {
  let isTaken = false;
  const world = await createWorld({
    wrapForge: wrapForge((name, values, answer) => {
      if (!isTaken) return answer();
      return (Reflect.get(other.forge, name) as (...args: readonly unknown[]) => Promise<unknown>)(...values);
    }),
  });
  const other = createAbstractForge({ clock: world.clock, repoId: 2 });
  await givenProject(other);
  await givenProject(world.forge);
  const first = await givenScheduled(world.forge, 'a');
  await world.drain();
  await givenScheduled(other, 'x');
  const second = await givenScheduled(world.forge, 'b');
  isTaken = true;
  expect(await world.reconcile()).toMatchObject({ errorCode: 'forge_access_denied', refusal: 'replaced' });
  isTaken = false;
  await world.drain();
  expect([landedOf(world), other.merges()]).toEqual([[first, second], []]);
});
