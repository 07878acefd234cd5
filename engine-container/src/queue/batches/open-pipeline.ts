import { type DecisionContext, entryOf } from '../decision-context.ts';
import { frontierOf } from '../gate/evidence.ts';
import type { CrowdRule } from '../line/crowd-rule.ts';
import { isIncident } from '../line/incidents.ts';
import { readyEntries } from '../line/ready.ts';
import { isStagedAlone, pickNext } from '../line/staging-turns.ts';
import { chanceOf } from '../policy/chances.ts';
import { fanoutOf, gateRunsMax, policyFor } from '../policy/in-force.ts';
import { gateMsOf } from '../policy/pace.ts';
import { likelySize, type SpeculationPolicy } from '../policy/policy.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Batch, Ground, Member } from '../record/record.ts';
import { activeMembers, isWhole, nextToLand, pipelineOf, provenLength } from './pipeline.ts';
import { sharingTop } from './shared-run.ts';
import { awaitLinger, freeSlots, padTo, sizeOf, startBatch } from './start-batch.ts';

/** So few suspects are waited for by any number of those who stood behind them: two cuts as a rule. */
const SUSPECTS_AWAITED_MAX = 4;
/** More suspects are waited for by so many for each of them at most. */
const LEFT_PER_SUSPECT_MAX = 2;

/**
 * Why the pipeline takes no more: it is as deep as may be, too much hangs on it, one in it failed that waits for those
 * below, or one in it is judged alone because the gate runs of its batch were broken off.
 */
export type Closed = 'full' | 'risky' | 'broken' | 'alone';

/** Builds the next batch on the pipeline where that is worth it. */
export function openPipeline(
  pass: DecisionContext,
  base: Ground,
  oneByOne: boolean,
  crowdRule: CrowdRule | null,
): Closed | 'open' {
  const { record } = pass;
  const landing = nextToLand(record);
  if (landing !== null && landing.place !== 'pipeline') return 'open';
  const { isolation } = policyFor(pass).pieces;
  if (!isolation && record.batches.some((batch) => batch.place === 'suspect')) return 'open';
  const pipeline = pipelineOf(record);
  const top = pipeline.at(-1);
  if (top === undefined) {
    openBottom(pass, base, oneByOne, crowdRule);
    return 'open';
  }
  const mayBuildOn = pipeline.every((batch) => isWhole(batch) && batch.chain.length > 0);
  return oneByOne || !mayBuildOn ? 'open' : openOnTop(pass, pipeline, top, crowdRule);
}

function takeReady(
  pass: DecisionContext,
  ground: Ground,
  isOnBatch: boolean,
  crowdRule: CrowdRule | null,
): readonly QueueEntry[] {
  const ready = readyEntries(pass, ground.tree, isOnBatch);
  return ready.filter((entry) => crowdRule?.isUntried(entry) !== true);
}

/** The first batch of an empty pipeline stands on the base. */
function openBottom(
  pass: DecisionContext,
  base: Ground,
  oneByOne: boolean,
  crowdRule: CrowdRule | null,
): void {
  if (freeSlots(pass) <= 0 && fanoutOf(pass) === 1) return;
  const ready = takeReady(pass, base, false, crowdRule);
  if (ready.length === 0 || isLeftBySearch(pass, ready) || !awaitLinger(pass, ready)) return;
  const size = oneByOne ? 1 : sizeOf(pass, ready, policyFor(pass).depth);
  startBatch(pass, 'pipeline', null, base, pickNext(pass, ready, size));
}

/**
 * True while all that waits stood in batches whose suspects are searched, one cut at a time: a prefix that passes lands at once as
 * long as nothing is started beside it, and what is left has one gate run together once the culprit is known. Many who stood behind
 * many suspects would wait long, and take several batches in any case (decision 0286).
 */
function isLeftBySearch(pass: DecisionContext, ready: readonly QueueEntry[]): boolean {
  if (policyFor(pass).cuts > 1 || ready.some(isIncident)) return false;
  const searched = pass.record.batches.filter(({ place }) => place === 'suspect');
  const members = searched.flatMap((batch) => batch.members);
  const suspects = searched.flatMap(activeMembers).length;
  const isShort = suspects <= SUSPECTS_AWAITED_MAX || ready.length <= LEFT_PER_SUSPECT_MAX * suspects;
  return (
    isShort &&
    ready.every(({ pr, head }) => members.some((member) => member.pr === pr && member.head === head))
  );
}

