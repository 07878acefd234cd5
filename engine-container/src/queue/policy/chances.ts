import { activeMembers } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import { frontierOf } from '../gate/evidence.ts';
import { suspicionOf } from '../gate/suspicion.ts';
import type { Batch } from '../record/record.ts';
import { forecastOfGood, policyFor } from './in-force.ts';

/** Chance that all who are still in this batch are good; of one that failed, that none was to blame. */
export function chanceOf(pass: DecisionContext, batch: Batch): number {
  const { low, high } = frontierOf(pass.record, batch);
  if (high !== null && policyFor(pass).pieces.foresight) return suspicionOf(pass, batch, low, high).none;
  return activeMembers(batch).reduce((product, member) => product * forecastOfGood(pass, member), 1);
}
