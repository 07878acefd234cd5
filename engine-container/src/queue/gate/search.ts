import { BASE_FAILING_RECHECK_MS, CONFIRMED_FAILURES_MIN } from '#core/domain/limits.ts';
import { defer } from '../batches/defer.ts';
import { cutBatchAt, supersedeAbove } from '../batches/end-batch.ts';
import {
  answerFromEvidence,
  createNode,
  moveNode,
  moveNodeIfLegal,
  resolveNode,
  retireNode,
} from '../batches/nodes.ts';
import { mayLand, proofOf, provenLength } from '../batches/pipeline.ts';
import { freeSlots, padTo } from '../batches/start-batch.ts';
import { isTerminal } from '../batches/transitions.ts';
import { type DecisionContext, entryOf, pollNoLaterThan, reportCode } from '../decision-context.ts';
import { bounce } from '../landing/bounce.ts';
import { readyEntries } from '../line/ready.ts';
import { forecastOfGood, policyFor } from '../policy/in-force.ts';
import { chooseCuts, likelySize, type Suspicion } from '../policy/policy.ts';
import { BASE_NODE_ID, type Batch, type Node, startOf } from '../record/record.ts';
import { frontierOf, isConfirmedFailure, type Verdict, verdictOf, verdictOfPrefix } from './evidence.ts';
import { isSearchedInQueue, returnSuspects, settleProbabilities, suspicionOf } from './suspicion.ts';

/** A member is not bounced while it is less likely than this that the gate fails because of it. */
const GUILTY_CHANCE_MIN = 0.95;
/** Finished gate runs from which on the repo's own record of flakes speaks for itself. */
const KNOWN_RUNS_MIN = 100;
/** So many failures in a row of one tree are taken for what they are, however flaky the gate is held to be. */
const FAILURES_CONCLUSIVE = 6;

/** Moves the search for the longest proven prefix one step on: hold, supersede, split, confirm, probe, bounce. */
export function advanceSearch(pass: DecisionContext): void {
  for (const batch of [...pass.record.batches]) {
    if (!pass.record.batches.includes(batch) || batch.teardown !== null || batch.chain.length === 0) continue;
    if (batch.stagedOn === null) advanceBatch(pass, batch);
    else holdStacked(pass, batch);
  }
}

/** A batch on top of another waits for it, whatever its own gate run says (contract: held). */
function holdStacked(pass: DecisionContext, batch: Batch): void {
  const low = provenLength(pass.record, batch);
  settleProven(pass, batch, low);
  for (const node of batch.nodes) {
    if (node.state !== 'done' || isTerminal(node.outcome)) continue;
    moveNodeIfLegal(pass, node, node.to <= low ? 'held_success' : 'held_failure');
  }
}

/** Proves, releases, ends, waits, runs again, leaves the pipeline, and judges or splits: as far as it gets. */
function advanceBatch(pass: DecisionContext, batch: Batch): void {
  const { record } = pass;
  const low = provenLength(record, batch);
  settleProven(pass, batch, low);
  const isReleased = batch.place !== 'pipeline' && low > startOf(batch) && !mayLand(record, batch);
  if (isReleased) release(pass, batch, low);
  const high = low === batch.limit ? null : frontierOf(record, batch).high;
  if (high === null) return endWithoutFailure(batch, low);
  if (isReleased && high - low > 1 && isSearchedInQueue(pass, batch))
    return returnSuspects(pass, batch, low, suspicionOf(pass, batch, low, high));
  // A pull request that lands right now was proven when its success was posted, by a batch that may be gone since: its
  // landing ends before it is judged again.
  if (batch.landing !== null && high <= batch.landing.index + 1) return;
  const failing = failingNode(batch, high);
  if (failing === undefined) {
    supersedeBeyond(pass, batch, high);
    return cutBatchAt(batch, low);
  }
  // Proven by a batch built on it that is gone since: its own gate run counts again.
  if (failing.outcome === 'held_success') moveNode(pass, failing, 'running');
  // Older evidence names a failing prefix inside a batch whose own gate run is still out: that one is waited for.
  if (failing.to > high && failing.state !== 'done') return;
  if (failing.to === high) supersedeBeyond(pass, batch, high);
  if (isShorterPrefixOut(batch, { low, high })) return holdFailure(pass, failing);
  const suspicion = suspicionOf(pass, batch, low, high);
  const isFlake = suspicion.none > policyFor(pass).rerunChance && failing.to === high;
  if (isFlake && high - low > 1) return rerunLikelyFlake(pass, failing);
  settleProbabilities(pass, batch);
  // The one failing gate run of a lone suspect is not conclusive, but the pipeline goes on without it at once.
  if (!(isFlake && batch.place === 'pipeline')) leavePipeline(pass, batch);
  if (failing.to === high && high - low === 1) judgeSuspect(pass, batch, failing, { low, high, suspicion });
  else split(pass, batch, failing, { low, high });
}

