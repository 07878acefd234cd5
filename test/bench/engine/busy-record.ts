import type { NodeRowId } from '#core/domain/ids.ts';
import { decide } from '../../../engine-container/src/queue/decide.ts';
import { fold } from '../../../engine-container/src/queue/fold.ts';
import type { QueueRecord } from '../../../engine-container/src/queue/record/record.ts';
import type { Snapshot } from '../../../engine-container/src/queue/snapshot.ts';
import { givenRecord } from '../../builders/queue-record.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';
import { SymbolicForge } from '../queue/symbolic-forge.ts';
import { planPullRequests, type Scenario } from '../queue/workload.ts';

const ROUNDS = 6;
const CI_MINUTES = 30;
const FANOUT = 16;
const PASSES_MAX = 1_000;

/** A repository in the middle of a bad day: `pulls` open pull requests, all slots in use, as many nodes as asked for. */
export function busyRecord(size: { readonly pulls: number; readonly nodes: number }): {
  readonly snapshot: Snapshot;
  readonly record: QueueRecord;
} {
  const scenario: Scenario = {
    name: 'busy',
    n: Math.round(size.pulls * 1.1),
    arrivals: { kind: 'once' },
    p: 0.1,
    ci: { kind: 'lognormal', D: CI_MINUTES, sigma: 0.35 },
  };
  const planned = planPullRequests(scenario, 1);
  const forge = new SymbolicForge(scenario, planned, createSeededRandom(1));
  for (const each of planned) forge.schedule(each, 0);
  let record: QueueRecord = givenRecord();
  let now = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let pass = 0; pass < PASSES_MAX; pass += 1) {
      const snapshot = forge.snapshot(now, record, FANOUT, true);
      const decision = decide(snapshot, record);
      record = decision.record;
      for (const action of decision.actions)
        record = fold(snapshot, record, action, forge.perform(now, action), now).record;
      if (decision.actions.length === 0 && decision.pollMs !== 0) break;
    }
    now = forge.nextEnd(now);
  }
  return { snapshot: forge.snapshot(now, record, FANOUT, true), record: withNodes(record, size.nodes) };
}

/** Split again and again: resolved nodes stay in the tree of their batch until it ends. */
function withNodes(record: QueueRecord, wanted: number): QueueRecord {
  const batches = record.batches.map((batch) => ({ ...batch, nodes: [...batch.nodes] }));
  let count = batches.reduce((sum, batch) => sum + batch.nodes.length, 0);
  for (let turn = 0; count < wanted; turn += 1) {
    const batch = batches[turn % batches.length];
    const first = batch?.nodes[0];
    if (batch === undefined || first === undefined) break;
    count += 1;
    batch.nodes.push({
      ...first,
      id: `${first.id}-${count}` as NodeRowId,
      nodeId: `r.${count}`,
      state: 'done',
      outcome: 'superseded',
      branch: null,
    });
  }
  return { ...record, batches };
}
