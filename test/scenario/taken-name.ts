import { type AbstractForge, createAbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { type Hook, wrapForge } from './hooks.ts';
import { givenProject } from './stories.ts';
import type { World, WorldOptions } from './world.ts';

/**
 * A world whose repository loses its name to `other` while `take(true)` (decision 0355).
 *
 * @param open - Makes the world.
 * @param fault - Stands before each call that goes to `other`.
 */
export async function givenTaken(
  open: (options: Pick<WorldOptions, 'wrapForge'>) => Promise<World<AbstractForge>>,
  fault: Hook = (_name, _values, answer) => answer(),
) {
  let isTaken = false;
  const hook: Hook = (name, values, answer) => {
    if (!isTaken) return answer();
    const call = Reflect.get(other.forge, name) as (...args: readonly unknown[]) => Promise<unknown>;
    return fault(name, values, () => call(...values));
  };
  const world = await open({ wrapForge: wrapForge(hook) });
  const other = createAbstractForge({ clock: world.clock, repoId: 2 });
  await givenProject(other);
  await givenProject(world.forge);
  return { world, other, take: (is: boolean) => (isTaken = is) };
}
