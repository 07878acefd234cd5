import { type Action, type ActionOutcome, isStaging } from '../actions.ts';
import type { DecisionContext } from '../decision-context.ts';

/** The forge refuses to let anything be staged, or it does no more: what became of the latest try says which. */
export function noteRefusedStaging(
  { record, s }: Pick<DecisionContext, 'record' | 's'>,
  action: Action,
  outcome: ActionOutcome,
): void {
  // A look that ran out of time while it read has tried nothing.
  if (!isStaging(action) || outcome.kind === 'unfinished') return;
  if (outcome.kind !== 'failed' || outcome.isRefused !== true) delete record.stagingRefused;
  else record.stagingRefused = { since: record.stagingRefused?.since ?? s.now, at: s.now };
}
