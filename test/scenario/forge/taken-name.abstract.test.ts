import { landedOf } from '../hooks.ts';
import { givenScheduled } from '../stories.ts';
import { givenTaken } from '../taken-name.ts';
import { createWorld } from '../world.ts';

/** A repository gets another name, and another account makes one of the former name (decision 0355). */

test('the words say that another repository has the name, and the queue goes on once its own has it again', async () => {
  const { world, other, take } = await givenTaken(createWorld);
  const first = await givenScheduled(world.forge, 'a');
  await world.drain();
  await givenScheduled(other, 'x');
  const second = await givenScheduled(world.forge, 'b');
  take(true);
  expect(await world.reconcile()).toMatchObject({ errorCode: 'forge_access_denied', refusal: 'replaced' });
  take(false);
  await world.drain();
  expect([landedOf(world), other.merges()]).toEqual([[first, second], []]);
});
