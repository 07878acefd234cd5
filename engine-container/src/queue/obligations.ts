import type { EpochMs } from '#core/domain/ids.ts';
import type { LeftHeads, Obligations } from '#core/domain/obligations.ts';
import { activeMembers } from './pipeline.ts';
import type { QueueRecord, Root, StagedHead } from './record.ts';

/** What the queue of this record has on the forge or owes it, for a service that stops the queue or deletes the repo. */
export function toObligations(record: QueueRecord, at: EpochMs): Obligations {
  const landing = landingOf(record.roots);
  const members = record.roots.flatMap(activeMembers);
  return {
    at,
    open: isOpen(record),
    successStands: record.roots.some(isSuccessStanding),
    inFlight: [...new Set([...landing, ...members].map(({ pr }) => pr))],
    atRest: !isOpen(record) && record.entries.length === 0 && record.halted === null,
    left: toLeftHeads(record),
  };
}

function landingOf(roots: readonly Root[]) {
  return roots.flatMap((root) => (root.landing === null ? [] : [root.landing]));
}

function isSuccessStanding({ landing }: Root): boolean {
  return landing !== null && (landing.revoke?.postedAt ?? null) === null;
}

/** What a queue that goes off has to undo, or to hand over, before it is left alone (D-24). */
function isOpen({ roots, pendingStatuses, garbage, recall, unheard }: QueueRecord): boolean {
  const isListed = roots.length > 0 || pendingStatuses.length > 0 || garbage.length > 0;
  return isListed || recall !== undefined || unheard !== undefined;
}

/** Heads on which a success may stand, or a last word is missing, should this record never be gone on with. */
function toLeftHeads({
  context,
  roots,
  pendingStatuses,
  recall = [],
  recallHeads = [],
  unheard = [],
}: QueueRecord): LeftHeads | null {
  const heads = new Map<string, StagedHead>();
  for (const { pr, head } of [
    ...landingOf(roots),
    ...[...pendingStatuses, ...unheard].map(({ pr, sha }) => ({ pr, head: sha })),
    ...recallHeads,
  ]) {
    heads.set(`${pr} ${head}`, { pr, head });
  }
  if (heads.size === 0 && recall.length === 0) return null;
  return { context, prs: [...recall], heads: [...heads.values()] };
}
