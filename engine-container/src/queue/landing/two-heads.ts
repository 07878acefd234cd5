import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { STAGING_PAUSE_MS, STAGING_PAUSE_MS_MAX } from '#core/domain/limits.ts';
import { defer } from '../batches/defer.ts';
import { type DecisionContext, tellRefusal } from '../decision-context.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Batch } from '../record/record.ts';

/**
 * The list, by which it was staged, and its own reading contradict each other. Readings lag, so both have a time to agree. Where
 * they show the same two heads once more, the forge has two for good: a branch that was deleted and made again, on a forge
 * that opens the pull request again with the head of before. Then it would be staged and given up without end.
 */
export function noteContradiction(
  pass: DecisionContext,
  batch: Batch,
  entry: QueueEntry,
  { headSha: other, state }: Pick<PullRequest, 'headSha' | 'state'>,
): void {
  const { pr, head, twoHeads } = entry;
  const isOfHeads = state === 'open' && other !== head;
  if (isOfHeads && twoHeads?.head === head && twoHeads.other === other)
    return setTwoHeadsAside(pass, batch, entry, other);
  if (isOfHeads) entry.twoHeads = { head, other };
  else delete entry.twoHeads;
  entry.contradictedAt = pass.s.now;
  batch.fates.push({ pr, action: 'requeued', reason: 'candidate_changed' });
}

/** Tried again alone, and later each time: no other is in its batch, each try may cost a gate run, and most end alike. */
export function setTwoHeadsAside(
  pass: DecisionContext,
  batch: Batch,
  entry: QueueEntry,
  other: CommitSha,
): void {
  const { pr, head, twoHeads } = entry;
  entry.timesSetAside ??= 0;
  const times = twoHeads?.head === head && other === twoHeads.other ? (twoHeads.times ?? 0) : 0;
  entry.twoHeads = { head, other, times: times + 1 };
  const until = pass.s.now + Math.min(STAGING_PAUSE_MS * 2 ** times, STAGING_PAUSE_MS_MAX);
  defer(pass, entry, { reason: 'heads_differ', baseTree: batch.groundTree, until });
  tellRefusal(pass, entry, 'heads_differ');
  batch.fates.push({ pr, action: 'refused', reason: 'heads_differ' });
}
