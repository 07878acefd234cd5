import type { EpochMs } from '#core/domain/ids.ts';
import { nextToLand } from './queue/pipeline.ts';
import type { QueueRecord } from './queue/record.ts';

/** How seldom a long reconcile looks again at what is not in front of it. */
export interface LookPace {
  readonly everythingMs: number;
  readonly gatesMs: number;
}

/** A head that moved meanwhile must not be searched for much longer. */
const RESTING: LookPace = { everythingMs: 5_000, gatesMs: 900 };
/** Each pull request is looked at right before its turn, and what another gate run has to say changes nothing of that. */
const LANDING: LookPace = { everythingMs: 15_000, gatesMs: 5_000 };

export function paceOf(record: QueueRecord): LookPace {
  return nextToLand(record) === null ? RESTING : LANDING;
}

export function earlier(one: EpochMs | null, other: EpochMs | null): EpochMs | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
