import type { BatchId, PullRequestNumber, TreeHash } from '#core/domain/ids.ts';
import { BATCH_PULL_REQUESTS_MAX } from '#core/domain/limits.ts';
import { isMergeRefusal } from '#core/domain/merge-refusal.ts';
import { statusGateOf } from '#core/domain/status-gate.ts';
import { requiresContext } from '../admission/admission.ts';
import { mustReadAgain, noteReadings } from '../admission/unclear.ts';
import { type DecisionContext, entryOf, reportCode, takeId, wakeNoLaterThan } from '../decision-context.ts';
import { frontierOf } from '../gate/evidence.ts';
import { isReplacedTip } from '../landing/landed.ts';
import { isHeldByStanding } from '../landing/standing.ts';
import { type CrowdRule, crowdRuleOf, noteOthers } from '../line/crowd-rule.ts';
import { hasStopped } from '../line/holds.ts';
import { isIncident, overtake } from '../line/incidents.ts';
import { readyEntries } from '../line/ready.ts';
import { isStagedAlone, noteStagingTurn, pickNext } from '../line/staging-turns.ts';
import { noteTurns, orderLine } from '../line/turns.ts';
import { chanceOf } from '../policy/chances.ts';
import { chanceOfGood, fanoutOf, forecastOfGood, gateRunsMax, policyFor } from '../policy/in-force.ts';
import { gateMsOf } from '../policy/pace.ts';
import { chooseBatchSize, likelySize, type SpeculationPolicy, thriftySize } from '../policy/policy.ts';
import { isHeldByForge, outlastsBase } from '../record/aside.ts';
import { authored, labelRankOf, type QueueEntry, rankOf } from '../record/queue-entry.ts';
import type { Batch, Member, Place, Staged } from '../record/record.ts';
import { createNode } from './nodes.ts';
import {
  activeMembers,
  endTreeOf,
  isWhole,
  nextToLand,
  openRunsOf,
  pipelineOf,
  provenLength,
  treesAhead,
} from './pipeline.ts';
import { sharingTop } from './shared-run.ts';

