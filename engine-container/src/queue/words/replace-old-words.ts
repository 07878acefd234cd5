import { PAUSED_PREFIX } from '#core/domain/repos/pause-words.ts';
import { isLandingHead } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import { hasLandedHead } from '../landing/landed.ts';
import { hasStopped, holdAt, isKeptFromStaging } from '../line/holds.ts';
import { mustWordsWait } from '../record/bounds.ts';
import { isBound, type QueueEntry } from '../record/queue-entry.ts';
import { keepsWords } from './deferral-words.ts';
import { describeQueued } from './phrases.ts';
import { isSpokenFor } from './spoken-for.ts';
import { wishStatus } from './wish-status.ts';

/**
 * Words that have stopped being true are replaced at once: of a bounce that was scheduled again, a head that was renewed, a
 * refusal or a conflict that is over, once staging has said so. What was `pending` for the queue itself stays: the next step writes over it.
 */
export function replaceOldWords(pass: DecisionContext): void {
  for (const entry of pass.record.entries) {
    if (mustWordsWait(pass.record)) return;
    if (!isOutdated(pass, entry)) continue;
    const { pr, head: sha } = entry;
    wishStatus(pass, { pr, sha, state: 'pending', description: describeQueued(), targetUrl: null });
  }
}

function isOutdated(pass: DecisionContext, entry: QueueEntry): boolean {
  const { record } = pass;
  const { said, head } = entry;
  if (said === undefined || said.head !== head || said.state === 'success') return false;
  if (keepsWords(entry) && !hasStopped(record)) return false;
  if (said.state === 'pending' && !isOfSomethingOver(pass, entry, said.description)) return false;
  if (entry.readyAt === null || !isBound(entry) || isSpokenFor(record, head)) return false;
  // One that landed along with another of its head is in no list soon, and an open one to another branch goes on to show its words.
  return !isLandingHead(record, head) && !hasLandedHead(record, head);
}

/** `pending` words of a wait that has ended, where nothing else of this look says so. */
function isOfSomethingOver({ record, s }: DecisionContext, entry: QueueEntry, description: string): boolean {
  if (description.startsWith(PAUSED_PREFIX)) return !isKeptFromStaging(holdAt(record, s.repo, s.now), entry);
  return description.startsWith('waiting:');
}