/** Each further batch is built on the last commit of the one below. */
function openOnTop(
  pass: DecisionContext,
  pipeline: readonly Batch[],
  top: Batch,
  crowdRule: CrowdRule | null,
): Closed | 'open' {
  const { record } = pass;
  const policy = policyFor(pass);
  const ground = top.chain.at(-1);
  if (ground === undefined) return 'open';
  const sharing = sharingTop(record);
  const [first] = sharing;
  const undecided = pipeline.filter(
    (batch) => provenLength(record, batch) < batch.limit && !sharing.includes(batch),
  );
  const closed = judgeUndecided(pass, undecided);
  if (closed !== null) return closed;
  const ready = takeReady(pass, ground, true, crowdRule).filter((entry) => goesAlong(pass, entry, first));
  const isUrgent = ready.some(isIncident);
  const isOfOthers = crowdRule !== null && !ready.every(crowdRule.isOfCrowd);
  const runs = undecided.filter(({ sharesRun }) => sharesRun !== true).length;
  // An incident may be staged on a pipeline that is full: what is below it was kept for that.
  if (runs >= policy.depth + (isOfOthers ? 1 : 0) && !isUrgent) return 'full';
  if (freeSlots(pass) <= 0) return 'open';
  if (ready.length === 0 || (first === undefined && !awaitLinger(pass, ready))) return 'open';
  const full = likelySize(padTo(pass, ready), policy.passChance);
  const mayWait = undecided.length > 0 && first === undefined && !isUrgent;
  if (mayWait && ready.length < full && !awaitEvenStart(pass, top, policy)) return 'open';
  const shared = sharing.flatMap(activeMembers);
  const size = sizeOf(pass, [...shared, ...ready], Math.max(1, policy.depth - runs)) - shared.length;
  if (size > 0) startBatch(pass, 'pipeline', top.batchId, ground, pickNext(pass, ready, size));
  return 'open';
}

/** Why nothing is built on batches whose verdict is still to come; null: nothing is against it. */
function judgeUndecided(
  pass: DecisionContext,
  undecided: readonly Batch[],
): 'risky' | 'broken' | 'alone' | null {
  const chance = undecided.reduce((product, batch) => product * chanceOf(pass, batch), 1);
  if (undecided.length > 0 && chance < policyFor(pass).aheadChance)
    return undecided.some((batch) => frontierOf(pass.record, batch).high !== null) ? 'broken' : 'risky';
  // Its gate runs may be broken off for what it changes, and with them those of all that is built on it (A144).
  return undecided.flatMap(activeMembers).some((member) => isOneStagedAlone(pass, member)) ? 'alone' : null;
}

/** Staging it, or each gate run of a batch with it, failed without a verdict. */
function isOneStagedAlone({ record }: DecisionContext, { pr, head }: Member): boolean {
  const entry = entryOf(record, pr);
  return entry?.head === head && isStagedAlone(entry);
}

/** May this one share the gate run? Those behind a member that did not go along have lingered with it; one that came later has not (A33). */
function goesAlong({ s }: DecisionContext, entry: QueueEntry, sharing: Batch | undefined): boolean {
  if (sharing === undefined || isIncident(entry)) return true;
  const readyAt = entry.readyAt ?? s.now;
  return readyAt < sharing.createdAt || readyAt + s.repo.batchLingerSeconds * 1000 <= s.now;
}

/**
 * Batches that are not full start evenly over the time of a gate run, but for the first ones of a long pipeline: true once
 * the next one may start; else the next look comes when it may.
 */
function awaitEvenStart(pass: DecisionContext, top: Batch, policy: SpeculationPolicy): boolean {
  const gateMs = gateMsOf(pass.record.rate);
  if (gateMs === null) return false;
  const places = Math.min(policy.depth, gateRunsMax(pass));
  if (pipelineOf(pass.record).length < Math.min(policy.promptPlaces, places / 2)) return true;
  const at = top.createdAt + Math.round(gateMs / places);
  if (pass.s.now >= at) return true;
  pass.nextStartAt = at;
  return false;
}
