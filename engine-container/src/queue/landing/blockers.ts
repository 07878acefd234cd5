import { BLOCKERS_WAIT_MS } from '#core/domain/limits.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { admit } from '../admission/admission.ts';
import type { Admission, AdmissionFacts } from '../admission/admission-facts.ts';
import { factsOf, refuse } from '../admission/admit-entries.ts';
import { judgeHiddenChecks, MAY_BE_WHY } from '../admission/missed-merge.ts';
import { startTeardown } from '../batches/end-batch.ts';
import { type DecisionContext, entryOf } from '../decision-context.ts';
import { letOthersGoFirst } from '../line/staging-turns.ts';
import type { Landing, TakeBackReason } from '../record/landing-state.ts';
import type { PendingStatus } from '../record/pending-status.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Batch } from '../record/record.ts';
import type { PullRequestView } from '../snapshot.ts';
import { describeOtherChecks, describeStopped, describeTakeBack } from '../words/phrases.ts';
import { wishStatus } from '../words/wish-status.ts';
import { setTwoHeadsAside } from './two-heads.ts';

/**
 * Something that keeps the forge from merging: of its rules, a branch or tag that git takes for the base as well, or another head that
 * the forge keeps of the pull request.
 */
export type Block = Extract<Admission, { kind: 'refused' }> | 'other_checks' | 'namesake' | 'heads_differ';
/** The forge's answer when it is asked; `unknown`: no clear answer. */
export type Answer = Block | 'nothing' | 'unknown';

export function isBlock(answer: Answer): answer is Block {
  return answer !== 'nothing' && answer !== 'unknown';
}

const STYLE_OFF: Block = { kind: 'refused', reason: 'style_off' };
const UNSIGNED: Block = { kind: 'refused', reason: 'merge_unsigned' };

/** A block that is known to be one, not something that may be. */
export function isSure(answer: Answer): boolean {
  return isBlock(answer) && (typeof answer === 'string' || !MAY_BE_WHY.has(answer.reason));
}

/** Was the success taken back because the forge did not merge? */
export function isOfForge(reason: TakeBackReason): boolean {
  return reason === 'merge_timeout' || reason === 'merge_blocked';
}

/** Something that may be why counts only once the merge is late for good: a slow forge would have merged. */
export function findBlock(pass: DecisionContext, landing: Landing): Answer {
  const { s, record } = pass;
  if (s.namesake?.known === true && s.namesake.value !== null) return 'namesake';
  // A push while it was closed: opened again by a call, the forge goes by the commit of before until the next push.
  if (s.keptHead?.known === true && s.keptHead.value !== null && s.keptHead.value !== landing.head)
    return 'heads_differ';
  if (s.blockers?.known !== true || !s.protection.known || s.protection.value === null) return 'unknown';
  const view = s.blockers.value;
  // Our own word on this head is what opens or closes the merge; here it is about all others.
  const statuses =
    view.statuses?.known === true
      ? {
          known: true as const,
          value: view.statuses.value.filter(({ context }) => context !== record.context),
        }
      : view.statuses;
  const rule = { protection: s.protection.value, baseTip: landing.baseBefore };
  const isMissed = landing.takeBack?.reason === 'merge_timeout';
  const facts = factsOf(pass, { ...view, statuses }, rule);
  const admission = admit({ ...facts, scheduler: landing.scheduledBy, isMissed });
  if (admission.kind === 'refused') return admission;
  if (admission.kind === 'admitted')
    return findLikely(pass, landing, view, facts) ?? (isHalfAsked(s) ? 'unknown' : 'nothing');
  return admission.reason === 'other_checks' ? 'other_checks' : 'unknown';
}

/** Asked for what keeps a merge from coming beside its rules, the forge has not answered: that may be why. */
function isHalfAsked({ namesake, keptHead }: Pick<DecisionContext['s'], 'namesake' | 'keptHead'>): boolean {
  return namesake?.known === false || keptHead?.known === false;
}

/**
 * Something that the forge asks for since this one was scheduled, or the reason that another one was told when its own merge did not
 * come, if it may be the reason here as well: no wait to the end (decision 0365).
 */
function findLikely(
  pass: DecisionContext,
  { pr, head }: Landing,
  view: PullRequestView,
  facts: AdmissionFacts,
): Block | null {
  const entry = pass.record.entries.find((each) => each.pr === pr && each.head === head);
  if (entry?.neededNoSignature === true && facts.protection.requiresSigned === true) return UNSIGNED;
  if (mayLackStyle(pass, entry, view)) return STYLE_OFF;
  const isTold = pass.record.entries.some(({ refusedFor }) => refusedFor === 'check_hidden');
  const check = isTold ? judgeHiddenChecks(facts) : null;
  return check?.kind === 'refused' ? check : null;
}

