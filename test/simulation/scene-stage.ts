import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { type AbstractForge, createAbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import type { Delays, JournalEntry, Switches } from '../fakes/abstract-forge/world.ts';
import { givenProject, givenScheduled } from '../scenario/stories.ts';
import { createWorldOn, type World, type WorldOptions } from '../scenario/world.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { giveHistory, type Learned } from './history.ts';
import { judgePageWords } from './page-words.ts';

/** Where scenes play: the world of the scenarios over a forge in memory, with an eye on its journal. */
interface StageOptions extends WorldOptions {
  readonly switches?: Partial<Switches>;
  readonly delays?: Partial<Delays>;
  readonly onEntry?: (entry: JournalEntry, stage: Stage) => void;
}
export type Stage = World<AbstractForge>;

/**
 * The few moments that chance meets once in thousands of lives, each as a scene of its own: what it says is wrong. The
 * engine as it is makes nothing wrong; the one without the guard that the scene is about does.
 */
export type Scene = () => Promise<readonly string[]>;
export type Scenes = Readonly<Record<string, Scene>>;

export async function setStage({
  switches = {},
  delays = {},
  onEntry,
  ...options
}: StageOptions = {}): Promise<Stage> {
  const clock = new VirtualClock();
  let stage: Stage | null = null;
  const forge = createAbstractForge({
    clock,
    switches,
    delays,
    onEntry: (entry) => {
      if (stage !== null) onEntry?.(entry, stage);
    },
  });
  stage = await createWorldOn(clock, forge, forge.forge, options);
  return stage;
}

/** Gives the repository of a stage, before its first look, what a queue has learned in time. */
export async function teach(stage: Stage, learned: Learned): Promise<void> {
  const repo = await stage.store.getRepo('repo-1');
  if (repo === null) throw new Error('no repository');
  await giveHistory(stage.store, repo, learned);
}

/** A success stands on the head of one pull request, and its merge does not come. Null: it did not come about. */
export async function openLostMerge(): Promise<{ readonly stage: Stage; readonly pr: number } | null> {
  let isPosted = false;
  const stage = await setStage({
    onEntry: (entry) => {
      isPosted ||= isSuccess(entry);
    },
  });
  await givenProject(stage.forge);
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(stage.forge, 'a');
  for (let count = 0; count < 10 && !isPosted; count += 1) await look(stage, 1);
  return isPosted ? { stage, pr } : null;
}

export const isSuccess = (entry: JournalEntry): boolean =>
  entry.kind === 'status' && entry.context === DEFAULT_SERVICE_NAME && entry.state === 'success';

export const hasAlarm = (stage: Stage, alarm: string): boolean =>
  stage.log.some((line) => line.fields.alarm === alarm);

export const wordOn = async (stage: Stage, pr: number): Promise<string> =>
  (await stage.forge.status((await stage.forge.pull(pr)).headSha, DEFAULT_SERVICE_NAME))?.state ?? 'none';

export const wordsOn = async (stage: Stage, pr: number): Promise<string> =>
  (await stage.forge.status((await stage.forge.pull(pr)).headSha, DEFAULT_SERVICE_NAME))?.description ?? '';

/** What the page and the heads tell differently (A146). */
export async function judgeWords(stage: Stage): Promise<readonly string[]> {
  const views = await stage.store.readQueueViews(['repo-1']);
  return judgePageWords(stage.forge, await stage.record(), views.get('repo-1'));
}

/** Lets some minutes pass, with a look at every tick. */
export async function look(stage: Stage, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await stage.reconcile();
    await stage.clock.advance(30_000);
  }
}
