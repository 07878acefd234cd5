import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import type { Switches } from '../../fakes/abstract-forge/world.ts';

export const BOT = 'mq-bot';
/** The context of the queue, and the one that an owner changes to. */
export const CONTEXT = DEFAULT_SERVICE_NAME;
export const NEXT_CONTEXT = `${DEFAULT_SERVICE_NAME}/next`;
export const CONTEXTS: readonly string[] = [CONTEXT, NEXT_CONTEXT];
/** A branch of the same repository that this queue does not serve. */
export const OTHER_BRANCH = 'other';

export type StoryStyle = 'merge' | 'squash';

/** A few pull requests that go through the queue, were nothing done to them. */
export interface Story {
  readonly name: string;
  /** @default 'squash' */
  readonly style?: StoryStyle;
  readonly switches?: Partial<Switches>;
  readonly given: (forge: AbstractForge) => Promise<PullRequestNumber[]>;
  /** The places, in the order of `given`, of those that land. */
  readonly lands: readonly number[];
  /** The forge loses triggers of merges: a success of the queue stands for as long as it waits for one (D-11). */
  readonly losesMerges?: true;
  /** The places of those that acts are done to. */
  readonly targets: readonly number[];
}

/** A story while it is played, as acts see it. */
export interface Play {
  readonly forge: AbstractForge;
  readonly style: StoryStyle;
  /** Those of the story, and of the act. */
  readonly prs: PullRequestNumber[];
  /** The one that the act is done to. */
  readonly pr: PullRequestNumber;
  /** The tip of the base at the start. */
  readonly start: CommitSha;
  /** Merged by a person past the queue: nothing has to prove them. */
  readonly handMerged: Set<PullRequestNumber>;
  readonly now: () => number;
  readonly save: (changes: Partial<ManagedRepo>) => Promise<void>;
}

/** What one person does, and perhaps again a while later. */
export interface Act {
  readonly name: string;
  readonly act: (play: Play) => Promise<unknown>;
  readonly later?: readonly [afterMs: number, act: (play: Play) => Promise<unknown>];
  /** The forge lets it past the proof: what lands unproven has to be noticed, and cannot be prevented. */
  readonly isUnguarded?: true;
  /** The queue goes on no more: nothing has to come to rest. */
  readonly stops?: true;
  /** The rule of the base asks for the status of the queue no more, which no head may say (A146). */
  readonly dropsRule?: true;
  /** Others than the one that it is done to are kept from landing as well. */
  readonly keepsOthers?: true;
}

/** Where in a story an act is done: at the call of the engine with this number. */
export interface Moment {
  readonly act: Act;
  readonly at: number;
  readonly when: 'before' | 'after';
}

export interface Outcome {
  /** Each call of the engine, with the state of the statuses that it posts. */
  readonly calls: readonly string[];
  readonly violations: readonly string[];
  /** How each pull request ended: on the forge, on its head, in its history. */
  readonly endings: string;
  readonly hasActed: boolean;
}

export type Tell = (line: string) => void;

export const headOf = async ({ forge, pr }: Play): Promise<CommitSha> => (await forge.pull(pr)).headSha;

export const branchOf = ({ prs, pr }: Play): string => `p${prs.indexOf(pr) + 1}`;