/**
 * Nothing failed. Where nothing is gated either, and nothing more is proven, what is left starts afresh on the new base. What
 * lands right now was proven by a batch that may be gone since.
 */
function endWithoutFailure(batch: Batch, low: number): void {
  const open = batch.nodes.some((node) => node.to > low && node.to <= batch.limit && node.state !== 'done');
  const landing = batch.landing === null ? 0 : batch.landing.index + 1;
  if (low < batch.limit && !open) cutBatchAt(batch, Math.max(low, landing));
}

/** A gate run is out that can still show a shorter prefix to pass or to fail. */
function isShorterPrefixOut(batch: Batch, { low, high }: Interval): boolean {
  return batch.nodes.some((node) => node.to > low && node.to < high && node.state !== 'done');
}

function holdFailure(pass: DecisionContext, failing: Node): void {
  if (failing.state === 'done') moveNode(pass, failing, 'held_failure');
}

/** Gates the same tree again, once its run has ended, and leaves the pipeline as it is. */
function rerunLikelyFlake(pass: DecisionContext, failing: Node): void {
  if (failing.state === 'done') gateAgain(pass, failing);
}

/** A failed batch is searched beside the pipeline, which restarts at once without it. */
function leavePipeline(pass: DecisionContext, batch: Batch): void {
  if (batch.place === 'suspect') return;
  if (batch.place === 'pipeline') supersedeAbove(pass, batch);
  batch.place = 'suspect';
  pass.refresh = true;
}

/**
 * Passed on a base that has moved since, or that the pipeline counts on: back to the queue, as good as known to be good.
 */
function release(pass: DecisionContext, batch: Batch, low: number): void {
  for (const member of batch.members.slice(startOf(batch), low)) {
    const entry = entryOf(pass.record, member.pr);
    if (entry?.head !== member.head) continue;
    if (entry.passedOnStaleBase) entry.timesHeldBack = (entry.timesHeldBack ?? 0) + 1;
    entry.passedOnStaleBase = true;
    entry.failureProbability = null;
  }
  batch.released = low;
  pass.refresh = true;
  for (const node of batch.nodes) {
    if (node.to <= low && node.nodeId !== BASE_NODE_ID && !isTerminal(node.outcome) && node.state === 'done')
      moveNodeIfLegal(pass, node, 'held_success');
  }
}

/** Everything up to a proven prefix is proven, whichever node was gated; gate runs still out for it are not needed any more. */
function settleProven(pass: DecisionContext, batch: Batch, low: number): void {
  for (const node of batch.nodes) {
    if (node.nodeId === BASE_NODE_ID || isTerminal(node.outcome) || node.to > low) continue;
    if (node.state === 'wanted' && batch.sharesRun === true) noteShared(pass, batch, node);
    if (node.state !== 'done') retireNode(pass, node);
    if (node.to <= batch.landed && batch.stagedOn === null) resolveNode(pass, batch, node, 'success');
  }
  const probe = batch.nodes.find((node) => node.nodeId === BASE_NODE_ID && !isTerminal(node.outcome));
  if (probe !== undefined && low > 0) resolveNode(pass, batch, probe, 'superseded');
}

/** The row of a batch that shares a gate run tells that of the batch on top of it, which spoke for both. */
function noteShared({ record }: DecisionContext, batch: Batch, node: Node): void {
  const proof = proofOf(record, batch, node.to);
  if (proof === null) return;
  answerFromEvidence(node, proof);
}

