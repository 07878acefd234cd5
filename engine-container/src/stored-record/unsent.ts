import { QUEUE_WRITE_ROWS_MAX } from '#core/domain/limits.ts';
import { type ActivityEvent, endsPullRequest, type NodeRow } from '#core/domain/queue/batch.ts';

/** Rows and events that are decided and not stored yet, oldest first. */
export interface Unsent {
  readonly batches: readonly NodeRow[];
  readonly events: readonly ActivityEvent[];
}

export const NOTHING_UNSENT: Unsent = { batches: [], events: [] };

export function isEmpty({ batches, events }: Unsent): boolean {
  return batches.length === 0 && events.length === 0;
}

/** As much as one transaction takes beside the record and `used` other rows, and what is left for the next ones. */
export function takeWrite(unsent: Unsent, used: number): Unsent & { readonly left: Unsent } {
  const places = QUEUE_WRITE_ROWS_MAX - used;
  const batches = unsent.batches.slice(0, places);
  let free = places - batches.length;
  let count = 0;
  for (const event of unsent.events) {
    free -= endsPullRequest(event) ? 2 : 1;
    if (free < 0) break;
    count += 1;
  }
  return {
    batches,
    events: unsent.events.slice(0, count),
    left: { batches: unsent.batches.slice(batches.length), events: unsent.events.slice(count) },
  };
}
