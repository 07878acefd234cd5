import type { PullRequestNumber } from '#core/domain/ids.ts';
import { startTeardown } from './batch.ts';
import { type DecisionContext, entryOf, pollNoLaterThan } from './decision-context.ts';
import { readyEntries } from './entries.ts';
import { activeMembers, nextToLand } from './pipeline.ts';
import { gateMsOf } from './policy.ts';
import type { QueueEntry } from './queue-entry.ts';
import type { Batch, QueueRecord } from './record.ts';

/** A gate run that is past this share of its usual time is not thrown away for an incident. */
const KEPT_SHARE = 0.5;

export function isIncident({ priority }: QueueEntry): boolean {
  return priority === 'incident';
}

/**
 * Takes batches apart that an incident would wait for longer than for its own gate run; all their members keep their places.
 * Kept are what lands now, a gate run that is more than half done, and a batch with another incident. Each head overtakes
 * once: one that cannot land must not keep the others from it. Returns whether any is taken apart: then nothing is staged in
 * this look.
 */
export function overtake(pass: DecisionContext, baseTree: string): boolean {
  const { record } = pass;
  if (nextToLand(record) !== null) return false;
  const incidents = readyEntries(pass, baseTree, true).filter(
    (entry) => isIncident(entry) && entry.overtook !== entry.head,
  );
  const overtaken = record.batches.filter((batch) => !isKept(pass, batch));
  if (incidents.length === 0 || overtaken.length === 0) return false;
  for (const batch of overtaken) startTeardown(pass, batch, 'overtaken');
  for (const entry of incidents) entry.overtook = entry.head;
  pollNoLaterThan(pass, 0);
  return true;
}

function isKept(pass: DecisionContext, batch: Batch): boolean {
  const { record, s } = pass;
  if (batch.teardown !== null || batch.landing !== null) return true;
  if (activeMembers(batch).some(({ pr }) => isIncidentOf(record, pr))) return true;
  const usualMs = gateMsOf(record.rate);
  return batch.nodes.some(
    ({ state, stagedAt }) =>
      state === 'gating' &&
      // How much of the first gate runs is done is not known: they are not thrown away.
      (usualMs === null || s.now - (stagedAt ?? s.now) >= KEPT_SHARE * usualMs),
  );
}

function isIncidentOf(record: QueueRecord, pr: PullRequestNumber): boolean {
  const entry = entryOf(record, pr);
  return entry !== undefined && isIncident(entry);
}
