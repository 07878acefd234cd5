import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Snapshot } from '../snapshot.ts';

type Asked = Pick<QueueEntry, 'hadStyle' | 'neededNoSignature'>;

/**
 * Keeps, of one that is seen under a new schedule, that its style is allowed and that no signature is asked for. A change of these is
 * likely why its merge does not come then. A forge without a key takes no schedule under a rule that asks for signed commits (forge facts, 4).
 */
export function noteAsked(
  entry: Asked,
  { allowedStyles }: PullRequest,
  { protection, repo }: Pick<Snapshot, 'protection' | 'repo'>,
): void {
  delete entry.hadStyle;
  delete entry.neededNoSignature;
  if (allowedStyles?.includes(repo.mergeStyle) === true) entry.hadStyle = true;
  if (!protection.known || protection.value?.requiresSigned === true) return;
  // What a bot that is no administrator reads of a rule says nothing of signatures.
  if (protection.value === null || protection.value.scope === 'full') entry.neededNoSignature = true;
}
