import {
  BASE_NODE_ID,
  type Batch,
  type QueueRecord,
} from '../../../../engine-container/src/queue/record/record.ts';
import { measure } from '../../../bench/queue/measure.ts';
import type { PlannedPullRequest, Scenario } from '../../../bench/queue/workload.ts';

/** Plans of a few pull requests, played by the decision without a forge. */
export const CI_MINUTES = 10;

function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const each of Object.values(value)) freezeDeep(each);
}

/** Every record is one that a later engine reads back, and no pass writes into the record that it was given. */
export function inspect(record: QueueRecord): void {
  freezeDeep(record);
  if (record.batches.filter((batch) => batch.landing !== null).length > 1)
    throw new Error('two land at once');
  const held = record.batches.flatMap((batch) =>
    batch.members.slice(Math.max(batch.landed, batch.released), batch.limit).map((member) => member.pr),
  );
  if (new Set(held).size < held.length) throw new Error('one pull request is in two batches');
}

/** In these plans no gate run is lost or unclear: a node that fails alone is confirmed by one more, and none has a third. */
const RUNS_OF_NODE_MAX = 2;

/** No search takes more nodes than one that splits each of its own (A36). The probe of the base is none of them. */
function inspectEnded(batch: Batch): void {
  const ran = batch.nodes.filter((node) => node.nodeId !== BASE_NODE_ID && (node.runs ?? 0) > 0);
  if (ran.length > 2 * batch.members.length - 1)
    throw new Error(`${ran.length} nodes with a gate run for ${batch.members.length} members`);
  if (ran.some((node) => (node.runs ?? 0) > RUNS_OF_NODE_MAX))
    throw new Error('a node has too many gate runs');
}

export function plan(bad: readonly boolean[], gapMinutes: number): readonly PlannedPullRequest[] {
  return bad.map((each, index) => ({
    number: index + 1,
    arrivesAtMs: index * gapMinutes * 60_000,
    bad: each,
    clashes: [],
    conflicts: [],
  }));
}

export function play(
  planned: readonly PlannedPullRequest[],
  fanout: number,
  scenario: Partial<Scenario> = {},
  cold = true,
) {
  return measure({
    scenario: {
      name: 'small',
      n: planned.length,
      arrivals: { kind: 'once' },
      ci: { kind: 'fixed', D: CI_MINUTES },
      ...scenario,
    },
    fanout,
    seed: 1,
    cold,
    planned,
    inspect,
    inspectEnded,
  });
}
