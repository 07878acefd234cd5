import { holdToTell, sayPause } from '#core/domain/repos/pause.ts';
import { isInFlight } from '../batches/pipeline.ts';
import { type DecisionContext, wakeNoLaterThan } from '../decision-context.ts';
import { mustWordsWait } from '../record/bounds.ts';
import { isBound, type QueueEntry } from '../record/queue-entry.ts';
import type { QueueRecord } from '../record/record.ts';
import { isSpokenFor } from '../words/spoken-for.ts';
import { wishStatus } from '../words/wish-status.ts';
import { holdAt, isKeptFromStaging } from './holds.ts';

/** Says on each head that only the pause keeps from being staged until when it lasts, and goes on by itself then. */
export function sayPaused(pass: DecisionContext): void {
  const { record, s } = pass;
  const hold = s.repo.queueEnabled ? holdAt(record, s.repo, s.now) : null;
  if (hold === null) return;
  for (const entry of record.entries) {
    if (!isKeptFromStaging(hold, entry) || !waitsForNothingElse(record, entry)) continue;
    const told = holdToTell(hold, entry);
    if (told.until !== null) wakeNoLaterThan(pass, told.until);
    if (mustWordsWait(record)) continue;
    const description = sayPause(told);
    const { pr, head: sha, said } = entry;
    if (said?.head === sha && said.description === description) continue;
    wishStatus(pass, { pr, sha, state: 'pending', description, targetUrl: null });
  }
}

function waitsForNothingElse(record: QueueRecord, entry: QueueEntry): boolean {
  const { pr, head, readyAt } = entry;
  if (readyAt === null || !isBound(entry) || isSpokenFor(record, head)) return false;
  return !isInFlight(record, pr);
}
