import type { DecisionContext } from '../decision-context.ts';
import { isIncidentIn } from '../line/incidents.ts';
import { chanceOf } from '../policy/chances.ts';
import { policyFor } from '../policy/in-force.ts';
import type { Batch, QueueRecord } from '../record/record.ts';
import { batchAbove, batchBelow, pipelineOf } from './pipeline.ts';
import { freeSlots } from './start-batch.ts';

/** In a pipeline of several batches one with fewer members shares no gate run, nor one that passes less often (decision 0288). */
const SHARED_RUN_MEMBERS_MIN = 7;
const SHARED_RUN_PASS_CHANCE_MIN = 0.72;

/**
 * Only where batches are built on each other, and nothing asks for its verdict at once. A pipeline of several batches has a place
 * for those behind: a gate run that is shared saves a run, and costs the time of one where it fails.
 */
export function mayShareRun(pass: DecisionContext, batch: Batch): boolean {
  const { record, s } = pass;
  if (batch.place !== 'pipeline' || batch.isHalved === true) return false;
  if (policyFor(pass).depth > 1 && !isWorthSharing(pass, batch)) return false;
  if (isIncidentIn(record, batch)) return false;
  return s.protection.known && s.protection.value?.blockOnOutdatedBranch === false;
}

function isWorthSharing(pass: DecisionContext, batch: Batch): boolean {
  return (
    batch.members.length >= SHARED_RUN_MEMBERS_MIN && chanceOf(pass, batch) >= SHARED_RUN_PASS_CHANCE_MIN
  );
}

/**
 * A member that does not go along ends its batch there (A17). Those behind it come on top of that batch, and one gate run, of
 * the whole, speaks for both: by its success they land, by its failure the lower batch has a gate run of its own (decision 0259).
 */
function carrierOf(record: QueueRecord, batch: Batch): Batch | null {
  if (batch.sharesRun !== true) return null;
  const above = batchAbove(record, batch);
  if (above === undefined || above.teardown !== null) return null;
  // What the forge does not build, or takes long over, is not waited for.
  if ((above.stagingFailures ?? 0) > 0 || (above.unfinished ?? 0) > 0) return null;
  if (isIncidentIn(record, above)) return null;
  if (above.chain.length === 0) return above;
  // It failed, or its success is older than a retest of a member below and proves the upper batch alone.
  const isOver = above.nodes.every(({ state }) => state === 'done');
  return isOver || above.gateKey !== batch.gateKey ? null : above;
}

/** The batch whose gate run speaks for this one: itself, or the last one of those that it shares with. */
export function judgedWith(record: QueueRecord, batch: Batch): Batch {
  const above = carrierOf(record, batch);
  return above === null ? batch : judgedWith(record, above);
}

/** Batches at the top of the pipeline that have no gate run of their own yet: what is staged next shares it. */
export function sharingTop(record: QueueRecord): readonly Batch[] {
  const pipeline = pipelineOf(record);
  return pipeline.slice(pipeline.findLastIndex(({ sharesRun }) => sharesRun !== true) + 1);
}

/** Nothing has come on top, or what has says nothing about it: it has a gate run of its own from now on. */
export function endSharing(pass: DecisionContext): void {
  const { record } = pass;
  for (const batch of [...record.batches].reverse()) {
    if (batch.sharesRun !== true || carrierOf(record, batch) !== null) continue;
    delete batch.sharesRun;
    if (batchAbove(record, batch) !== undefined) endSharingBelow(pass, batch);
  }
}

/** The gate run of all says nothing: where slots are free, several below find out at once how much of it passes. */
function endSharingBelow(pass: DecisionContext, batch: Batch): void {
  const { record } = pass;
  const below: Batch[] = [];
  for (let next = batchBelow(record, batch); next?.sharesRun === true; next = batchBelow(record, next))
    below.push(next);
  const free = freeSlots(pass);
  const count = Math.min(free, below.length);
  for (let each = 0; each < count; each += 1)
    delete below[Math.floor((each * below.length) / count)]?.sharesRun;
}
