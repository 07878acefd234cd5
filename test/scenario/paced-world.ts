import type { EngineForge } from '#core/ports/forge.ts';
import { createWorld, type World } from './world.ts';

type Pace = (name: string, call: () => Promise<unknown>, clock: World['clock']) => Promise<unknown>;

/** A world in which each call to the forge goes through `pace`, which may let the clock run before the answer. */
export async function createPacedWorld(pace: Pace): Promise<World> {
  const current: { world: World | null } = { world: null };
  const world = await createWorld({
    lastingEngine: true,
    wrapForge: (forge) =>
      new Proxy<EngineForge>(forge, {
        get(target, name) {
          const call = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
          return (...given: unknown[]) => {
            const answer = () => call.apply(target, given);
            return current.world === null ? answer() : pace(String(name), answer, current.world.clock);
          };
        },
      }),
  });
  current.world = world;
  return world;
}
