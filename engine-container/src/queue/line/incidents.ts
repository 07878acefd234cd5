import { startTeardown } from '../batches/end-batch.ts';
import { activeMembers, isWhole, nextToLand, openRunsOf, pipelineOf } from '../batches/pipeline.ts';
import { type DecisionContext, entryOf, pollNoLaterThan } from '../decision-context.ts';
import { chanceOf } from '../policy/chances.ts';
import { gateRunsMax, policyFor } from '../policy/in-force.ts';
import { gateMsOf } from '../policy/pace.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Batch, QueueRecord } from '../record/record.ts';
import { readyEntries } from './ready.ts';

/** A gate run that is past this share of its usual time is not thrown away for an incident. */
const KEPT_SHARE = 0.5;

export function isIncident({ priority }: QueueEntry): boolean {
  return priority === 'incident';
}

/**
 * Takes batches apart that an incident would wait for longer than for its own gate run; all their members keep their places.
 * Kept are what lands now, a gate run that is more than half done, a batch with another incident, a pipeline that most likely
 * passes and has a slot left for the incident on top of it, and what runs beside that. Each head overtakes once: one that
 * cannot land must not keep the others from it. Returns whether any is taken apart: then nothing is staged in this look.
 */
export function overtake(pass: DecisionContext, baseTree: string): boolean {
  const { record } = pass;
  if (nextToLand(record) !== null) return false;
  const incidents = readyEntries(pass, baseTree, true).filter(
    (entry) => isIncident(entry) && entry.overtook !== entry.head,
  );
  const kept = chooseKept(pass);
  const overtaken = record.batches.filter((batch) => !kept.has(batch));
  if (incidents.length === 0 || overtaken.length === 0) return false;
  for (const batch of overtaken) startTeardown(pass, batch, 'overtaken');
  for (const entry of incidents) entry.overtook = entry.head;
  pollNoLaterThan(pass, 0);
  return true;
}

/** The pipeline from its bottom, as far as the incident may be staged on it, then what stands beside it, while slots last. */
function chooseKept(pass: DecisionContext): ReadonlySet<Batch> {
  const { record } = pass;
  const kept = new Set(record.batches.filter((batch) => isKept(pass, batch)));
  let free = gateRunsMax(pass) - [...kept].reduce((sum, batch) => sum + openRunsOf(batch).length, 0) - 1;
  let chance = 1;
  let isGround = true;
  const pipeline = pipelineOf(record);
  for (const batch of [...pipeline, ...record.batches.filter((each) => !pipeline.includes(each))]) {
    if (batch.place === 'pipeline') {
      chance *= chanceOf(pass, batch);
      isGround &&= isWhole(batch) && batch.chain.length > 0 && chance >= policyFor(pass).aheadChance;
    }
    if (kept.has(batch)) continue;
    const fits = openRunsOf(batch).length <= free && (batch.place !== 'pipeline' || isGround);
    if (!fits) {
      if (batch.place === 'pipeline') isGround = false;
      continue;
    }
    kept.add(batch);
    free -= openRunsOf(batch).length;
  }
  return kept;
}

function isKept(pass: DecisionContext, batch: Batch): boolean {
  const { record, s } = pass;
  if (batch.teardown !== null || batch.landing !== null) return true;
  if (isIncidentIn(record, batch)) return true;
  const usualMs = gateMsOf(record.rate);
  return batch.nodes.some(
    ({ state, stagedAt }) =>
      state === 'gating' &&
      // How much of the first gate runs is done is not known: they are not thrown away.
      (usualMs === null || s.now - (stagedAt ?? s.now) >= KEPT_SHARE * usualMs),
  );
}

export function isIncidentIn(record: QueueRecord, batch: Batch): boolean {
  return activeMembers(batch).some(({ pr }) => {
    const entry = entryOf(record, pr);
    return entry !== undefined && isIncident(entry);
  });
}
