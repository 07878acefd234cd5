import { gateFolders, otherWorkflowFolders, rebasesUpToDate } from '#core/domain/forge/forge-version.ts';
import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import { stagedMessage, stagingBranch } from '#core/domain/queue/queue-names.ts';
import type { KnownTree } from '../actions.ts';
import { type DecisionContext, entryOf, wakeNoLaterThan } from '../decision-context.ts';
import { awaitsPerson } from '../line/holds.ts';
import { gateRunsMax } from '../policy/in-force.ts';
import { type Batch, type Node, type QueueRecord, treeOf } from '../record/record.ts';
import { workBranchOf } from './end-batch.ts';
import { sweepLate } from './late-branches.ts';
import {
  activeMembers,
  batchBelow,
  landingOf,
  openRunsOf,
  pipelineOf,
  runsOut,
  treesAhead,
} from './pipeline.ts';
import { endSharing, mayShareRun } from './shared-run.ts';
import { dissolveOnOldBase } from './unbuilt.ts';

/**
 * Stages what is wanted, as many gate runs at once as the fan-out allows: suspects first, one slot kept for the pipeline
 * (A28).
 */
export function stageWanted(pass: DecisionContext): void {
  const { record } = pass;
  // Staging takes seconds for each ten pull requests: the forge merges meanwhile.
  if (pass.landsAtNextLook) return;
  if (awaitsPerson(record)) return;
  dissolveOnOldBase(pass);
  endSharing(pass);
  const allowed = gateRunsMax(pass);
  let running = runsOut(record).length;
  const pipelineIsGated = pipelineOf(record).some((batch) =>
    batch.nodes.some((node) => node.state === 'gating'),
  );
  const pipelineWants = pipelineOf(record).some((batch) =>
    openRunsOf(batch).some((node) => node.state === 'wanted'),
  );
  const forSuspects = allowed > 1 && pipelineWants && !pipelineIsGated ? allowed - 1 : allowed;
  for (const place of ['suspect', 'pipeline', 'trial'] as const) {
    for (const batch of record.batches) {
      if (batch.place !== place || batch.teardown !== null) continue;
      for (const node of wantedOf(pass, batch)) {
        if (running >= (place === 'suspect' ? forSuspects : allowed)) break;
        running += 1;
        node.load = running;
        stageNode(pass, batch, node);
      }
    }
  }
}

function wantedOf(pass: DecisionContext, batch: Batch): readonly Node[] {
  const wanted = openRunsOf(batch)
    .filter((node) => node.state === 'wanted')
    .sort((a, b) => a.to - b.to);
  return wanted.filter((node) => {
    if (node.retryAt === null || node.retryAt <= pass.s.now) return true;
    wakeNoLaterThan(pass, node.retryAt);
    return false;
  });
}

function stageNode(pass: DecisionContext, batch: Batch, node: Node): void {
  if (batch.chain.length === 0) return stageWhole(pass, batch, node);
  const batch8 = batch.batchId.slice(0, 8);
  const branch = `${nodeBranch(pass, batch, node)}${node.attempt === 1 ? '' : `-a${node.attempt}`}`;
  // An earlier try of this attempt failed, or its engine died: it may have left the work branch, or leave either later.
  const isTriedAgain = node.branch === branch;
  node.branch = branch;
  const tree = treeOf(batch, node.to);
  const groundTree = treeOf(batch, batch.landed);
  if (tree === undefined || groundTree === undefined) return;
  // A landing that is under way moves the base between two calls: the branch would be made twice, with a gate run each.
  const isBaseToMove = landingOf(pass.record) !== null;
  const isAnchored = isBaseToMove || batch.tip !== pass.record.tip;
  // The work branch is litter once more if this is not the last use of it.
  if (isAnchored || tree === groundTree || isTriedAgain) batch.builds += 1;
  if (isTriedAgain) sweepLate(pass, [branch, workBranchOf(pass, batch)]);
  pass.actions.push({
    kind: 'stage_tree',
    nodeRow: node.id,
    branch: node.branch,
    groundSha: batch.tip,
    workBranch: workBranchOf(pass, batch),
    isAnchored,
    groundTree,
    tree,
    message: stagedMessage(pass.s.queueName, batch8, `${node.nodeId} attempt ${node.attempt}`),
  });
}

