import type { Action } from '../actions.ts';
import { withRuledBranch } from '../admission/rule-notes.ts';
import { type DecisionContext, raiseStandstill } from '../decision-context.ts';
import { dissolve } from './end-batch.ts';
import { findNode } from './pipeline.ts';

/** No pull request is at fault: the batch ends, and nothing is staged until the rule is gone. */
export function noteRuledBranch(pass: DecisionContext, action: Action, branch: string): void {
  const { record, s } = pass;
  pass.log.push(`a branch rule covers ${branch}`);
  // A branch that is left and cannot be deleted keeps nothing from being staged.
  if (action.kind !== 'stage_batch' && action.kind !== 'stage_tree') return;
  record.ruledBranch = branch;
  // Its owner is told by this look already.
  const told = record.rule?.reasons ?? [];
  if (!told.includes('staging_protected'))
    record.rule = {
      // The rest of the reasons is as new as this look where the rule was read for it.
      at: s.protection.known ? s.now : (record.rule?.at ?? s.now),
      context: record.rule?.context ?? record.context,
      reasons: withRuledBranch(told, true),
    };
  const found = findNode(record, action.nodeRow);
  if (found === null) return;
  if (action.kind === 'stage_batch') dissolve(pass, found.batch);
  else found.node.branch = null;
}

/** The rule that covered the branches of the queue may be gone, or may leave them out by now. */
export function noticeRuledBranch(pass: DecisionContext): void {
  const { record, s } = pass;
  if (s.isOwnBranchRuled?.known === true && !s.isOwnBranchRuled.value) delete record.ruledBranch;
  if (record.ruledBranch !== undefined) raiseStandstill(pass, 'protection_conflict');
}
