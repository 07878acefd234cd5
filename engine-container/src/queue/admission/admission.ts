import { EffortSpent } from '#core/domain/effort.ts';
import {
  type BranchProtection,
  type CommitStatus,
  isPass,
  mayOpenMerge,
  type PullRequest,
  type WriteRight,
} from '#core/domain/forge/forge.ts';
import { GlobSet, isGlob } from '#core/domain/globs/glob.ts';
import { Subject } from '#core/domain/globs/glob-matcher.ts';
import type { Reading } from '#core/domain/result.ts';
import type { Admission, AdmissionFacts, OutsideReason } from './admission-facts.ts';
import { findListed } from './merge-list.ts';
import { judgeMissed } from './missed-merge.ts';
import type { ReviewCount } from './reviews.ts';
import { judgeRules } from './schedule-breach.ts';

/** May this pull request be staged now? Costs no branch write and no gate run (A29). */
export function admit(facts: AdmissionFacts): Admission {
  const { pull, protection } = facts;
  if (facts.twinAhead && facts.isLanding !== true) return { kind: 'waiting', reason: 'twin' };
  if (pull.isBranchGone === true && facts.isLanding !== true)
    return { kind: 'refused', reason: 'branch_gone' };
  if (facts.opensAnother?.known === false) return { kind: 'waiting', reason: 'unknown' };
  const opened = facts.opensAnother?.value ?? null;
  if (opened !== null) return { kind: 'refused', reason: opened };
  if (facts.statuses?.known === false) return { kind: 'waiting', reason: 'unknown' };
  // It opens the merge already; it is taken back first.
  if (facts.statuses !== null && facts.isLanding !== true && isOpened(facts.statuses.value, facts.context))
    return { kind: 'waiting', reason: 'opened' };
  if (facts.isByJob === true) return { kind: 'refused', reason: 'scheduled_by_job' };
  // Before all that may be unknown: an earlier schedule of this head may have been admitted.
  const rule = judgeRules(facts);
  if (rule === 'unknown') return { kind: 'waiting', reason: 'rule_unknown' };
  if (rule !== null) return { kind: 'refused', reason: rule };
  const review = judgeReviews(facts);
  if (review !== null) return review;
  const merger = judgeScheduler(facts);
  if (merger !== null) return merger;
  const block = judgeBlocks(facts);
  if (block !== null) return block;
  if (protection.blockOnOutdatedBranch && pull.mergeBase !== facts.baseTip) {
    return { kind: 'refused', reason: 'branch_outdated' };
  }
  const checks = judgeOtherChecks(facts);
  if (checks.kind !== 'admitted') return checks;
  if (facts.isUnsigned === true && protection.requiresSigned === true)
    return { kind: 'refused', reason: 'merge_unsigned' };
  if (facts.isTitleBad === true && facts.mergeStyle !== 'rebase' && facts.isLanding !== true)
    return { kind: 'refused', reason: 'title_not_mergeable' };
  return facts.isMissed === true ? judgeMissed(facts, rightAskedFor(facts)) : checks;
}

/** Does a `success` stand under this context, or what the forge takes for one? */
export function isOpened(statuses: readonly CommitStatus[], context: string): boolean {
  return statuses.some((status) => status.context === context && mayOpenMerge(status));
}

/**
 * Why the head may come from one who cannot write here; null when it does not. Once staged, its code runs with the
 * secrets of this repository (D-99).
 */
export function outsideOf(
  pull: PullRequest,
  authorWrites: Reading<boolean> | undefined,
): OutsideReason | null {
  if (pull.fromFork) return 'fork_not_approved';
  if (pull.agit) return 'agit_not_approved';
  return authorWrites?.known === true && !authorWrites.value ? 'author_not_writer' : null;
}

export function needsReviews(protection: BranchProtection, fromOutside: boolean): boolean {
  return (
    fromOutside ||
    protection.requiredApprovals > 0 ||
    protection.blockOnRejectedReviews ||
    protection.blockOnOfficialReviewRequests
  );
}

/** Contexts required besides our own. */
export function otherContexts(protection: BranchProtection, context: string): readonly string[] {
  return protection.requiredContexts.filter((pattern) => pattern !== context);
}

/** The forge's own review rules (forge facts, 5), evaluated on this head now. */
function judgeReviews(facts: AdmissionFacts): Admission | null {
  const { protection, pull } = facts;
  if (facts.authorWrites?.known === false) return { kind: 'waiting', reason: 'unknown' };
  const outside = outsideOf(pull, facts.authorWrites);
  if (!needsReviews(protection, outside !== null)) return null;
  if (facts.reviews === null || !facts.reviews.known) return { kind: 'waiting', reason: 'unknown' };
  const reviews = facts.reviews.value;
  if (protection.blockOnRejectedReviews && reviews.some(({ state }) => state === 'changes_requested')) {
    return { kind: 'refused', reason: 'changes_requested' };
  }
  const approvals = countedApprovals(reviews, protection);
  const approvalCount = approvals.reduce((sum, { count }) => sum + count, 0);
  if (approvalCount < protection.requiredApprovals) return { kind: 'refused', reason: 'approvals_missing' };
  if (protection.blockOnOfficialReviewRequests && reviews.some(({ state }) => state === 'review_requested')) {
    return { kind: 'refused', reason: 'review_requested' };
  }
  if (outside !== null && !isHeadApproved(reviews, protection)) return { kind: 'refused', reason: outside };
  return null;
}

function countedApprovals(
  reviews: readonly ReviewCount[],
  { ignoreStaleApprovals }: BranchProtection,
): readonly ReviewCount[] {
  return reviews.filter(({ state, stale }) => state === 'approved' && !(ignoreStaleApprovals && stale));
}

