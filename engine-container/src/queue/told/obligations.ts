import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { LeftHead, LeftHeads, Obligations } from '#core/domain/queue/obligations.ts';
import { activeMembers } from '../batches/pipeline.ts';
import { type EarlierHead, type StagedHead, unreadStanding } from '../record/recall-state.ts';
import type { Batch, QueueRecord } from '../record/record.ts';

/** The obligations of this record on the forge, for a service that stops the queue or deletes the repo. */
export function toObligations(record: QueueRecord, at: EpochMs): Obligations {
  const landing = landingsOf(record.batches);
  const members = record.batches.flatMap(activeMembers);
  const unread = unreadStanding(record, at);
  return {
    at,
    open: isOpen(record),
    successStands: record.batches.some(isSuccessStanding) || unread.length > 0,
    inFlight: [...new Set([...landing, ...members, ...unread].map(({ pr }) => pr))],
    atRest: !isOpen(record) && record.entries.length === 0 && record.halted === null,
    left: toLeftHeads(record),
    ...(record.repoId === undefined ? {} : { repoId: record.repoId }),
  };
}

function landingsOf(batches: readonly Batch[]) {
  return batches.flatMap((batch) => (batch.landing === null ? [] : [batch.landing]));
}

function isSuccessStanding({ landing }: Batch): boolean {
  return landing !== null && (landing.takeBack?.postedAt ?? null) === null;
}

/** The posts that a queue that goes off has to undo, or to hand over, before it is left alone (D-24). */
function isOpen({ batches, pendingStatuses, garbage, recall, reread, unheard }: QueueRecord): boolean {
  const isListed = batches.length > 0 || pendingStatuses.length > 0 || garbage.length > 0;
  return isListed || recall !== undefined || reread !== undefined || unheard !== undefined;
}

/** Heads on which a success may stand, or a last word is missing, should this record never be gone on with. */
function toLeftHeads({
  context,
  batches,
  pendingStatuses,
  recall = [],
  recallHeads = [],
  unheard = [],
}: QueueRecord): LeftHeads | null {
  const heads = new Map<string, LeftHead>();
  const words = pendingStatuses.filter(({ takesBack }) => takesBack !== true);
  const isTold = ({ mayStand, until }: EarlierHead): boolean => mayStand === true && until === undefined;
  const untold = recallHeads.filter((each) => !isTold(each));
  for (const { pr, head } of [...words.map(headOf), ...untold])
    heads.set(`${pr} ${head}`, { pr, head, isMereWord: true });
  const takenBack = pendingStatuses.filter(({ takesBack }) => takesBack === true);
  for (const { pr, head } of [
    ...landingsOf(batches),
    ...[...takenBack, ...unheard].map(headOf),
    ...recallHeads.filter(isTold),
  ])
    heads.set(`${pr} ${head}`, { pr, head });
  if (heads.size === 0 && recall.length === 0) return null;
  return { context, prs: [...recall], heads: [...heads.values()] };
}

function headOf({ pr, sha }: { readonly pr: PullRequestNumber; readonly sha: CommitSha }): StagedHead {
  return { pr, head: sha };
}
