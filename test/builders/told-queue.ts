import type { Obligations } from '#core/domain/queue/obligations.ts';
import type { QueueView } from '#core/domain/queue/queue-view.ts';

/** Nothing on the forge and nothing owed to it, unless `changes` say otherwise. */
export function givenObligations(changes: Partial<Obligations> = {}): Obligations {
  return { at: 0, open: false, successStands: false, inFlight: [], atRest: false, left: null, ...changes };
}

/** An empty queue, unless `changes` say otherwise. */
export function givenQueueView(changes: Partial<QueueView> = {}): QueueView {
  const block = { kind: 'empty', since: null, until: null, pr: null, runUrl: null } as const;
  return { at: 0, places: [], more: 0, block, ...changes };
}
