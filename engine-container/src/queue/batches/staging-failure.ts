import {
  STAGING_ASIDES_MAX,
  STAGING_PAUSE_MS,
  STAGING_PAUSE_MS_MAX,
  STAGING_RECONCILES_MAX,
  STAGING_TRIES_ALONE_MAX,
  STAGING_TRIES_OF_BATCH_MAX,
} from '#core/domain/limits.ts';
import type { Action } from '../actions.ts';
import { type DecisionContext, entryOf, tellRefusal } from '../decision-context.ts';
import { isJudgedAlone, type QueueEntry, wasSetAside } from '../record/queue-entry.ts';
import type { Batch, Member, Node } from '../record/record.ts';
import { defer } from './defer.ts';
import { beginRest, dissolve, startTeardown } from './end-batch.ts';
import { activeMembers, findNode } from './pipeline.ts';

/**
 * Staging failed although the forge is otherwise well. Once is chance. Again and again it is something in this batch:
 * half of it is tried, and a member that fails alone is set aside for a while, so that no other waits for it.
 */
export function countStagingFailure(pass: DecisionContext, action: Action): void {
  if (action.kind !== 'stage_batch' && action.kind !== 'stage_tree') return;
  const found = findNode(pass.record, action.nodeRow);
  if (found === null) return;
  // A patch for an older tip need not apply to the one that is there.
  pass.record.doubtedTip = action.groundSha;
  if (action.kind === 'stage_batch') countOfBatch(pass, found.batch, found.node);
  else countOfNode(pass, found.batch, found.node);
}

/** Each reconcile reads on where the last one ended; what never comes to an end is a failure too. */
export function countUnfinished(pass: DecisionContext, action: Action): void {
  const batch = action.kind === 'stage_batch' ? findNode(pass.record, action.nodeRow)?.batch : undefined;
  if (batch === undefined) return;
  batch.unfinished = (batch.unfinished ?? 0) + 1;
  if (batch.unfinished < STAGING_RECONCILES_MAX) return;
  batch.unfinished = 0;
  const [first, ...others] = batch.members;
  const entry = first === undefined ? undefined : entryOf(pass.record, first.pr);
  if (others.length > 0) batch.stagingFailures = STAGING_TRIES_OF_BATCH_MAX;
  else if (entry !== undefined) {
    if (batch.stagedOn === null) countFailedAlone(pass, entry);
    entry.stagingTries = STAGING_TRIES_ALONE_MAX;
  }
  countStagingFailure(pass, action);
}

function countOfBatch(pass: DecisionContext, batch: Batch, node: Node): void {
  batch.stagingFailures = (batch.stagingFailures ?? 0) + 1;
  const [first, ...others] = batch.members;
  if (first === undefined) return;
  if (others.length > 0) {
    const isExpected = batch.isHalved === true || pass.record.stagingFailuresInARow !== undefined;
    if (isExpected || batch.stagingFailures >= STAGING_TRIES_OF_BATCH_MAX) halve(batch, node);
    return;
  }
  if (batch.stagedOn === null) countAlone(pass, first, batch);
  // On top of another batch it may be what is below: it is tried by itself once that is gone.
  else if (batch.stagingFailures < triesOnTop(pass, first)) return;
  else defer(pass, first, { reason: 'not_on_batch', baseTree: batch.groundTree, until: null });
  dissolve(pass, batch);
}

/** From now on it is staged alone, in turn with the others: who is behind it waits for one try of it, not for all. */
function countAlone(pass: DecisionContext, member: Member, batch: Batch): void {
  const entry = entryOf(pass.record, member.pr);
  if (entry === undefined || entry.head !== member.head) return;
  const isKnown = wasSetAside(entry);
  countFailedAlone(pass, entry);
  entry.stagingTries = (entry.stagingTries ?? 0) + 1;
  if (isKnown || entry.stagingTries >= STAGING_TRIES_ALONE_MAX) deferWithBackoff(pass, member, batch);
}

/** Before its tries are counted: only the first failure of each is one more in a row. */
function countFailedAlone({ record }: DecisionContext, entry: QueueEntry): void {
  if (isJudgedAlone(entry) || entry.stagingTries !== undefined) return;
  record.stagingFailuresInARow = (record.stagingFailuresInARow ?? 0) + 1;
}

function triesOnTop({ record }: DecisionContext, { pr }: Member): number {
  const entry = entryOf(record, pr);
  return entry !== undefined && wasSetAside(entry) ? 1 : STAGING_TRIES_ALONE_MAX;
}

/** The others keep their places in the queue. */
function halve(batch: Batch, node: Node): void {
  batch.members = batch.members.slice(0, Math.ceil(batch.members.length / 2));
  batch.limit = batch.members.length;
  batch.isHalved = true;
  node.to = batch.members.length;
  batch.stagingFailures = 0;
}

/** For a while, then for twice as long each time. */
export function deferWithBackoff(
  pass: DecisionContext,
  member: Member,
  { groundTree }: Pick<Batch, 'groundTree'>,
  reason: 'staging_failed' | 'runs_broken_off' = 'staging_failed',
): void {
  const { record, s } = pass;
  const inARow = record.setAsideInARow ?? 0;
  if (inARow >= STAGING_ASIDES_MAX) {
    // All that were tried failed: the forge is the cause, and it is given time.
    record.setAsideInARow = 0;
    beginRest(pass, reason === 'staging_failed' ? 'forge_call_failed' : 'gate_infrastructure');
    return;
  }
  record.setAsideInARow = inARow + 1;
  const entry = entryOf(record, member.pr);
  if (entry === undefined || entry.head !== member.head) return;
  const times = entry.timesSetAside ?? 0;
  entry.timesSetAside = times + 1;
  delete entry.stagingTries;
  const until = s.now + Math.min(STAGING_PAUSE_MS * 2 ** times, STAGING_PAUSE_MS_MAX);
  defer(pass, member, { reason, baseTree: groundTree, until });
  tellRefusal(pass, entry, reason);
}

/** A prefix that cannot be published leaves the search without an end: each is judged in a batch of its own. */
function countOfNode(pass: DecisionContext, batch: Batch, node: Node): void {
  node.stagingFailures = (node.stagingFailures ?? 0) + 1;
  if (node.stagingFailures < STAGING_TRIES_ALONE_MAX) return;
  if (batch.teardown !== null || batch.landing !== null) return;
  const suspects = activeMembers(batch);
  const [first, ...others] = suspects;
  if (first !== undefined && others.length === 0) {
    deferWithBackoff(pass, first, batch);
    batch.fates.push({ pr: first.pr, action: 'requeued', reason: 'staging_failed' });
  }
  if (others.length > 0) judgeOneByOne(pass, suspects);
  startTeardown(pass, batch, 'staging_failed');
}

/** From now on each of them is staged in a batch of its own; none has been set aside for it. */
export function judgeOneByOne({ record }: DecisionContext, members: readonly Member[]): void {
  for (const { pr, head } of members) {
    const entry = entryOf(record, pr);
    if (entry?.head === head) entry.timesSetAside ??= 0;
  }
}