/** The node that speaks for the failing prefix: the one that ends there, else the smallest that reaches over it. */
function failingNode(batch: Batch, high: number): Node | undefined {
  return batch.nodes
    .filter((node) => node.from < high && node.to >= high && !isTerminal(node.outcome))
    .sort((a, b) => b.to - a.to)
    .at(-1);
}

function supersedeBeyond(pass: DecisionContext, batch: Batch, high: number): void {
  for (const node of batch.nodes) {
    if (node.to > high && !isTerminal(node.outcome)) resolveNode(pass, batch, node, 'superseded');
  }
}

/** Lengths of two prefixes of a batch: the longest that is proven, and the shortest that fails. The suspects lie between. */
interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Cuts of this batch that may be gated at once: its share of the free slots, once the queue has what it can use. */
function cutsFor(pass: DecisionContext): number {
  const { record, s } = pass;
  const policy = policyFor(pass);
  if (policy.cuts === 1 || !policy.pieces.sharing) return policy.cuts;
  const free = freeSlots(pass);
  const waiting = s.base.known ? readyEntries(pass, s.base.value.tree, true) : [];
  const unpassed = waiting.filter((entry) => !entry.passedOnStaleBase).length;
  const batches = Math.ceil(unpassed / likelySize(padTo(pass, []), policy.passChance));
  const forQueue = Math.min(policy.depth, Math.max(batches, waiting.length > 0 ? 1 : 0));
  const searched = record.batches.filter(
    (batch) =>
      batch.stagedOn === null &&
      batch.chain.length > 0 &&
      provenLength(record, batch) < batch.limit &&
      batch.nodes.every((node) => node.state === 'done'),
  ).length;
  return Math.max(1, Math.min(policy.cuts, Math.floor((free - forQueue) / Math.max(1, searched))));
}

/** A failed batch becomes consecutive intervals, each staged on everything before it (A14, D-97). */
function split(pass: DecisionContext, batch: Batch, failing: Node, { low, high }: Interval): void {
  // Known before the runs, it says where to look first, and nothing about guilt.
  const { weights } = suspicionOf(pass, batch, low, high, forecastOfGood);
  const cuts = chooseCuts(low, weights, cutsFor(pass));
  const proven = failing.from < low ? [low] : [];
  const beyond = failing.to > high ? [failing.to] : [];
  const edges = [failing.from, ...proven, ...cuts, high, ...beyond];
  if (pass.idsUsed + edges.length > pass.s.ids.length) {
    pollNoLaterThan(pass, 0);
    return;
  }
  resolveNode(pass, batch, failing, 'bisected');
  for (let index = 1; index < edges.length; index += 1) {
    const from = edges[index - 1] ?? 0;
    const to = edges[index] ?? high;
    const child = createNode(pass, batch, {
      nodeId: `${failing.nodeId}.${index}`,
      parent: failing,
      from,
      to,
    });
    if (child === null) return;
    const verdict = verdictOfPrefix(pass.record, batch, to);
    if (to < high && verdict.proof === null) continue;
    // The tree is one that already has its verdict: evidence is reused, no branch, no gate run (A27).
    child.state = 'done';
    const known = verdict.proof ?? verdict.failures.at(-1) ?? failing;
    child.tree = known.tree;
    answerFromEvidence(child, { ...known, verdict: verdict.proof === null ? 'failure' : 'success' });
    moveNode(pass, child, verdict.proof === null ? 'held_failure' : 'held_success');
  }
  // A member behind a prefix that fails is not suspected by it: back to the queue, in order.
  if (beyond.length === 0) cutBatchAt(batch, high);
}

/**
 * One suspect is left. It is bounced only on direct failing evidence, as the last element of a chain whose every earlier
 * element is proven, on a base that is proven (D-09), and only when hardly anything else can explain the failure: by a
 * second gate run of the same tree, or by a long record of gate runs that do not fail by themselves (D-08).
 */
