import { type DecisionContext, wakeNoLaterThan } from '../decision-context.ts';

/** Removes what resolved nodes left behind. */
export function sweep(pass: DecisionContext): void {
  const { record, s } = pass;
  const inUse = new Set(record.batches.flatMap((batch) => batch.nodes.map((node) => node.branch)));
  const swept = new Set<string>();
  for (const garbage of record.garbage) {
    if (inUse.has(garbage.branch)) continue;
    if (garbage.notBefore > s.now) {
      wakeNoLaterThan(pass, garbage.notBefore);
      continue;
    }
    if (garbage.runKey !== null) {
      pass.actions.push({ kind: 'cancel_gate_run', runKey: garbage.runKey, branch: garbage.branch });
    }
    // One deletion for a name, however many entries: a second that is carried out late meets who has the name by then (E7).
    if (!swept.has(garbage.branch)) pass.actions.push({ kind: 'delete_branch', branch: garbage.branch });
    swept.add(garbage.branch);
  }
}
