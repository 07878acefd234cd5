import type { PullRequest } from '#core/domain/forge/forge.ts';
import { UNMERGEABLE_REFUSED_AFTER_MS, UNMERGEABLE_STEADY_MS } from '#core/domain/limits.ts';
import { defer } from '../batches/defer.ts';
import { type DecisionContext, wakeNoLaterThan } from '../decision-context.ts';
import { deferralsOf, deferralsOfPull, isHeldByForge } from '../record/deferral.ts';
import type { QueueEntry } from '../record/queue-entry.ts';

/** Aside because the forge would not merge: let go as soon as it would, and told as a conflict once no check can be running any more. */
export function reviewHeldByForge(
  pass: DecisionContext,
  entry: QueueEntry,
  { mergeable }: PullRequest,
): void {
  const { record } = pass;
  if (mergeable) {
    const held = new Set(deferralsOfPull(record, entry.pr).filter(isHeldByForge));
    if (held.size > 0) record.deferred = record.deferred.filter((deferred) => !held.has(deferred));
    return;
  }
  const held = deferralsOf(record, entry).find(({ reason }) => reason === 'not_mergeable');
  if (held === undefined || held.until === null || !isMeant(pass, entry, held.until)) return;
  defer(pass, entry, { reason: 'forge_conflict', baseTree: held.baseTree, until: null });
}

/** "Not mergeable" also means "still checking": a forge whose checks are stuck is held against no pull request before `until`. */
function isMeant(pass: DecisionContext, { pr }: QueueEntry, until: number): boolean {
  const { record, s } = pass;
  if (s.now >= until) return true;
  const asideAt = until - UNMERGEABLE_REFUSED_AFTER_MS;
  const isBaseSeen = s.base.known && record.baseSeen?.sha === s.base.value.sha;
  const baseAt = (isBaseSeen ? record.baseSeen?.at : undefined) ?? s.now;
  const steadyAt = Math.max(asideAt, baseAt) + UNMERGEABLE_STEADY_MS;
  if (s.now >= steadyAt) return hasCheckedAnother(pass, pr, asideAt);
  wakeNoLaterThan(pass, steadyAt);
  return false;
}

/** A sign that the forge ends checks: it calls another one mergeable, or the queue has landed one since then. */
function hasCheckedAnother({ record, s }: DecisionContext, pr: number, since: number): boolean {
  if (record.landed?.some(({ at }) => at > since) === true) return true;
  return s.pulls.known && s.pulls.value.some(({ pull }) => pull.number !== pr && pull.mergeable);
}