/** Opens the next batches: on the pipeline, and beside it what is only to be tried. */
export function openBatches(pass: DecisionContext): void {
  const { record, s } = pass;
  if (hasStopped(record) || !s.repo.queueEnabled) return;
  if (isHeldByStanding(pass)) return;
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
  keepDeferred(pass, base.tree);
  orderLine(pass);
  noteOthers(pass);
  if (readyEntries(pass, base.tree, false).length === 0 && readyEntries(pass, base.tree, true).length === 0)
    return;
  if (mustReadAgain(pass)) return;
  if (!requiresContext(s.protection.value, record.context)) {
    // Without the rule a merge needs no proof of ours: staging would only pretend (execution model 7).
    return reportCode(pass, 'protection_conflict');
  }
  if (record.pausedUntil !== null && record.pausedUntil > s.now) {
    reportCode(pass, 'gate_infrastructure');
    return wakeNoLaterThan(pass, record.pausedUntil);
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
function keepDeferred(pass: DecisionContext, baseTree: string): void {
  const { record, s } = pass;
  const grounds = new Set<string | undefined>([baseTree]);
  for (const batch of record.batches) grounds.add(batch.baseTree).add(endTreeOf(batch));
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

/** Gate runs that may still be started: what is wanted already counts, and what waits for a retry too. */
function freeSlots(pass: DecisionContext): number {
  return gateRunsMax(pass) - pass.record.batches.flatMap(openRunsOf).length;
}

/**
 * Why the pipeline takes no more: it is as deep as may be, too much hangs on it, one in it failed that waits for those
 * below, or one in it is judged alone because the gate runs of its batch were broken off.
 */
type Closed = 'full' | 'risky' | 'broken' | 'alone';

/** Builds the next batch on the pipeline where that is worth it. */
function openPipeline(
  pass: DecisionContext,
  base: Staged,
  oneByOne: boolean,
  crowdRule: CrowdRule | null,
): Closed | 'open' {
  const { record } = pass;
  const pipeline = pipelineOf(record);
  const landing = nextToLand(record);
  if (landing !== null && landing.place !== 'pipeline') return 'open';
  const policy = policyFor(pass);
  const top = pipeline.at(-1);
  const takeReady = (ground: Staged, stacked: boolean) =>
    readyEntries(pass, ground.tree, stacked).filter((entry) => crowdRule?.isUntried(entry) !== true);
  if (!policy.pieces.isolation && record.batches.some((batch) => batch.place === 'suspect')) return 'open';
  if (top === undefined) {
    if (freeSlots(pass) <= 0 && fanoutOf(pass) === 1) return 'open';
    const ready = takeReady(base, false);
    if (ready.length === 0 || !hasLingered(pass, ready)) return 'open';
    const size = oneByOne ? 1 : sizeOf(pass, ready, policy.depth);
    startBatch(pass, 'pipeline', null, base, pickNext(pass, ready, size));
    return 'open';
  }
  if (oneByOne || !pipeline.every((batch) => isWhole(batch) && batch.chain.length > 0)) return 'open';
  const stagedOn = top.chain.at(-1);
  const sharing = sharingTop(record);
  const undecided = pipeline.filter(
    (batch) => provenLength(record, batch) < batch.limit && !sharing.includes(batch),
  );
  if (stagedOn === undefined) return 'open';
  const chance = undecided.reduce((product, batch) => product * chanceOf(pass, batch), 1);
  if (undecided.length > 0 && chance < policy.aheadChance)
    return undecided.some((batch) => frontierOf(record, batch).high !== null) ? 'broken' : 'risky';
  // Its gate runs may be broken off for what it changes, and with them those of all that is built on it (A144).
  if (undecided.flatMap(activeMembers).some((member) => isJudgedAlone(pass, member))) return 'alone';
  const [first] = sharing;
  const ready = takeReady(stagedOn, true).filter((entry) => goesAlong(pass, entry, first));
  const isUrgent = ready.some(isIncident);
  // An incident may be staged on a pipeline that is full: what is below it was kept for that.
  const isOfOthers = crowdRule !== null && !ready.every(crowdRule.isOfCrowd);
  const runs = undecided.filter(({ sharesRun }) => sharesRun !== true).length;
  if (runs >= policy.depth + (isOfOthers ? 1 : 0) && !isUrgent) return 'full';
  if (freeSlots(pass) <= 0) return 'open';
  if (ready.length === 0 || (first === undefined && !hasLingered(pass, ready))) return 'open';
  const full = likelySize(padTo(pass, ready), policy.passChance);
  const mayWait = undecided.length > 0 && first === undefined && !isUrgent;
  if (mayWait && ready.length < full && !isDue(pass, top, policy)) return 'open';
  const shared = sharing.flatMap(activeMembers);
  const size = sizeOf(pass, [...shared, ...ready], Math.max(1, policy.depth - runs)) - shared.length;
  if (size > 0) startBatch(pass, 'pipeline', top.batchId, stagedOn, pickNext(pass, ready, size));
  return 'open';
}

/** Staging it, or each gate run of a batch with it, failed without a verdict. */
function isJudgedAlone({ record }: DecisionContext, { pr, head }: Member): boolean {
  const entry = entryOf(record, pr);
  return entry?.head === head && isStagedAlone(entry);
}

/** Those behind a member that did not go along have lingered with it; one that came later has not (A33). */
function goesAlong({ s }: DecisionContext, entry: QueueEntry, sharing: Batch | undefined): boolean {
  if (sharing === undefined || isIncident(entry)) return true;
  const readyAt = entry.readyAt ?? s.now;
  return readyAt < sharing.createdAt || readyAt + s.repo.batchLingerSeconds * 1000 <= s.now;
}

/** Batches that are not full start evenly over the time of a gate run, but for the first ones of a long pipeline. */
function isDue(pass: DecisionContext, top: Batch, policy: SpeculationPolicy): boolean {
  const gateMs = gateMsOf(pass.record.rate);
  if (gateMs === null) return false;
  const places = Math.min(policy.depth, gateRunsMax(pass));
  if (pipelineOf(pass.record).length < Math.min(policy.promptPlaces, places / 2)) return true;
  const at = top.createdAt + Math.round(gateMs / places);
  if (pass.s.now >= at) return true;
  pass.nextStartAt = at;
  return false;
}

/** An author who crowds the line has one batch beside it in their turn, before the line takes more (decision 0250). */
function openTrialInTurn(pass: DecisionContext, base: Staged, crowdRule: CrowdRule): void {
  const free = freeSlots(pass);
  if (free <= 0) return;
  const fresh = readyEntries(pass, base.tree, false).filter(crowdRule.isInTurn);
  if (fresh.length === 0 || !hasLingered(pass, fresh)) return;
  startBatch(pass, 'trial', null, base, pickNext(pass, fresh, sizeOf(pass, fresh, free)));
}

/**
 * Full batches of what waits, each alone on the base: what passes has passed on a stale base once the pipeline has
 * landed, what fails is searched. Beside an open pipeline only what a crowd has to show first.
 */
function openTrials(
  pass: DecisionContext,
  base: Staged,
  pipeline: Closed | 'open',
  crowdRule: CrowdRule | null,
): void {
  for (let started = 0; ; started += 1) {
    const free = freeSlots(pass);
    if (free <= 0) return;
    // Where nothing is tried or searched, a crowd has one slot whatever others need, so that it goes on.
    const isFirst = pass.record.batches.every((batch) => batch.place === 'pipeline');
    const mayCrowd = crowdRule !== null && (isFirst || free > crowdRule.slotsKept);
    const fresh = readyEntries(pass, base.tree, false).filter((entry) => {
      if (crowdRule?.isOfCrowd(entry) === true) return mayCrowd && crowdRule.isUntried(entry);
      return pipeline !== 'open' && !entry.passedOnStaleBase && entry.failureProbability === null;
    });
    const size = sizeOf(pass, fresh, free);
    const full = fullTrial(pass, fresh, pipeline);
    // The tail of a burst would have none to wait for: half a batch of it goes along.
    const goesAlong = started > 0 && policyFor(pass).depth > 1 ? Math.ceil(full / 2) : full;
    // The pipeline takes none of a crowd before that: its first trial waits for no others to fill it.
    const enough = isFirst && fresh.some((entry) => crowdRule?.isOfCrowd(entry) === true) ? 1 : goesAlong;
    if (fresh.length < enough || !hasLingered(pass, fresh)) return;
    if (!startBatch(pass, 'trial', null, base, pickNext(pass, fresh, size))) return;
  }
}

/**
 * How many must wait for a trial batch: a usual batch where nothing else can be done for them; more where the pipeline
 * will take them by itself, fewer where it is about to start anew, one where that takes several attempts.
 */
function fullTrial(pass: DecisionContext, fresh: readonly QueueEntry[], pipeline: Closed | 'open'): number {
  if (pipeline === 'alone') return 1;
  const good = padTo(pass, fresh);
  const likely = likelySize(good, policyFor(pass).passChance);
  if (pipeline === 'full') return Math.ceil((likely + thriftySize(good)) / 2);
  return pipeline === 'broken' ? Math.ceil(likely / 2) : likely;
}

function sizeOf(pass: DecisionContext, ready: readonly (QueueEntry | Member)[], depthLeft: number): number {
  const good = ready.map((entry) => forecastOfGood(pass, entry));
  const policy = policyFor(pass);
  const free = freeSlots(pass);
  const places = Math.min(depthLeft, free);
  // What the pipeline does not take is tried beside it, where searches need slots too.
  const slots = policy.pieces.trials ? Math.ceil((places + free) / 2) : places;
  return chooseBatchSize({ good, fanout: fanoutOf(pass), policy, slots: Math.max(1, slots) });
}

/** The queue with strangers behind it, so that "full" does not depend on who has come yet. */
export function padTo(pass: DecisionContext, ready: readonly QueueEntry[]): readonly number[] {
  const stranger = chanceOfGood(pass, { pr: 0 });
  const good = ready.map((entry) => forecastOfGood(pass, entry));
  return [...good, ...Array.from({ length: BATCH_PULL_REQUESTS_MAX }, () => stranger)];
}

/** Nothing is staged before the linger has passed since the newest ready pull request, unless enough wait (A33). */
function hasLingered(pass: DecisionContext, ready: readonly QueueEntry[]): boolean {
  const { repo, now } = pass.s;
  const enough =
    repo.batchTarget > 0 ? Math.min(repo.batchTarget, BATCH_PULL_REQUESTS_MAX) : BATCH_PULL_REQUESTS_MAX;
  if (repo.batchLingerSeconds === 0 || ready.length >= enough || ready.some(isIncident)) return true;
  const newest = Math.max(...ready.map((entry) => entry.readyAt ?? now));
  const until = newest + repo.batchLingerSeconds * 1000;
  if (now >= until) return true;
  wakeNoLaterThan(pass, until);
  return false;
}

function startBatch(
  pass: DecisionContext,
  place: Place,
  stagedOn: BatchId | null,
  ground: Staged,
  entries: readonly QueueEntry[],
): boolean {
  const { record, s } = pass;
  const batchId = takeId(pass);
  if (batchId === null || !s.base.known) return false;
  const gate = statusGateOf(s.repo);
  const batch: Batch = {
    batchId,
    place,
    stagedOn,
    members: entries.map((entry) => {
      const { pr, head, scheduleId, title, signals } = entry;
      const known = signals === undefined ? {} : { signals };
      const before = entry.passedOnStaleBase ? ({ passedBefore: true } as const) : {};
      return { pr, head, scheduleId, title, ...authored(entry), ...known, ...before };
    }),
    baseSha: ground.sha,
    baseTree: ground.tree,
    builds: 0,
    chain: [],
    ...(gate === null ? {} : { statusGate: gate }),
    gateKey: null,
    baseGateKey: null,
    gateFile: null,
    landed: 0,
    released: 0,
    receipts: [],
    fates: [],
    tip: ground.sha,
    limit: entries.length,
    nodes: [],
    landing: null,
    unmergeableSince: null,
    teardown: null,
    createdAt: s.now,
  };
  if (createNode(pass, batch, { nodeId: 'r', parent: null, from: 0, to: entries.length }) === null)
    return false;
  record.batches.push(batch);
  noteStagingTurn(pass, entries);
  noteTurns(pass, entries);
  record.tip ??= s.base.value.sha;
  return true;
}
