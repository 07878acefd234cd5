import type { BatchId } from '#core/domain/ids.ts';
import { cutBatchAt } from '../batches/end-batch.ts';
import { activeMembers, pipelineOf, provenLength } from '../batches/pipeline.ts';
import { type DecisionContext, entryOf } from '../decision-context.ts';
import { readyEntries } from '../line/ready.ts';
import { chanceOfGood, policyFor } from '../policy/in-force.ts';
import { flakeRate, type Suspicion, suspect } from '../policy/policy.ts';
import type { Batch } from '../record/record.ts';
import { verdictOfPrefix } from './evidence.ts';

/**
 * Who of the members behind the proven prefix, up to the failing one, may be the first bad one, by all failing gate runs of
 * this batch: a longer one that failed may have its cause behind them. `none` is the chance that none of these is the cause.
 */
export function suspicionOf(
  pass: DecisionContext,
  batch: Batch,
  low: number,
  high: number,
  chance: typeof chanceOfGood = chanceOfGood,
): Suspicion {
  const { record } = pass;
  const failures: number[] = [];
  for (let length = high; length <= batch.chain.length; length += 1) {
    const verdict = verdictOfPrefix(record, batch, length);
    if (verdict.proof === null) failures.push(...verdict.failures.map(() => length - low));
  }
  const longest = Math.max(high - low, ...failures);
  const good = batch.members.slice(low, low + longest).map((member) => chance(pass, member));
  const flake = policyFor(pass).pieces.flakes ? flakeRate(record.rate) : 0;
  const weights = suspect({ good, failures, flake }).weights.slice(0, high - low);
  return { weights, none: Math.max(0, 1 - weights.reduce((sum, weight) => sum + weight, 0)) };
}

/**
 * True when a search on a base that has moved is better continued on the queue: what it proves there would have to be
 * gated once more, and no newcomer waits for a suspect.
 */
export function isSearchedInQueue(pass: DecisionContext, batch: Batch): boolean {
  const { record, s } = pass;
  const policy = policyFor(pass);
  // Several cuts at once end a search sooner than the queue would.
  if (!policy.pieces.rejoining || policy.cuts > 1 || !s.base.known || !s.full) return false;
  const others = record.batches.filter((other) => other !== batch);
  if (others.some((other) => other.stagedOn !== null || provenLength(record, other) < other.limit))
    return false;
  if (pipelineOf(record).some((other) => other.chain.length === 0)) return false;
  return readyEntries(pass, s.base.value.tree, true).every(
    (entry) => entry.passedOnStaleBase || entry.failureProbability !== null,
  );
}

/**
 * Gives the suspects back to the queue, each with its chance to be the bad one if all before it are good: their product
 * is exactly what the failing gate run says of every prefix, as long as they keep their order.
 */
export function returnSuspects(
  pass: DecisionContext,
  batch: Batch,
  low: number,
  { weights }: Suspicion,
): void {
  let left = 1;
  for (const [index, weight] of weights.entries()) {
    const member = batch.members[low + index];
    const entry = member === undefined ? undefined : entryOf(pass.record, member.pr);
    if (entry !== undefined && entry.head === member?.head && !entry.passedOnStaleBase)
      entry.failureProbability = { by: batch.batchId, chance: left <= 0 ? 1 : Math.min(1, weight / left) };
    left -= weight;
  }
  cutBatchAt(batch, low);
  pass.refresh = true;
}

/** A failing gate run among the suspects explains the earlier one: who is not in it is a stranger again. */
export function settleProbabilities(pass: DecisionContext, batch: Batch): void {
  const inside = new Set(activeMembers(batch).map((member) => member.pr));
  const explained = new Set<BatchId>();
  for (const pr of inside) {
    const failureProbability = entryOf(pass.record, pr)?.failureProbability;
    if (failureProbability != null) explained.add(failureProbability.by);
  }
  if (explained.size === 0) return;
  for (const entry of pass.record.entries) {
    if (
      entry.failureProbability !== null &&
      explained.has(entry.failureProbability.by) &&
      !inside.has(entry.pr)
    )
      entry.failureProbability = null;
  }
}
