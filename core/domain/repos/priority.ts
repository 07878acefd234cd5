import type { FreezeSettings } from './freeze.ts';

/** Strongest first. An `incident` overtakes; the others are an order with aging. */
export const PRIORITIES = ['incident', 'high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** The labels that mean a priority, and the accounts whose labels count. */
export interface PrioritySettings {
  readonly incidentLabels: readonly string[];
  readonly highLabels: readonly string[];
  readonly lowLabels: readonly string[];
  /** Logins, compared without case. A label of another account does not count. */
  readonly priorityPeople: readonly string[];
}

/** A label that a pull request has, and the account that put it on last; '': the timeline does not tell. */
export interface Labelled {
  readonly name: string;
  readonly by: string;
}

type LabelSettings = PrioritySettings & Pick<FreezeSettings, 'freezeExemptLabels'>;

/** All labels that mean something to this queue. */
export function countedLabels(settings: LabelSettings): ReadonlySet<string> {
  const { incidentLabels, highLabels, lowLabels, freezeExemptLabels } = settings;
  if (settings.priorityPeople.length === 0) return new Set();
  return new Set([...incidentLabels, ...highLabels, ...lowLabels, ...freezeExemptLabels]);
}

/** Names of the labels that an account of the list has put on. */
function namesOf({ priorityPeople }: PrioritySettings, labelled: readonly Labelled[]): ReadonlySet<string> {
  const people = new Set(priorityPeople.map((login) => login.toLowerCase()));
  return new Set(labelled.filter(({ by }) => people.has(by.toLowerCase())).map(({ name }) => name));
}

/** Is it staged and landed in a freeze window too? */
export function isExempt(settings: LabelSettings, labelled: readonly Labelled[]): boolean {
  const names = namesOf(settings, labelled);
  return settings.freezeExemptLabels.some((name) => names.has(name));
}

/** The strongest of its labels that an account of the list has put on. */
export function priorityOf(settings: PrioritySettings, labelled: readonly Labelled[]): Priority {
  const names = namesOf(settings, labelled);
  if (settings.incidentLabels.some((name) => names.has(name))) return 'incident';
  if (settings.highLabels.some((name) => names.has(name))) return 'high';
  return settings.lowLabels.some((name) => names.has(name)) ? 'low' : 'normal';
}
