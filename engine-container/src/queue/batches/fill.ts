import type { PullRequestNumber, TreeHash } from '#core/domain/ids.ts';
import { isMergeRefusal } from '#core/domain/merge-refusal.ts';
import { requiresContext } from '../admission/admission.ts';
import { awaitReadAgain, noteReadings } from '../admission/unclear.ts';
import { type DecisionContext, entryOf, reportCode, wakeNoLaterThan } from '../decision-context.ts';
import { isReplacedTip } from '../landing/landed.ts';
import { awaitTakenBack } from '../landing/standing.ts';
import { crowdRuleOf, noteOthers } from '../line/crowd-rule.ts';
import { hasStopped } from '../line/holds.ts';
import { overtake } from '../line/incidents.ts';
import { readyEntries } from '../line/ready.ts';
import { orderLine } from '../line/turns.ts';
import { policyFor } from '../policy/in-force.ts';
import { isHeldByForge, outlastsBase } from '../record/aside.ts';
import { labelRankOf, rankOf } from '../record/queue-entry.ts';
import { openPipeline } from './open-pipeline.ts';
import { openTrialInTurn, openTrials } from './open-trials.ts';
import { activeMembers, endTreeOf, treesAhead } from './pipeline.ts';

/** Opens the next batches: on the pipeline, and beside it what is only to be tried. */
export function openBatches(pass: DecisionContext): void {
  const { record, s } = pass;
  if (hasStopped(record) || !s.repo.queueEnabled) return;
  if (!awaitTakenBack(pass)) return;
  // A look at what is in flight carries an older list: nothing is spent on it.
  if (!s.full || !s.base.known || !s.protection.known) return;
  noteReadings(pass);
  if (s.protection.value === null) {
    // Without any rule no entry is admitted, and all the same they wait.
    if (record.entries.some((entry) => entry.scheduleId !== 0)) reportCode(pass, 'protection_conflict');
    return;
  }
  if (record.rebuilding || record.context !== s.repo.statusContext) return;
  // Where its workflows are depends on which forge it is.
  if (s.forge?.known === false || record.nameInTheWay !== undefined) return;
  // A base that is about to move, or has moved by this very pass, is no ground for a new batch.
  if (record.tip !== null && record.tip !== s.base.value.sha) return;
  // The batch that moved it may have ended in this pass, and its verified tip with it.
  if (isReplacedTip(record, s.base.value.sha, s)) return;
  const base = s.base.value;
  endDeferrals(pass, base.tree);
  orderLine(pass);
  noteOthers(pass);
  if (readyEntries(pass, base.tree, false).length === 0 && readyEntries(pass, base.tree, true).length === 0)
    return;
  if (!awaitReadAgain(pass)) return;
  if (!requiresContext(s.protection.value, record.context)) {
    // Without the rule a merge needs no proof of ours: staging would only pretend (execution model 7).
    return reportCode(pass, 'protection_conflict');
  }
  if (record.restsUntil !== null && record.restsUntil > s.now) {
    reportCode(pass, 'gate_infrastructure');
    return wakeNoLaterThan(pass, record.restsUntil);
  }
  if (overtake(pass, base.tree)) return;
  const oneByOne = s.protection.value.blockOnOutdatedBranch;
  const crowdRule = crowdRuleOf(pass);
  if (crowdRule !== null) openTrialInTurn(pass, base, crowdRule);
  const pipeline = openPipeline(pass, base, oneByOne, crowdRule);
  if (oneByOne || !policyFor(pass).pieces.trials) return;
  if (pipeline !== 'open' || crowdRule !== null) openTrials(pass, base, pipeline, crowdRule);
}

/** A deferred pull request waits for its base, for its conflict to be gone, or for a time. */
function endDeferrals(pass: DecisionContext, baseTree: string): void {
  const { record, s } = pass;
  const grounds = new Set<string | undefined>([baseTree]);
  for (const batch of record.batches) grounds.add(batch.groundTree).add(endTreeOf(batch));
  record.deferred = record.deferred.filter((deferred) => {
    const { pr, head, reason, baseTree: ground, until } = deferred;
    // The tree that ends the suspects may become the base itself: it is they who count, not it.
    const stands =
      reason === 'suspect_ahead'
        ? isBehindSuspects(pass, pr, ground)
        : outlastsBase(deferred)
          ? entryOf(record, pr)?.head === head
          : grounds.has(ground);
    // A refusal that comes again has been said, and the forge itself lets go of what it holds.
    const isKept = isMergeRefusal(reason) || isHeldByForge(deferred);
    return stands && (until === null || until > s.now || isKept);
  });
  const reported = (['base_red', 'gate_missing'] as const).filter((reason) =>
    record.deferred.some((deferred) => deferred.reason === reason),
  );
  for (const reason of reported) reportCode(pass, reason);
  for (const { until } of record.deferred) if (until !== null && until > s.now) wakeNoLaterThan(pass, until);
}

/**
 * The suspects that it was set aside for are still searched. Its place among those of its own priority says nothing: what is set
 * aside has the place of its schedule and what waits that of its turn, or it would be staged and set aside again without end.
 */
function isBehindSuspects({ record, s }: DecisionContext, pr: PullRequestNumber, ground: TreeHash): boolean {
  if (treesAhead(record, pr).includes(ground)) return true;
  const own = entryOf(record, pr);
  const suspects = record.batches.filter((each) => each.place === 'suspect' && endTreeOf(each) === ground);
  return suspects.flatMap(activeMembers).some((member) => {
    const entry = entryOf(record, member.pr);
    return entry !== undefined && own !== undefined && rankOf(entry, s.now) <= labelRankOf(own);
  });
}