/**
 * The style of the queue was switched off since this one was scheduled, or the merge of another one did not come for a style that is
 * still off. Those scheduled in another style merge at once.
 */
function mayLackStyle(
  { record, s }: DecisionContext,
  entry: QueueEntry | undefined,
  { allowedStyles }: PullRequestView,
): boolean {
  const isOff = allowedStyles?.known === true && allowedStyles.value?.includes(s.repo.mergeStyle) === false;
  if (!isOff) return false;
  return entry?.hadStyle === true || record.entries.some(({ refusedFor }) => refusedFor === 'style_off');
}

/** Its words are those of the block from now on: that a rule blocks the merge would hold of few, and say less. */
export function takeBackBlocked(pass: DecisionContext, batch: Batch, landing: Landing, block: Block): void {
  const { pr, head: sha } = landing;
  // No rule blocks it.
  startTeardown(pass, batch, block === 'namesake' ? 'merge_timeout' : 'merge_blocked');
  const words = wordsOfBlock(block);
  const general = describeTakeBack('merge_blocked');
  // Those of one that was refused, or left, while it landed stay.
  const isGeneral = pass.record.pendingStatuses.some(
    (each) => each.sha === sha && each.description === general,
  );
  if (words !== null && isGeneral) wishStatus(pass, { pr, sha, ...words, targetUrl: null, takesBack: true });
}

function wordsOfBlock(block: Block): Pick<PendingStatus, 'state' | 'description'> | null {
  if (block === 'namesake') return null;
  if (block === 'other_checks') return { state: 'pending', description: describeOtherChecks() };
  const { says: description } = PULL_CODES[block === 'heads_differ' ? block : block.reason];
  return { state: 'error', description };
}

/** No clear answer is waited for, but not without an end: others stand behind it. */
export function isAnswerAwaited(pass: DecisionContext, since: number): boolean {
  return pass.s.now < since + BLOCKERS_WAIT_MS;
}

/**
 * Unknown never bounces: tested again, and not before all is known of its rules that the forge could hold against the merge. The others
 * have their turn first, whatever the rule: what no answer comes to may stay so, and the next merge not come either (decision 0375).
 */
export function holdUnclear(pass: DecisionContext, batch: Batch, { pr, head }: Landing): void {
  const entry = entryOf(pass.record, pr);
  if (entry?.head === head) {
    entry.isBlocked = true;
    entry.readyAt = null;
    entry.retestAfter = pass.s.now;
    letOthersGoFirst(entry);
  }
  batch.fates.push({ pr, action: 'requeued', reason: 'merge_timeout' });
}

/**
 * A block is said and looked at again like any refusal before a gate run. No merge time-out is counted: the change has nothing to do
 * with it (D-14).
 */
export function holdBlocked(pass: DecisionContext, batch: Batch, { pr, head }: Landing, block: Block): void {
  if (block === 'namesake') return holdAll(pass, batch, { pr, head });
  const entry = entryOf(pass.record, pr);
  if (block === 'heads_differ') return holdKept(pass, batch, { pr, head });
  if (entry?.head === head) {
    entry.isBlocked = true;
    if (block === 'other_checks') entry.readyAt = null;
    else refuse(pass, entry, block.reason);
  }
  if (block === 'other_checks') {
    batch.fates.push({ pr, action: 'requeued', reason: 'merge_blocked' });
    const description = describeOtherChecks();
    wishStatus(pass, { pr, sha: head, state: 'pending', description, targetUrl: null });
  } else batch.fates.push({ pr, action: 'refused', reason: block.reason });
}

/** Each try would hold up the others for as long, and would end alike. */
function holdKept(pass: DecisionContext, batch: Batch, { pr, head }: Pick<Landing, 'pr' | 'head'>): void {
  const { s, record } = pass;
  const other = s.keptHead?.known === true ? s.keptHead.value : null;
  const entry = entryOf(record, pr);
  if (entry?.head === head && other !== null) setTwoHeadsAside(pass, batch, entry, other);
  else batch.fates.push({ pr, action: 'requeued', reason: 'candidate_changed' });
}

/** No merge into the base gets through before a person has acted, and no pull request has to do with it. */
function holdAll(pass: DecisionContext, batch: Batch, { pr, head }: Pick<Landing, 'pr' | 'head'>): void {
  const { record, s, log } = pass;
  const ref = s.namesake?.known === true ? s.namesake.value : null;
  batch.fates.push({ pr, action: 'requeued', reason: 'merge_timeout' });
  if (ref === null) return;
  record.nameInTheWay = { kind: ref.kind, branches: [s.repo.baseBranch], isNamesake: true };
  wishStatus(pass, { pr, sha: head, state: 'pending', description: describeStopped(), targetUrl: null });
  log.push(`git takes the ${ref.kind} ${ref.name} for the base as well: no push to the base gets through`);
}