function stageWhole(pass: DecisionContext, batch: Batch, node: Node): void {
  const { record, s } = pass;
  const plain = stagingBranch(s.queueName, s.repo.baseBranch);
  const isTaken =
    record.batches.some((other) => other.nodes.some((each) => each !== node && each.branch === plain)) ||
    (batch.builds === 0 &&
      record.garbage.some(
        ({ branch, notBefore }) => branch === plain && (record.batches.length > 1 || notBefore > s.now),
      ));
  // One batch at a time keeps the plain name; a batch that is gated beside it or after it has a name of its own (D-10).
  node.branch ??= isTaken ? nodeBranch(pass, batch, node) : plain;
  batch.builds += 1;
  if (batch.builds > 1) sweepLate(pass, [node.branch, workBranchOf(pass, batch)]);
  const version = record.forge?.version ?? null;
  pass.actions.push({
    kind: 'stage_batch',
    batchId: batch.batchId,
    nodeRow: node.id,
    branch: node.branch,
    workBranch: workBranchOf(pass, batch),
    groundSha: batch.groundSha,
    groundTree: batch.groundTree,
    headsBelow: batch.stagedOn === null ? null : headsBelow(record, batch),
    forkSha: forkOf(record, batch),
    members: batch.members.map(({ pr, head }) => ({
      pr,
      head,
      mergeBase: knownMergeBase(pass, batch, pr, head),
      ownBranch: headBranchOf(pass, batch, pr, head),
      behind: batch.place === 'suspect' ? [] : treesAhead(record, pr),
    })),
    workflowFolders: gateFolders(version),
    otherWorkflowFolders: otherWorkflowFolders(version),
    rebasesUpToDate: rebasesUpToDate(version),
    statusGate: batch.statusGate ?? null,
    mayShareRun: mayShareRun(pass, batch),
    knownTrees: knownTrees(pass, batch),
  });
}

/** Forks run what their owners wrote, AGit heads have no branch, and after a merge time-out only a new verdict counts (A21). */
function headBranchOf({ s, record }: DecisionContext, batch: Batch, pr: number, head: string): string | null {
  if (!s.repo.reuseCi || !s.pulls.known) return null;
  const pull = s.pulls.value.find((view) => view.pull.number === pr)?.pull;
  if (latestRetestOfAll(record, batch) !== null || pull?.headSha !== head || pull.fromFork || pull.agit)
    return null;
  return pull.headRef;
}

function nodeBranch(pass: DecisionContext, batch: Batch, node: Node): string {
  const { s } = pass;
  return `${stagingBranch(s.queueName, s.repo.baseBranch)}-${batch.batchId.slice(0, 8)}-${node.nodeId}`;
}

function forkOf(record: QueueRecord, batch: Batch): CommitSha {
  return batch.stagedOn === null ? batch.groundSha : (record.tip ?? batch.groundSha);
}

/** Heads of all that land before this batch: what is stacked on one of them forks off there. */
function headsBelow(record: QueueRecord, batch: Batch): CommitSha[] {
  const below = batchBelow(record, batch);
  if (below === undefined) return [];
  return [...headsBelow(record, below), ...activeMembers(below).map((member) => member.head)];
}

/** The forge's own fork point, only where it was computed for exactly this base and head (forge facts, 6.2). */
function knownMergeBase(pass: DecisionContext, batch: Batch, pr: number, head: string): string | null {
  if (!pass.s.pulls.known) return null;
  const pull = pass.s.pulls.value.find((view) => view.pull.number === pr)?.pull;
  const exact =
    pull?.mergeable === true && pull.headSha === head && pull.baseTip === forkOf(pass.record, batch);
  return exact ? pull.mergeBase : null;
}

/** Evidence that may answer for this batch's trees; a retest of any member asks for fresh ones. */
function knownTrees(pass: DecisionContext, batch: Batch): KnownTree[] {
  const after = latestRetestOfAll(pass.record, batch);
  const known = new Map<string, KnownTree>();
  for (const { tree, gate, verdict, at } of pass.record.evidence) {
    const key = `${tree} ${gate}`;
    // A success proves the tree whatever failed before.
    if ((after === null || at > after) && known.get(key)?.verdict !== 'success')
      known.set(key, { tree, gate, verdict });
  }
  return [...known.values()];
}

/**
 * The latest retest of all members, where `retestOfPrefix` asks for a prefix: nothing is built yet, and one answer has to do for each
 * prefix.
 */
function latestRetestOfAll(record: QueueRecord, { members }: Batch): EpochMs | null {
  const retests = members.flatMap(({ pr }) => entryOf(record, pr)?.retestAfter ?? []);
  return retests.length === 0 ? null : Math.max(...retests);
}
