import type { DeferReason, Deferred } from './aside.ts';
import { type DecisionContext, wishStatus } from './decision-context.ts';
import { describeDefer } from './describe.ts';

/** Reasons that the author can do something about; the others are no fault of the author. */
const BLAMING_REASONS: readonly DeferReason[] = [
  'conflict',
  'criss_cross',
  'merge_unsure',
  'directory_renamed',
  'merge_rules',
  'file_too_large',
  'name_not_utf8',
  'no_changes',
  'removes_gate',
  'forge_conflict',
  'gate_not_started',
  'gate_not_ended',
];

/** The pull request itself is the reason, and its author has to do something. */
export function blamesHead(reason: DeferReason): boolean {
  return BLAMING_REASONS.includes(reason);
}

/** Says on its head why it stands aside, where there is something to say. */
export function sayDeferred(
  pass: DecisionContext,
  { pr, head, reason }: Pick<Deferred, 'pr' | 'head' | 'reason'>,
): void {
  const description = describeDefer(reason);
  if (description === null) return;
  const state = blamesHead(reason) ? 'error' : 'pending';
  wishStatus(pass, { pr, sha: head, state, description, targetUrl: null });
}
