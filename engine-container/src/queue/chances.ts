import { type DecisionContext, forecastOfGood, policyFor } from './decision-context.ts';
import { frontierOf } from './evidence.ts';
import { activeMembers } from './pipeline.ts';
import type { Batch } from './record.ts';
import { suspicionOf } from './suspicion.ts';

/** Chance that all who are still in this batch are good; of one that failed, that none was to blame. */
export function chanceOf(pass: DecisionContext, batch: Batch): number {
  const { low, high } = frontierOf(pass.record, batch);
  if (high !== null && policyFor(pass).foresees) return suspicionOf(pass, batch, low, high).none;
  return activeMembers(batch).reduce((product, member) => product * forecastOfGood(pass, member), 1);
}
