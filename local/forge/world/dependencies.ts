import type { PullRecord } from '../model.ts';
import type { World } from '../world.ts';
import { addEntry } from './timeline.ts';

/** `pull` is not to be merged before `before` is closed. Both timelines tell of it, and of no more: not of the closing. */
export function addDependency(world: World, pull: PullRecord, before: PullRecord, user: string): void {
  pull.dependsOn = [...(pull.dependsOn ?? []), before.index];
  for (const each of [pull, before]) addEntry(world, each, 'add_dependency', user);
}

export function removeDependency(world: World, pull: PullRecord, before: PullRecord, user: string): void {
  pull.dependsOn = (pull.dependsOn ?? []).filter((index) => index !== before.index);
  for (const each of [pull, before]) addEntry(world, each, 'remove_dependency', user);
}
