import { verdictOfBounce } from '../admission/known-verdict.ts';
import { type DecisionContext, emitEvent, entryOf } from '../decision-context.ts';
import { noteBounce } from '../policy/signals.ts';
import { rememberBounce } from '../record/bounced.ts';
import { type Batch, treeOf } from '../record/record.ts';
import { type BounceCause, describeBounce } from '../words/phrases.ts';
import { wishStatus } from '../words/wish-status.ts';

/** Removes a pull request for one of the two causes there are (A15). It stays open; its merge stays blocked. */
export function bounce(
  pass: DecisionContext,
  batch: Batch,
  index: number,
  cause: BounceCause,
  runUrl: string | null,
): void {
  const member = batch.members[index];
  if (member === undefined) return;
  const scheduleId = entryOf(pass.record, member.pr)?.scheduleId ?? member.scheduleId;
  const reason = cause === 'merge_timeout' ? cause : 'gate_failed';
  const ground = reason === 'gate_failed' ? treeOf(batch, index) : undefined;
  const verdict = verdictOfBounce(pass, member, ground, runUrl);
  const isTimeout = cause === 'merge_timeout';
  const bounced = { pr: member.pr, head: member.head, scheduleId, verdict };
  rememberBounce(pass.record, isTimeout ? { ...bounced, cause } : bounced);
  batch.fates.push({ pr: member.pr, action: 'bounced', reason });
  if (reason === 'gate_failed') noteBounce(pass, member);
  wishStatus(pass, {
    pr: member.pr,
    sha: member.head,
    state: 'error',
    description: describeBounce(cause),
    targetUrl: runUrl,
  });
  emitEvent(pass, 'pr_bounced', member, reason);
}