/** Is there an approval of exactly this head that counts? */
export function isHeadApproved(reviews: readonly ReviewCount[], rule: BranchProtection): boolean {
  return countedApprovals(reviews, rule).some(({ onHead }) => onHead);
}

/**
 * The forge merges in the name of who scheduled, and when they may not, it silently never does: no gate run is spent and
 * no pull request is blamed for it later. With a list of who may merge only the list counts; else some forges ask the fork for
 * the right, which its author has for sure.
 */
function judgeScheduler(facts: AdmissionFacts): Admission | null {
  const { pull, scheduler, protection } = facts;
  const left = judgeLeft(facts);
  if (left !== null || scheduler === undefined) return left;
  if (protection.mergeList !== undefined) return judgeListed(facts, scheduler);
  const asksFork = pull.fromFork && facts.asksFork === true;
  const isAuthor = pull.author.toLowerCase() === scheduler.toLowerCase();
  return asksFork && !isAuthor ? { kind: 'refused', reason: 'fork_scheduler' } : null;
}

/** The forge has held a schedule to the list already: its teams are asked again where a merge does not come. */
function judgeListed({ protection, mergePlace }: AdmissionFacts, scheduler: string): Admission | null {
  const listed = findListed(protection, scheduler);
  if (listed === 'listed') return null;
  if (listed === 'unlisted') return { kind: 'refused', reason: 'merge_list' };
  if (mergePlace?.known === false) return { kind: 'waiting', reason: 'unknown' };
  return mergePlace?.value === 'out' ? { kind: 'refused', reason: 'merge_list' } : null;
}

/** An account that is known to have lost the right, or is gone. A right that the bot may not read is held against no schedule. */
function judgeLeft(facts: AdmissionFacts): Admission | null {
  const right = rightAskedFor(facts);
  if (right?.known === false) return { kind: 'waiting', reason: 'unknown' };
  return right?.value === 'no' ? { kind: 'refused', reason: 'scheduler_left' } : null;
}

/** The right of who scheduled, where the forge goes by it: not where a list counts, and of a fork some ask the fork instead. */
function rightAskedFor(facts: AdmissionFacts): Reading<WriteRight> | undefined {
  const { pull, protection, schedulerWrites, asksFork } = facts;
  const goesByOther = protection.mergeList !== undefined || (pull.fromFork && asksFork !== false);
  return goesByOther ? undefined : schedulerWrites;
}

/** The forge's objections to every merge that is not forced (D-14). */
function judgeBlocks({ touchesProtected, dependencies }: AdmissionFacts): Admission | null {
  if (touchesProtected?.known === false || dependencies?.known === false)
    return { kind: 'waiting', reason: 'unknown' };
  if (touchesProtected?.value === true) return { kind: 'refused', reason: 'protected_files' };
  if ((dependencies?.value.open ?? 0) > 0) return { kind: 'refused', reason: 'open_dependencies' };
  return null;
}

/** Other required checks that have not passed yet: the forge would not merge, so no gate run is spent (D-15). */
function judgeOtherChecks(facts: AdmissionFacts): Admission {
  const others = otherContexts(facts.protection, facts.context);
  if (others.length === 0) return { kind: 'admitted' };
  if (facts.statuses === null || !facts.statuses.known) return { kind: 'waiting', reason: 'unknown' };
  try {
    return meetsAll(others, facts.statuses.value, facts)
      ? { kind: 'admitted' }
      : { kind: 'waiting', reason: 'other_checks' };
  } catch (error) {
    if (!(error instanceof EffortSpent)) throw error;
    // More patterns or statuses than can be read: whether the forge would merge is not known.
    return { kind: 'waiting', reason: 'other_checks' };
  }
}

/** Throws `EffortSpent`. */
function meetsAll(
  required: readonly string[],
  statuses: readonly CommitStatus[],
  { context, globs, passesSkippedAlone }: AdmissionFacts,
): boolean {
  globs.effort.spend(required.length + statuses.length);
  const own = new Subject(context);
  const found = new Map<string, { readonly subject: Subject; readonly all: CommitStatus[] }>();
  for (const status of statuses) {
    if (status.context === context) continue;
    const known = found.get(status.context);
    if (known === undefined)
      found.set(status.context, { subject: new Subject(status.context), all: [status] });
    else known.all.push(status);
  }
  const contexts = [...found.values()];
  return required.every((pattern) => {
    const matcher = isGlob(pattern) ? globs.read(pattern) : undefined;
    // The forge leaves out what is malformed; waiting for it would never end.
    if (matcher === null) return true;
    const matched =
      matcher === undefined
        ? (found.get(pattern)?.all ?? [])
        : contexts.flatMap(({ subject, all }) => (matcher.matches(subject, globs.effort) ? all : []));
    // A pattern that only our own context satisfies is met by our own success.
    if (matched.length === 0 && matcher?.matches(own, globs.effort) === true) return true;
    const isMet = matched.some(({ state }) => passesSkippedAlone === true || state === 'success');
    return isMet && matched.every(isPass);
  });
}

/**
 * Is exactly our context required? A pattern that also matches it is not enough: any other status that the pattern
 * matches would open the merge (E14).
 */
export function requiresContext(protection: BranchProtection, context: string): boolean {
  return protection.statusCheckEnabled && protection.requiredContexts.includes(context);
}

/** Could a `success` under our context open a merge that this rule governs? An empty list asks for every status. */
export function isOpenedBy(protection: BranchProtection, context: string): boolean {
  const { statusCheckEnabled, requiredContexts } = protection;
  if (!statusCheckEnabled) return false;
  return requiredContexts.length === 0 || new GlobSet(requiredContexts, null).mayMatch(context);
}
