import type { TreeHash } from '#core/domain/ids.ts';
import { includesLogin } from '#core/domain/repos/schedule-rules.ts';
import { isInFlight } from '../batches/pipeline.ts';
import { type DecisionContext, emitEvent } from '../decision-context.ts';
import { bounceOf, failureOf, rememberBounce } from '../record/bounced.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Member } from '../record/record.ts';
import type { KnownVerdict, KnownVerdictReason } from '../record/tried-heads-state.ts';
import { describeEarlierBounce } from '../words/phrases.ts';
import { wishStatus } from '../words/wish-status.ts';
import { areAttemptsSpent } from './attempts-and-places.ts';
import type { ScheduleReading } from './readings.ts';

/** The test and one retest: the failure may have been a flake. */
const TESTS_OF_ONE_TREE_MAX = 2;
/** From then on a person may ask for another one: a quiet repository may see no other landing for days. */
const RETEST_AGAIN_AFTER_MS = 60 * 60_000;

/** The failure to keep with a bounce by the gate. */
export function verdictOfBounce(
  { record, s }: DecisionContext,
  member: Member,
  baseTree: TreeHash | undefined,
  runUrl: string | null,
): KnownVerdict | undefined {
  if (baseTree === undefined) return undefined;
  const before = bounceOf(record, member)?.verdict;
  return { baseTree, runUrl, times: before?.baseTree === baseTree ? before.times + 1 : 1, at: s.now };
}

/**
 * A head whose failure is known is scheduled once more: where no gate run is to be spent on that, it is bounced again at
 * once, with the run that failed (decision 0216). What is not known bounces none.
 */
export function tellKnownVerdict(pass: DecisionContext, entry: QueueEntry, schedule: ScheduleReading): void {
  const { record } = pass;
  const known = failureOf(record, entry);
  if (known?.verdict === undefined || (known.pr === entry.pr && known.scheduleId === entry.scheduleId))
    return;
  // Its refusal says so, and neither a person nor another landing ends that.
  if (areAttemptsSpent(pass, entry)) return;
  // A retest is under way: its own verdict comes.
  if (isInFlight(record, entry.pr)) return;
  const again = whyNotTested(pass, known.verdict, schedule);
  if (again === null) return;
  const { pr, head: sha, scheduleId } = entry;
  rememberBounce(record, { ...known, pr, scheduleId, again });
  const description = describeEarlierBounce({ again });
  wishStatus(pass, { pr, sha, state: 'error', description, targetUrl: known.verdict.runUrl });
  emitEvent(pass, 'pr_bounced', entry, again);
}

/** A program is told until its head changes; a person asks for one retest of a tree, then for one in an hour. */
function whyNotTested(
  { s }: DecisionContext,
  { baseTree, times, at = 0 }: KnownVerdict,
  schedule: ScheduleReading,
): KnownVerdictReason | null {
  const by = schedule.kind === 'bound' ? schedule.by : undefined;
  if (by !== undefined && includesLogin(s.repo.bots, by)) return 'verdict_known';
  const isSameTree = s.base.known && s.base.value.tree === baseTree;
  const isSpent = times >= TESTS_OF_ONE_TREE_MAX && s.now - at < RETEST_AGAIN_AFTER_MS;
  return isSameTree && isSpent ? 'retest_spent' : null;
}
