import type { EpochMs } from '#core/domain/ids.ts';
import { type Hold, type HoldSettings, pauseAt } from '#core/domain/repos/pause.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { QueueRecord } from '../record/record.ts';

/** Staging that the forge has refused as a whole for so long is told to all who wait. */
const STAGING_REFUSED_MS = 60_000;

type Labels = Pick<QueueEntry, 'isExempt'>;

/** Nothing is staged until a person has looked: a merge was not the proven one, or another queue works on this branch. */
export function hasStopped({ halted, rival }: Pick<QueueRecord, 'halted' | 'rival'>): boolean {
  return halted !== null || rival !== undefined;
}

/** The hold of this time; null: none. An archived repository holds its queue up, whatever its owner chose: nothing can be staged. */
export function holdAt(
  { archivedSince }: Pick<QueueRecord, 'archivedSince'>,
  repo: HoldSettings,
  now: EpochMs,
): Hold | null {
  if (archivedSince === undefined) return pauseAt(repo, now);
  const ofForge = { reason: null, since: archivedSince, until: null, isFreeze: false };
  return { ...ofForge, kind: 'pause', isArchived: true };
}

/** The forge refuses branches of the queue: a branch or tag has their name, or a branch rule covers them. */
export function isStagingImpossible({
  nameInTheWay,
  ruledBranch,
}: Pick<QueueRecord, 'nameInTheWay' | 'ruledBranch'>): boolean {
  return nameInTheWay !== undefined || ruledBranch !== undefined;
}

/** A pause, a drain or a freeze window keeps it from being staged. */
export function isKeptFromStaging(hold: Hold | null, entry: Labels): boolean {
  return hold !== null && (hold.drain !== undefined || !isExemptFrom(hold, entry));
}

/** A pause or a freeze window keeps it from landing, also where it is in flight. */
export function isKeptFromLanding(hold: Hold | null, entry: Labels | undefined): boolean {
  return hold?.kind === 'pause' && !isExemptFrom(hold, entry);
}

function isExemptFrom({ isFreeze }: Hold, entry: Labels | undefined): boolean {
  return isFreeze && entry?.isExempt === true;
}

/** The forge has refused each try to stage for a while: one refusal alone may be chance. Each look tries again. */
export function isStagingRefused({ stagingRefused: refused }: Pick<QueueRecord, 'stagingRefused'>): boolean {
  return refused !== undefined && refused.at - refused.since >= STAGING_REFUSED_MS;
}

/** A person has to act before anything more is staged. */
export function awaitsPerson(record: QueueRecord): boolean {
  return hasStopped(record) || isStagingImpossible(record);
}

/** Nothing more is staged: a person has to act, here or on the forge. */
export function isStagingStopped(record: QueueRecord): boolean {
  return awaitsPerson(record) || isStagingRefused(record);
}
