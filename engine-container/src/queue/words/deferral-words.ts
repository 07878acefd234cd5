import { PULL_CODES } from '#core/domain/pull-code-table.ts';
import type { DecisionContext } from '../decision-context.ts';
import type { DeferReason, Deferred } from '../record/aside.ts';
import { describeDefer } from './describe.ts';
import { wishStatus } from './wish-status.ts';

/** The pull request itself is the reason, and its author has to do something. */
export function blamesHead(reason: DeferReason): boolean {
  return PULL_CODES[reason].fault;
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
