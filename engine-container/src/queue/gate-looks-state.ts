import type { HeardEvents } from '#core/domain/heard-events.ts';
import type { EpochMs } from '#core/domain/ids.ts';

/** Polls of the gates where an event tells of each verdict. */
export interface GateLooks {
  /** The next rare poll; absent: the gates are polled as where no event comes, or none is out. */
  readonly at?: EpochMs;
  /** When a rare poll found a verdict that no event had told of, by the kind that would have; absent: never. */
  readonly missedAt?: HeardEvents;
}
