import { asksFork, type DecisionContext, emitEvent, entryOf } from '../decision-context.ts';
import { rememberBounce } from '../record/bounced.ts';
import type { Landing } from '../record/landing-state.ts';
import type { Batch } from '../record/record.ts';
import { describeForkTimeout } from '../words/phrases.ts';
import { wishStatus } from '../words/wish-status.ts';

/** Where the forge asks the fork for the right to merge, or may do so, a merge that never comes is not the change's fault. */
export function mayLackForkRight(pass: DecisionContext, landing: Landing): boolean {
  const focus = pass.s.focus.get(landing.pr);
  const fromFork = focus?.known === true && focus.value.pull.fromFork;
  return fromFork && asksFork(pass) !== false;
}

/** Out of the queue until the head or the schedule changes, like a bounce, but without its name and its blame. */
export function holdFork(pass: DecisionContext, batch: Batch, landing: Landing): void {
  const member = batch.members[landing.index];
  if (member === undefined) return;
  const { pr, head } = landing;
  const scheduleId = entryOf(pass.record, pr)?.scheduleId ?? member.scheduleId;
  rememberBounce(pass.record, { pr, head, scheduleId, cause: 'fork_merge_timeout' });
  batch.fates.push({ pr, action: 'refused', reason: 'fork_merge_timeout' });
  wishStatus(pass, { pr, sha: head, state: 'error', description: describeForkTimeout(), targetUrl: null });
  emitEvent(pass, 'pr_refused', member, 'fork_merge_timeout');
}
