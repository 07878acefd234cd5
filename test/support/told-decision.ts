import type { Action } from '../../engine-container/src/queue/actions.ts';
import { decide } from '../../engine-container/src/queue/decide.ts';
import type { QueueRecord } from '../../engine-container/src/queue/record/record.ts';
import type { Snapshot } from '../../engine-container/src/queue/snapshot.ts';

function tellAction(action: Action): string {
  switch (action.kind) {
    case 'stage_batch': {
      const members = action.members.map(({ pr }) => `#${pr}`).join(' ');
      return `stage ${members} on ${action.groundSha} as ${action.branch}`;
    }
    case 'stage_tree':
      return `stage ${action.tree} on ${action.groundSha} as ${action.branch}`;
    case 'post_status':
      return `${action.state} on ${action.sha}: ${action.description}`;
    case 'probe_schedule':
      return `ask whether #${action.pr} is still scheduled`;
    case 'delete_branch':
      return `delete ${action.branch}`;
    case 'cancel_gate_run':
      return `cancel ${action.runKey}`;
  }
}

/** One decision in lines that can be written down: what is done, who is told, what is kept. */
export function tellDecision(snapshot: Snapshot, record: QueueRecord) {
  const decision = decide(snapshot, record);
  const { record: after } = decision;
  return {
    actions: decision.actions.map(tellAction),
    events: decision.events.map(
      ({ event, pr, reason }) => `${event} #${pr}${reason === null ? '' : `: ${reason}`}`,
    ),
    alarms: decision.alarms.map(({ name, pr }) => (pr === null ? name : `${name} #${pr}`)),
    error: decision.errorCode,
    queue: after.entries.map(({ pr }) => pr),
    /** Nodes of the batches in flight: interval, state, outcome. */
    nodes: after.batches.flatMap((batch) =>
      batch.nodes.map((node) => `${node.nodeId} (${node.from}, ${node.to}] ${node.state} ${node.outcome}`),
    ),
    /** The outcome of each member in the rows of batches that ended. */
    ended: decision.closedBatches.flatMap((batch) =>
      batch.nodes.flatMap((node) =>
        node.actions.map(({ pr, action }) => `#${pr} ${action}: ${node.outcome}`),
      ),
    ),
    lookInMs: decision.pollMs,
    wakeInMs: decision.wakeAt === null ? null : decision.wakeAt - snapshot.now,
    after,
  };
}
