import { SUCCESS_LATE_MS } from '#core/domain/limits.ts';
import type { DecisionContext } from '../decision-context.ts';

/** A forge that did not answer in time carries a call out at most this much later, a `success` or another one (E7). */
export const LATE_EFFECT_MS = SUCCESS_LATE_MS;

/**
 * A staging call without a known end may still be carried out, even after a later attempt has come and gone: what it
 * would create is swept once that can no longer happen and the name is not in use.
 */
export function sweepLate({ record, s }: DecisionContext, branches: readonly string[]): void {
  const { garbage } = record;
  const notBefore = s.now + LATE_EFFECT_MS;
  for (const branch of branches) {
    // An earlier failure of the same name is swept sooner than this one can be.
    if (garbage.some((known) => known.branch === branch && known.notBefore >= notBefore)) continue;
    garbage.push({ branch, notBefore, runKey: null });
  }
}
