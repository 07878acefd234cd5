import type { PullRecord, RepoRecord } from '../model.ts';
import { takeId, type World } from '../world.ts';
import { addEntry } from './timeline.ts';

/** A label of the repository; one of that name is made once. */
export function makeLabel(world: World, repo: RepoRecord, name: string): { id: number; name: string } {
  const known = repo.labels?.find((label) => label.name === name);
  if (known !== undefined) return known;
  const label = { id: takeId(world), name };
  repo.labels = [...(repo.labels ?? []), label];
  return label;
}

/** The entry says "1" for a label that was put on, and nothing for one that was taken off. */
export function setLabel(world: World, pull: PullRecord, name: string, user: string, isOn: boolean): void {
  const labels = pull.labels ?? [];
  if (labels.includes(name) === isOn) return;
  pull.labels = isOn ? [...labels, name] : labels.filter((each) => each !== name);
  addEntry(world, pull, 'label', user, { body: isOn ? '1' : '', label: name });
}
