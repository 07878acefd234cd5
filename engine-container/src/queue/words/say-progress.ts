import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import { requiresContext } from '../admission/admission.ts';
import { activeMembers, isWhole, waitsForStaging } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import { isStagingStopped } from '../line/holds.ts';
import { isBounced } from '../record/bounced.ts';
import { mustWordsWait } from '../record/bounds.ts';
import { isBound, type QueueEntry } from '../record/queue-entry.ts';
import type { Batch, QueueRecord } from '../record/record.ts';
import { sayKeptOut } from './departure.ts';
import {
  describeInLine,
  describeQueued,
  describeStaged,
  describeStopped,
  isDeparture,
  isInLine,
  isLandingTold,
} from './phrases.ts';
import { isSpokenFor } from './spoken-for.ts';
import { wishStatus } from './wish-status.ts';

/**
 * Says on each head where it stands: in line, or in a batch that is built. Nothing is written where other words hold, and
 * nothing about one that is being staged in this look: it is said once that is done.
 */
export function sayProgress(pass: DecisionContext): void {
  const { record, s } = pass;
  if (!s.repo.queueEnabled || isMergedUnproven(pass)) return;
  const stands = standsOf(record);
  for (const entry of record.entries) {
    if (mustWordsWait(record)) return;
    sayKeptOut(pass, entry);
    const description = wordsOf(entry, stands);
    if (description === null || isSpokenFor(record, entry.head)) continue;
    const { pr, head: sha } = entry;
    wishStatus(pass, { pr, sha, state: 'pending', description, targetUrl: null });
  }
}

/** Without the rule of the base the forge merges what the queue says nothing about. A rule over the branches of the queue lets nothing land. */
function isMergedUnproven({ errorCode, record, s }: DecisionContext): boolean {
  if (errorCode !== 'protection_conflict') return false;
  return (
    !s.protection.known || s.protection.value === null || !requiresContext(s.protection.value, record.context)
  );
}

/** Looked up for each pull request of a long line. */
interface Stands {
  /** The queue has stopped: those in line are told so. */
  readonly isStopped: boolean;
  /** The first pull request with each head: a status belongs to the commit, and one speaks. */
  readonly speakers: ReadonlyMap<CommitSha, PullRequestNumber>;
  readonly batches: ReadonlyMap<PullRequestNumber, Batch>;
  /** Counted when it is asked for: most looks write no place. */
  readonly places: () => ReadonlyMap<PullRequestNumber, number>;
}

function standsOf(record: QueueRecord): Stands {
  const { entries, batches } = record;
  let places: ReadonlyMap<PullRequestNumber, number> | null = null;
  return {
    isStopped: isStagingStopped(record),
    speakers: new Map(entries.map(({ head, pr }) => [head, pr] as const).reverse()),
    batches: new Map(
      batches.flatMap((batch) => activeMembers(batch).map(({ pr }) => [pr, batch] as const)).reverse(),
    ),
    places: () => {
      places ??= placesInLine(record);
      return places;
    },
  };
}

/** The words to write on its head; null: none. */
function wordsOf(entry: QueueEntry, { isStopped, speakers, batches, places }: Stands): string | null {
  const { pr, head, readyAt } = entry;
  if (readyAt === null || !isBound(entry) || speakers.get(head) !== pr) return null;
  const last = entry.said?.head === head ? entry.said.description : undefined;
  const said = last === undefined || isDeparture(last) || isLandingTold(last) ? undefined : last;
  if (said !== undefined && !isProgress(said)) return null;
  const batch = batches.get(pr);
  if (batch?.landing?.head === head) return null;
  if (isStopped && (batch === undefined || waitsForStaging(batch, pr)))
    return said === describeStopped() ? null : describeStopped();
  // Nothing stands against it: that is as good as being in line. So is a batch that could not be built at once.
  if (batch === undefined || (batch.chain.length === 0 && batch.builds > 0))
    return said !== undefined && (isInLine(said) || said === describeQueued())
      ? null
      : describeInLine(places().get(pr) ?? 1);
  if (!isWhole(batch) || batch.chain.length === 0 || said === describeStaged()) return null;
  return describeStaged();
}

function isProgress(description: string): boolean {
  return (
    isInLine(description) || [describeStopped(), describeStaged(), describeQueued()].includes(description)
  );
}

/** From 1, as the page counts: the forge keeps the schedule of one that was bounced, and it is out of the queue all the same. */
function placesInLine(record: QueueRecord): ReadonlyMap<PullRequestNumber, number> {
  const line = record.entries.filter((entry) => !isBounced(record, entry));
  return new Map(line.map(({ pr }, at) => [pr, at + 1]));
}
