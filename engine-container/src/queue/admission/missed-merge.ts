import { isPass, type WriteRight } from '#core/domain/forge/forge.ts';
import type { Reading } from '#core/domain/result.ts';
import type { Admission, AdmissionFacts, Refusal } from './admission-facts.ts';

/** Refusals by something that may be why the forge did not merge. */
export const MAY_BE_WHY: ReadonlySet<Refusal> = new Set([
  'rule_hidden',
  'style_off',
  'dependency_hidden',
  'check_hidden',
]);

/**
 * The forge did not merge. Where the settings of the repository do not allow the style of this queue, that may be why: no API
 * tells in which style this pull request is scheduled.
 *
 * @param right of who scheduled it, where the forge goes by that; undefined: not asked
 */
export function judgeMissed(facts: AdmissionFacts, right: Reading<WriteRight> | undefined): Admission {
  const { allowedStyles, mergeStyle } = facts;
  if (allowedStyles?.known === false) return { kind: 'waiting', reason: 'unknown' };
  const isOff = allowedStyles?.value?.includes(mergeStyle) === false;
  return isOff ? { kind: 'refused', reason: 'style_off' } : judgeHidden(facts, right);
}

/**
 * The forge did not merge, and the bot may not read what may be why. Either a dependency in another repository is open, or a check
 * has not passed that only the owner's settings ask for, or the rule says something of reviews, outdated heads or writers that only an
 * administrator sees (D-14).
 */
function judgeHidden(facts: AdmissionFacts, right: Reading<WriteRight> | undefined): Admission {
  const { pull, protection, reviews, baseTip, mergePlace, dependencies } = facts;
  if (dependencies?.known === true && dependencies.value.hidden > 0)
    return { kind: 'refused', reason: 'dependency_hidden' };
  const check = judgeHiddenChecks(facts);
  if (check !== null) return check;
  if (mergePlace?.known === true && mergePlace.value === 'hidden')
    return { kind: 'refused', reason: 'rule_hidden' };
  if (right?.known === true && right.value === 'unlisted') return { kind: 'refused', reason: 'rule_hidden' };
  if (protection.scope === 'full') return { kind: 'admitted' };
  if (pull.mergeBase !== baseTip) return { kind: 'refused', reason: 'rule_hidden' };
  if (reviews === null || !reviews.known) return { kind: 'waiting', reason: 'unknown' };
  const isContested = reviews.value.some(({ state }) => state !== 'approved');
  return isContested ? { kind: 'refused', reason: 'rule_hidden' } : { kind: 'admitted' };
}

/**
 * As Gitea names the check of a workflow that is in another repository: `acme/policies: Audit / audit (push)`. In parts: one pattern
 * for all of it would take a time that grows with the square of what a stranger wrote.
 */
function isOfOtherRepository(context: string): boolean {
  return /^[^/\s]+\/[^/\s]+: /.test(context) && context.includes(' / ') && / \(\w+\)$/.test(context);
}

/**
 * Which checks are asked for beside those of the rule, no API of such a forge tells: each of a workflow of another repository that
 * has not passed may be one. A signature that the rule asks for is the likelier reason, and is found by time-outs.
 */
export function judgeHiddenChecks({ hidesChecks, statuses, protection }: AdmissionFacts): Admission | null {
  if (hidesChecks !== true || protection.requiresSigned === true) return null;
  if (statuses === null || !statuses.known) return { kind: 'waiting', reason: 'unknown' };
  const isOpen = statuses.value.some((status) => isOfOtherRepository(status.context) && !isPass(status));
  return isOpen ? { kind: 'refused', reason: 'check_hidden' } : null;
}
