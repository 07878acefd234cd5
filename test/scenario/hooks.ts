import type { EngineForge } from '#core/ports/forge.ts';
import type { World } from './world.ts';

/** Stands before each call of the engine: may fail it, delay it, or hand through what the forge answers. */
export type Hook = (
  name: string,
  args: readonly unknown[],
  answer: () => Promise<unknown>,
) => Promise<unknown>;

export const wrapForge =
  (hook: Hook) =>
  (forge: EngineForge): EngineForge =>
    new Proxy(forge, {
      get(target, name) {
        const call = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]) => hook(String(name), args, () => call.apply(target, args));
      },
    });

export async function headOf(world: World, pr: number): Promise<string> {
  return (await world.forge.pull(pr)).headSha;
}

export async function stateOf(world: World, sha: string): Promise<string | undefined> {
  return (await world.forge.status(sha, 'mq'))?.state;
}

/** Landed pull requests, lowest number first. */
export function landedOf(world: World): readonly number[] {
  return world.forge
    .merges()
    .map(({ pr }) => pr)
    .sort((one, other) => one - other);
}

/** `event:reason` of each event of one pull request. */
export async function told(world: World, pr: number): Promise<readonly string[]> {
  const events = await world.events();
  return events.filter((event) => event.pr === pr).map(({ event, reason }) => `${event}:${reason}`);
}

/** Drains until `success` stands on a head. */
export function untilSuccess(world: World, sha: string): Promise<void> {
  return world.drain({ until: async () => (await stateOf(world, sha)) === 'success' });
}
