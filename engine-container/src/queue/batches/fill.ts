import type { BranchProtection } from '#core/domain/forge/forge.ts';
import type { PullRequestNumber, TreeHash } from '#core/domain/ids.ts';
import { isMergeRefusal } from '#core/domain/pulls/merge-refusal.ts';
import { requiresContext } from '../admission/admission.ts';
import { awaitReadAgain, noteReadings } from '../admission/failed-readings.ts';
import { type DecisionContext, entryOf, reportCode, wakeNoLaterThan } from '../decision-context.ts';
import { isReplacedTip } from '../landing/landed.ts';
import { awaitTakenBack } from '../landing/standing.ts';
import { crowdRuleOf, noteOthers } from '../line/crowd-rule.ts';
import { hasStopped, isStagingImpossible } from '../line/holds.ts';
import { overtake } from '../line/incidents.ts';
import { readyEntries } from '../line/ready.ts';
import { orderLine } from '../line/turns.ts';
import { policyFor } from '../policy/in-force.ts';
import { type Deferred, isHeldByForge, outlastsBase } from '../record/deferral.ts';
import { isBound, labelRankOf, type QueueEntry, rankOf } from '../record/queue-entry.ts';
import type { Ground } from '../record/record.ts';
import { keepWords } from '../words/deferral-words.ts';
import { openPipeline } from './open-pipeline.ts';
import { openTrialInTurn, openTrials } from './open-trials.ts';
import { activeMembers, endTreeOf, treesAhead } from './pipeline.ts';

/** Opens the next batches: on the pipeline, and beside it what is only to be tried. */
export function openBatches(pass: DecisionContext): void {
  const { record, s } = pass;
  noteReadings(pass);
  const ground = groundForBatches(pass);
  if (ground === null) return;
  const { base, rule } = ground;
  endDeferrals(pass, base.tree);
  orderLine(pass);
  noteOthers(pass);
  const isAnyReady = [false, true].some((isOnBatch) => readyEntries(pass, base.tree, isOnBatch).length > 0);
  if (!requiresContext(rule, record.context)) {
    // Without the rule a merge needs no proof of ours: staging would only pretend (execution model 7). The queue waits for no
    // other check that such a rule names: that may be its own former context, under which nothing is posted any more.
    if (isAnyReady || record.entries.some(isUnadmitted)) reportCode(pass, 'protection_conflict');
    return;
  }
  if (!isAnyReady || !awaitReadAgain(pass)) return;
  if (record.restsUntil !== null && record.restsUntil > s.now) {
    reportCode(pass, record.restsFor ?? 'gate_infrastructure');
    return wakeNoLaterThan(pass, record.restsUntil);
  }
  if (overtake(pass, base.tree)) return;
  const oneByOne = rule.blockOnOutdatedBranch;
  const crowdRule = crowdRuleOf(pass);
  if (crowdRule !== null) openTrialInTurn(pass, base, crowdRule);
  const pipeline = openPipeline(pass, base, oneByOne, crowdRule);
  if (oneByOne || !policyFor(pass).pieces.trials) return;
  if (pipeline !== 'open' || crowdRule !== null) openTrials(pass, base, pipeline, crowdRule);
}

/** Scheduled, not refused, and kept from staging by what the rule asks for. */
function isUnadmitted(entry: QueueEntry): boolean {
  return isBound(entry) && entry.readyAt === null && entry.refusedFor === null;
}

/** The base and its rule, where a new batch may stand on them; null: something is not known, or is about to change. */
function groundForBatches(
  pass: DecisionContext,
): { readonly base: Ground; readonly rule: BranchProtection } | null {
  const { record, s } = pass;
  if (hasStopped(record) || !s.repo.queueEnabled) return null;
  if (!awaitTakenBack(pass)) return null;
  // A look at what is in flight carries an older list: nothing is spent on it.
  if (!s.full || !s.base.known || !s.protection.known) return null;
  const rule = s.protection.value;
  if (rule === null) {
    // Without any rule no entry is admitted, and all the same they wait.
    if (record.entries.some(isBound)) reportCode(pass, 'protection_conflict');
    return null;
  }
  if (record.rebuilding || record.context !== s.repo.statusContext) return null;
  // Where its workflows are depends on which forge it is.
  if (s.forge?.known === false || isStagingImpossible(record)) return null;
  const base = s.base.value;
  // A base that is about to move, or has moved by this very pass, is no ground for a new batch.
  if (record.tip !== null && record.tip !== base.sha) return null;
  // The batch that moved it may have ended in this pass, and its verified tip with it.
  if (isReplacedTip(record, base.sha, s)) return null;
  return { base, rule };
}

/** Lets go of each whose wait is over: what it waits for is there, or its time is up. */
function endDeferrals(pass: DecisionContext, baseTree: string): void {
  const { record, s } = pass;
  const grounds = new Set<string | undefined>([baseTree]);
  for (const batch of record.batches) grounds.add(batch.groundTree).add(endTreeOf(batch));
  record.deferred = record.deferred.filter((deferred) => {
    const { reason, until } = deferred;
    // A refusal that comes again has been said, and the forge itself lets go of what it holds.
    const isKept = isMergeRefusal(reason) || isHeldByForge(deferred);
    const stays = stillStands(pass, deferred, grounds) && (until === null || until > s.now || isKept);
    if (!stays) keepWords(pass, deferred);
    return stays;
  });
  const reported = (['base_red', 'gate_missing'] as const).filter((reason) =>
    record.deferred.some((deferred) => deferred.reason === reason),
  );
  for (const reason of reported) reportCode(pass, reason);
  for (const { until } of record.deferred) if (until !== null && until > s.now) wakeNoLaterThan(pass, until);
}

/** True while the cause lasts, whatever the time: suspects ahead of it, its own head, or a ground that is in use. */
function stillStands(
  pass: DecisionContext,
  deferred: Deferred,
  grounds: ReadonlySet<string | undefined>,
): boolean {
  const { pr, head, reason, baseTree: ground } = deferred;
  // The tree that ends the suspects may become the base itself: it is they who count, not it.
  if (reason === 'suspect_ahead') return isBehindSuspects(pass, pr, ground);
  if (outlastsBase(deferred)) return entryOf(pass.record, pr)?.head === head;
  return grounds.has(ground);
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
