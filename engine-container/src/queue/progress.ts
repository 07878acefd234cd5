import { PENDING_STATUSES_MAX } from '#core/domain/limits.ts';
import { type DecisionContext, wishStatus } from './decision-context.ts';
import { describeInLine, describeQueued, describeStaged } from './describe.ts';
import { activeMembers, isWhole } from './pipeline.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { QueueRecord } from './record.ts';
import { isSpokenFor } from './spoken-for.ts';

/**
 * Says on each head where it stands: in line, or in a batch that is built. Nothing is written where other words hold, and
 * nothing about one that is being staged in this look: it is said once that is done.
 */
export function sayProgress(pass: DecisionContext): void {
  const { record, s } = pass;
  // Without the rule the forge merges what the queue says nothing about.
  if (!s.repo.queueEnabled || pass.errorCode === 'protection_conflict') return;
  for (const entry of record.entries) {
    // The rest is said in a later look: who waits to enter must not wait for these words.
    if (record.pendingStatuses.length >= PENDING_STATUSES_MAX / 2) return;
    const description = wordsOf(record, entry);
    if (description === null) continue;
    const { pr, head: sha } = entry;
    wishStatus(pass, { pr, sha, state: 'pending', description, targetUrl: null });
  }
}

/** The words to write on its head; null: none. */
function wordsOf(record: QueueRecord, entry: QueueEntry): string | null {
  const { pr, head, readyAt, scheduleId } = entry;
  if (readyAt === null || scheduleId === 0 || isSpokenFor(record, head)) return null;
  // A status belongs to the commit: of two with one head the first one speaks.
  if (record.entries.find((each) => each.head === head) !== entry) return null;
  const said = entry.said?.head === head ? entry.said.description : undefined;
  if (said !== undefined && !isProgress(said)) return null;
  const batch = record.batches.find((each) => activeMembers(each).some((member) => member.pr === pr));
  if (batch?.landing?.head === head) return null;
  if (batch === undefined) return said === undefined || said === describeStaged() ? describeInLine() : null;
  if (!isWhole(batch) || batch.chain.length === 0 || said === describeStaged()) return null;
  return describeStaged();
}

function isProgress(description: string): boolean {
  return [describeInLine(), describeStaged(), describeQueued()].includes(description);
}
