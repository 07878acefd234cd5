import { gateFolders } from '#core/domain/forge/forge-version.ts';
import { describeGate, type StatusGate, statusGateOf } from '#core/domain/forge/status-gate.ts';
import type { DecisionContext } from '../decision-context.ts';

/** One spelling for the gate that a tree was searched for: its statuses, or a workflow and where this forge has them. */
export function describeWanted({ record }: DecisionContext, gate: StatusGate | null): string {
  return gate === null ? gateFolders(record.forge?.version ?? null).join() : describeGate(gate);
}

/** Staging did not find this gate. One that is missed already is missed since then, whatever was looked at in between. */
export function noteMissingGate({ record, s }: DecisionContext, gate: string): void {
  if (record.gateMissing?.gate !== gate) record.gateMissing = { gate, since: s.now };
}

/** A pull request that waits for another gate than the settings ask for is staged now. Where an older version set it aside, its time decides. */
export function forgetOtherGates(pass: DecisionContext): void {
  const { record, s } = pass;
  if (!record.deferred.some(({ gate }) => gate !== undefined)) return;
  const wanted = describeWanted(pass, statusGateOf(s.repo));
  record.deferred = record.deferred.filter(({ gate }) => gate === undefined || gate === wanted);
}
