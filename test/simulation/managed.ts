import type { RepoId } from '#core/domain/ids.ts';
import type { ScheduleRules } from '#core/domain/repos/schedule-rules.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import type { Crowd } from './crowd.ts';
import type { Judge } from './judge.ts';
import type { Project } from './project.ts';
import type { Watch } from './watch.ts';

/** One managed repository of a life: its forge, its people and its judge. */
export interface Managed {
  readonly id: RepoId;
  /** The forge as the people of its branch see it. */
  readonly forge: AbstractForge;
  /** Where the forge reads the gate's workflow from. */
  readonly gatePath: string;
  /** Under which its queue may post. */
  readonly contexts: readonly [string, string];
  readonly judge: Judge;
  readonly project: Project;
  deleted: boolean;
  /** The forge makes other trees than git. */
  readonly mergesOtherwise: boolean;
  /** When the engine last went over it, latest first. */
  readonly lookedAt: number[];
  crowd?: Crowd;
  /** Who may schedule there, in lives where others try. */
  readonly rules?: ScheduleRules;
  /** The judge of each success at its moment. */
  watch?: Watch;
}
