import type { DecisionContext } from '../decision-context.ts';
import type { Batch } from '../record/record.ts';
import { dissolve } from './end-batch.ts';
import { retireNode } from './nodes.ts';
import { inFlightOf } from './pipeline.ts';

/**
 * A batch that was never built has nothing of the base that it was meant for: its patches may not even apply to the one
 * that is there now, and a forge says no more of that than that it failed.
 */
export function dissolveOnOldBase(pass: DecisionContext): void {
  const { base } = pass.s;
  if (!base.known) return;
  dissolveUnbuilt(pass, (batch) => batch.stagedOn === null && batch.groundSha !== base.value.sha);
}

/**
 * A batch that is not built yet is opened anew where members of another one came back to the line before it: only while they
 * were in the other one was a later one of the same files kept from overtaking them (decision 0255).
 */
export function dissolveOvertaking(pass: DecisionContext): void {
  const { record, inFlightBefore } = pass;
  const inFlight = inFlightOf(record);
  const first = record.entries.findIndex(({ pr }) => inFlightBefore.has(pr) && !inFlight.has(pr));
  if (first < 0) return;
  const behind = new Set(record.entries.slice(first).map(({ pr }) => pr));
  dissolveUnbuilt(pass, ({ members }) => members.some(({ pr }) => behind.has(pr)));
}

function dissolveUnbuilt(pass: DecisionContext, isDue: (batch: Batch) => boolean): void {
  const { record } = pass;
  for (const batch of [...record.batches]) {
    const isUnbuilt = batch.chain.length === 0 && batch.teardown === null;
    // One that stood on another may have ended with it.
    if (!isUnbuilt || !isDue(batch) || !record.batches.includes(batch)) continue;
    // A call without an answer may have made its branches.
    for (const node of batch.nodes) retireNode(pass, node);
    dissolve(pass, batch);
  }
}
