import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import type { FileChanges } from '../support/forge-control.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { Odds } from './odds.ts';

/** Another branch with a rule that asks for a status: one that no queue manages, or one that has a queue of its own. */
export const RELEASE = 'release';

/** Unusual acts of the people of a project, each in a plot of its own. */
export interface Plot {
  /** Opens a pull request of its own kind in place of a usual one; false = not this time. */
  open?(): Promise<boolean>;
  /** Acts in place of the usual; false = not this time. */
  act?(): Promise<boolean>;
  /** All people become reasonable. */
  heal?(): Promise<void>;
  /** Whether these words on the head of a pull request of this plot are true and say what its author needs to know. */
  isTold?(pr: number, words: string): Promise<boolean>;
}

/** The means of a plot in its project. */
export interface Stagehand {
  readonly forge: AbstractForge;
  readonly random: SeededRandom;
  readonly odds: () => Readonly<Odds>;
  readonly gatePath: string;
  readonly prs: readonly number[];
  note(line: string): void;
  sometimes(what: string): void;
  /** A name that no branch has had. */
  takeName(): string;
  /** Opens a pull request, knows its head from then on, and presses the button as people do. */
  open(pull: NewPull): Promise<number>;
  /** Pull requests to another managed branch of the repository, where it has one. */
  readonly elsewhere?: () => readonly number[];
  press(pr: number): Promise<void>;
}

export interface NewPull {
  readonly branch: string;
  readonly title?: string;
  readonly files?: FileChanges;
  readonly head?: string;
  readonly base?: string;
}
