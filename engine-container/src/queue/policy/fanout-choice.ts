import type { EpochMs } from '#core/domain/ids.ts';
import { runsOut } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import type { QueueRecord } from '../record/record.ts';
import { type AutoFanout, chooseAutoFanout, countArrival, startAutoFanout } from './auto-fanout.ts';
import { gateMsOf } from './pace.ts';
import { countOutcome } from './policy.ts';

/** Where the settings leave it to the engine, the fan-out is chosen anew when enough has landed; else nothing is kept. */
export function adoptFanout({ record, s }: DecisionContext): void {
  const { fanoutAuto, autoRunsPer100Landed: budget } = s.repo;
  if (!fanoutAuto) {
    delete record.autoFanout;
    return;
  }
  const out = runsOut(record).length;
  const auto = record.autoFanout ?? startAutoFanout(budget);
  record.autoFanout = chooseAutoFanout(auto, { gateMs: gateMsOf(record.rate), budget, out });
}

export function noteArrival(record: QueueRecord, at: EpochMs): void {
  change(record, (auto) => countArrival(auto, at));
}

/** A gate run has begun. */
export function countRunStarted(record: QueueRecord): void {
  change(record, (auto) => ({ ...auto, since: { ...auto.since, runs: auto.since.runs + 1 } }));
}

/** A landing, for the rate and for the chosen fan-out alone. */
export function countLanding(record: QueueRecord, hadPassed = false): void {
  record.rate = countOutcome(record.rate, 'landed', hadPassed);
  change(record, (auto) => ({ ...auto, since: { ...auto.since, landed: auto.since.landed + 1 } }));
}

function change(record: QueueRecord, to: (auto: AutoFanout) => AutoFanout): void {
  if (record.autoFanout !== undefined) record.autoFanout = to(record.autoFanout);
}
