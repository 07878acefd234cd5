import type { DecisionContext } from '../decision-context.ts';
import type { CrowdRule } from '../line/crowd-rule.ts';
import { readyEntries } from '../line/ready.ts';
import { pickNext } from '../line/staging-turns.ts';
import { policyFor } from '../policy/in-force.ts';
import { likelySize, thriftySize } from '../policy/policy.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Ground } from '../record/record.ts';
import type { Closed } from './open-pipeline.ts';
import { awaitLinger, freeSlots, padTo, sizeOf, startBatch } from './start-batch.ts';

/** An author who crowds the line has one batch beside it in their turn, before the line takes more (decision 0250). */
export function openTrialInTurn(pass: DecisionContext, base: Ground, crowdRule: CrowdRule): void {
  const free = freeSlots(pass);
  if (free <= 0) return;
  const ready = readyEntries(pass, base.tree, false).filter(crowdRule.isInTurn);
  if (ready.length === 0 || !awaitLinger(pass, ready)) return;
  startBatch(pass, 'trial', null, base, pickNext(pass, ready, sizeOf(pass, ready, free)));
}

/**
 * Full batches of what waits, each alone on the base: what passes has passed on a stale base once the pipeline has
 * landed, what fails is searched. Beside an open pipeline only what a crowd has to show first.
 */
export function openTrials(
  pass: DecisionContext,
  base: Ground,
  pipeline: Closed | 'open',
  crowdRule: CrowdRule | null,
): void {
  for (let started = 0; ; started += 1) {
    const free = freeSlots(pass);
    if (free <= 0) return;
    // Where nothing is tried or searched, a crowd has one slot whatever others need, so that it goes on.
    const isFirst = pass.record.batches.every((batch) => batch.place === 'pipeline');
    const mayCrowd = crowdRule !== null && (isFirst || free > crowdRule.slotsKept);
    const ready = readyEntries(pass, base.tree, false).filter((entry) => {
      if (crowdRule?.isOfCrowd(entry) === true) return mayCrowd && crowdRule.isUntried(entry);
      return pipeline !== 'open' && !entry.passedOnStaleBase && entry.failureProbability === null;
    });
    const size = sizeOf(pass, ready, free);
    const full = fullTrial(pass, ready, pipeline);
    // The tail of a burst would have none to wait for: half a batch of it goes along.
    const goesAlong = started > 0 && policyFor(pass).depth > 1 ? Math.ceil(full / 2) : full;
    // The pipeline takes none of a crowd before that: its first trial waits for no others to fill it.
    const enough = isFirst && ready.some((entry) => crowdRule?.isOfCrowd(entry) === true) ? 1 : goesAlong;
    if (ready.length < enough || !awaitLinger(pass, ready)) return;
    if (!startBatch(pass, 'trial', null, base, pickNext(pass, ready, size))) return;
  }
}

/**
 * How many must wait for a trial batch: a usual batch where nothing else can be done for them; more where the pipeline
 * will take them by itself, fewer where it is about to start anew, one where that takes several attempts.
 */
function fullTrial(pass: DecisionContext, ready: readonly QueueEntry[], pipeline: Closed | 'open'): number {
  if (pipeline === 'alone') return 1;
  const good = padTo(pass, ready);
  const likely = likelySize(good, policyFor(pass).passChance);
  if (pipeline === 'full') return Math.ceil((likely + thriftySize(good)) / 2);
  return pipeline === 'broken' ? Math.ceil(likely / 2) : likely;
}
