import type { QueueRecord } from '../../../engine-container/src/queue/record/record.ts';
import { type AbstractForge, createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import type { JournalEntry } from '../../fakes/abstract-forge/world.ts';
import { givenProject } from '../../scenario/stories.ts';
import type { Timers } from '../../support/virtual-clock.ts';
import { Judge } from '../judge.ts';
import { BOT, CONTEXTS, OTHER_BRANCH, type Play, type Story, type Tell } from './story.ts';

/** Between a push of the people and the first look. */
export const BEGIN_MS = 30_000;
/** After an act that the queue sees in its next look, it is at rest after so long at the latest where it does nothing. */
export const AFTER_ACT_MS = 150_000;

export function raiseForge(
  story: Story,
  clock: Timers,
  tell: Tell,
  onEntry: (entry: JournalEntry) => void = () => undefined,
): AbstractForge {
  return createAbstractForge({
    clock,
    switches: story.switches ?? {},
    onEntry: (entry) => {
      tell(`  ${lineOf(entry)}`);
      onEntry(entry);
    },
  });
}

/** The project, before anything is scheduled. */
export async function givenBranches(forge: AbstractForge): Promise<string> {
  await givenProject(forge);
  await forge.setAccess('guest', 'read');
  await forge.pushBranch(OTHER_BRANCH, await forge.tip(forge.base));
  await forge.protectBranch(OTHER_BRANCH, { requiredContexts: ['lint'] });
  return forge.tip(forge.base);
}

export const judgeOf = (forge: AbstractForge): Judge =>
  new Judge(forge, { bot: BOT, contexts: CONTEXTS, baseIsProtected: false });

export function targetOf(prs: Play['prs'], target: number): Play['pr'] {
  const pr = prs[target];
  if (pr === undefined) throw new Error(`the story has no pull request at place ${target}`);
  return pr;
}

/** The queue is at work, or waits for a time that comes. */
export function isBusy(record: QueueRecord | null): boolean {
  if (record === null) return false;
  const { batches, pendingStatuses, garbage, restsUntil, deferred } = record;
  return (
    batches.length + pendingStatuses.length + garbage.length > 0 ||
    restsUntil !== null ||
    deferred.some(({ until }) => until !== null)
  );
}

/** What a clock says since the beginning, before each line. */
export function tellTimes(clock: Pick<Timers, 'now'>, tell: Tell | null): Tell {
  if (tell === null) return () => undefined;
  const begun = clock.now();
  return (line) => tell(`${((clock.now() - begun) / 1000).toFixed(1).padStart(7)} s ${line}`);
}

function lineOf(entry: JournalEntry): string {
  switch (entry.kind) {
    case 'status':
      return `status ${entry.sha.slice(0, 7)} ${entry.context} ${entry.state} "${entry.description}" ${entry.creator}`;
    case 'push':
      return `push ${entry.branch} ${entry.to?.slice(0, 7) ?? 'deleted'} ${entry.by}`;
    case 'run':
      return `run ${entry.run.branch} ${entry.run.state}`;
    default:
      return `merge #${entry.merge.pr}`;
  }
}
