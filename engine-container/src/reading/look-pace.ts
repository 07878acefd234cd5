import type { EpochMs } from '#core/domain/ids.ts';
import { headSettlesAt } from '../queue/admission/eligibility.ts';
import { nextToLand } from '../queue/batches/pipeline.ts';
import type { QueueRecord } from '../queue/record/record.ts';

/** How seldom a long reconcile looks again at what is not in front of it. */
export interface LookPace {
  readonly everythingMs: number;
  readonly gatesMs: number;
}

/** A head that moved meanwhile must not be searched for much longer. */
const RESTING: LookPace = { everythingMs: 5_000, gatesMs: 450 };
/** Each pull request is looked at right before its turn, and what another gate run has to say changes nothing of that. */
const LANDING: LookPace = { everythingMs: 15_000, gatesMs: 5_000 };

export function paceOf(record: QueueRecord, now: EpochMs): LookPace {
  return isLanding(record, now) ? LANDING : RESTING;
}

/** While a proven head that was just scheduled settles, no landing is in the way of what other gate runs have to say. */
function isLanding(record: QueueRecord, now: EpochMs): boolean {
  const batch = nextToLand(record);
  if (batch === null || batch.landing !== null) return batch !== null;
  const next = record.entries.find(({ pr }) => pr === batch.members[batch.landed]?.pr);
  return now >= headSettlesAt(next, record.readings);
}
