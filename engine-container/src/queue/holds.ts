import type { Hold } from '#core/domain/pause.ts';
import type { QueueEntry } from './queue-entry.ts';

type Labels = Pick<QueueEntry, 'isExempt'>;

/** A pause, a drain or a freeze window keeps it from being staged. */
export function isHeldUp(hold: Hold | null, entry: Labels): boolean {
  return hold !== null && (hold.isDrained || !isExemptFrom(hold, entry));
}

/** A pause or a freeze window keeps it from landing, also where it is in flight. */
export function isTakenBack(hold: Hold | null, entry: Labels | undefined): boolean {
  return hold?.kind === 'pause' && !isExemptFrom(hold, entry);
}

function isExemptFrom({ isFreeze }: Hold, entry: Labels | undefined): boolean {
  return isFreeze && entry?.isExempt === true;
}