function judgeSuspect(
  pass: DecisionContext,
  batch: Batch,
  accused: Node,
  { low, high, suspicion }: Interval & { readonly suspicion: Suspicion },
): void {
  // Members that landed by the success of a batch on top of them may fail by themselves: no member is judged on that. On the
  // base that they made, the accused is one of a new batch, and that base is probed.
  if (low > 0 && verdictOfPrefix(pass.record, batch, low).proof === null) return cutBatchAt(batch, low);
  const verdict = verdictOfPrefix(pass.record, batch, high);
  cutBatchAt(batch, high);
  const enough = 1 - suspicion.none > GUILTY_CHANCE_MIN || verdict.failures.length >= FAILURES_CONCLUSIVE;
  const enoughFailures = verdict.failures.length >= failuresToBounce(pass);
  const guilty = verdict.proof === null && enoughFailures && enough;
  if (!guilty && accused.state === 'done') gateAgain(pass, accused);
  const base = low > 0 ? 'proven' : judgeBase(pass, batch);
  if (base === 'undecided' || !guilty) return;
  // Those before it are proven and have not landed: a row of their own is open until they have, and gets their receipts.
  if (accused.from < low && batch.landed < low) return split(pass, batch, accused, { low, high });
  const member = batch.members[high - 1];
  if (member === undefined) return;
  if (base === 'failing') {
    reportCode(pass, 'base_red');
    pass.alarms.push({ name: 'base_red', pr: null });
    batch.fates.push(
      defer(pass, member, {
        reason: 'base_red',
        baseTree: batch.groundTree,
        until: pass.s.now + BASE_FAILING_RECHECK_MS,
      }),
    );
    resolveNode(pass, batch, accused, 'error', 'base_red');
  } else {
    const cause = isConfirmedFailure(verdict) ? 'gate_failed_twice' : 'gate_failed';
    bounce(pass, batch, high - 1, cause, latestRunUrl(verdict));
    resolveNode(pass, batch, accused, 'bounced');
  }
  cutBatchAt(batch, low);
}

/** Failing gate runs of one tree that a bounce needs: two, until the repo's own show how seldom one fails by itself (D-08). */
function failuresToBounce(pass: DecisionContext): number {
  const { rate } = pass.record;
  const { pieces } = policyFor(pass);
  const mayTrust = pass.s.confirmBounce !== 'always' && pieces.trust && pieces.flakes;
  const isKnown = mayTrust && rate.steady + rate.flaked >= KNOWN_RUNS_MIN;
  return isKnown ? 1 : CONFIRMED_FAILURES_MIN;
}

function latestRunUrl(verdict: Verdict): string | null {
  return verdict.failures.at(-1)?.runUrl ?? null;
}

/** Does the bare base pass? Its own gate runs say so: one that passes, or two that fail. */
function judgeBase(pass: DecisionContext, batch: Batch): 'proven' | 'failing' | 'undecided' {
  // A base without the gate file cannot be gated; the pull request that adds the gate stands for itself.
  if (batch.baseGateKey === null) return 'proven';
  // A base that no commit repairs may have failed by accident: old failures are looked at again.
  const verdict = verdictOf(
    pass.record,
    batch.groundTree,
    batch.baseGateKey,
    null,
    pass.s.now - BASE_FAILING_RECHECK_MS,
  );
  const probe = batch.nodes.filter((node) => node.nodeId === BASE_NODE_ID).at(-1);
  const live = probe !== undefined && !isTerminal(probe.outcome);
  if (verdict.proof !== null) {
    if (live) resolveNode(pass, batch, probe, 'success');
    return 'proven';
  }
  if (isConfirmedFailure(verdict)) {
    if (live) resolveNode(pass, batch, probe, 'error', 'base_red');
    return 'failing';
  }
  if (!live)
    createNode(pass, batch, { nodeId: BASE_NODE_ID, parent: batch.nodes[0] ?? null, from: 0, to: 0 });
  else if (probe.state === 'done') gateAgain(pass, probe);
  return 'undecided';
}

function gateAgain(pass: DecisionContext, node: Node): void {
  node.attempt += 1;
  node.state = 'wanted';
  node.gateSource = null;
  node.verdict = 'none';
  node.runKey = null;
  node.runUrl = null;
  delete node.runnerWait;
  moveNode(pass, node, 'running');
}
