import { workflowFolders } from '#core/domain/forge-version.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { stagedMessage, stagingBranch } from '#core/domain/queue-names.ts';
import type { KnownTree } from './actions.ts';
import { type DecisionContext, retireNode, runsMax, wakeNoLaterThan } from './decision-context.ts';
import { sweepLate } from './late-branches.ts';
import { activeMembers, pipelineOf, treesAhead } from './pipeline.ts';
import { type Node, type QueueRecord, type Root, treeOf } from './record.ts';
import { dissolve, workBranchOf } from './root.ts';

/**
 * Stages what is wanted, as many runs at once as the fan-out allows: suspects first, one slot kept for the pipeline
 * (A28).
 */
export function stageWanted(pass: DecisionContext): void {
  const { record } = pass;
  if (record.halted !== null || record.rival !== undefined || record.nameInTheWay !== undefined) return;
  dissolveLate(pass);
  const allowed = runsMax(pass);
  let running = record.roots.flatMap((root) => root.nodes).filter((node) => node.state === 'gating').length;
  const pipelineRuns = pipelineOf(record).some((root) => root.nodes.some((node) => node.state === 'gating'));
  const pipelineWants = pipelineOf(record).some((root) => root.nodes.some((node) => node.state === 'wanted'));
  const forSuspects = allowed > 1 && pipelineWants && !pipelineRuns ? allowed - 1 : allowed;
  for (const place of ['suspect', 'pipeline', 'trial'] as const) {
    for (const root of record.roots) {
      if (root.place !== place || root.teardown !== null) continue;
      for (const node of wantedOf(pass, root)) {
        if (running >= (place === 'suspect' ? forSuspects : allowed)) break;
        running += 1;
        node.load = running;
        stageNode(pass, root, node);
      }
    }
  }
}

/**
 * A batch that was never built has nothing of the base that it was meant for: its patches may not even apply to the one
 * that is there now, and a forge says no more of that than that it failed.
 */
function dissolveLate(pass: DecisionContext): void {
  const { record, s } = pass;
  if (!s.base.known) return;
  for (const root of [...record.roots]) {
    const isUnbuilt = root.chain.length === 0 && root.onto === null && root.teardown === null;
    if (!isUnbuilt || root.baseSha === s.base.value.sha) continue;
    // A call without an answer may have made its branches.
    for (const node of root.nodes) retireNode(pass, node);
    dissolve(pass, root);
  }
}

function wantedOf(pass: DecisionContext, root: Root): readonly Node[] {
  const wanted = root.nodes.filter((node) => node.state === 'wanted').sort((a, b) => a.to - b.to);
  return wanted.filter((node) => {
    if (node.retryAt === null || node.retryAt <= pass.s.now) return true;
    wakeNoLaterThan(pass, node.retryAt);
    return false;
  });
}

function stageNode(pass: DecisionContext, root: Root, node: Node): void {
  if (root.chain.length === 0) return stageWhole(pass, root, node);
  const run8 = root.runId.slice(0, 8);
  const branch = `${ownBranch(pass, root, node)}${node.attempt === 1 ? '' : `-a${node.attempt}`}`;
  // An earlier try of this attempt failed, or its engine died: it may have left the work branch, or leave either later.
  const isTriedAgain = node.branch === branch;
  node.branch = branch;
  const tree = treeOf(root, node.to);
  const ontoTree = treeOf(root, root.landed);
  if (tree === undefined || ontoTree === undefined) return;
  // The work branch is litter once more if this is not the last use of it.
  const isAnchored = root.tip !== pass.record.tip;
  if (isAnchored || tree === ontoTree || isTriedAgain) root.builds += 1;
  if (isTriedAgain) sweepLate(pass, [branch, workBranchOf(pass, root)]);
  pass.actions.push({
    kind: 'stage_tree',
    nodeRow: node.id,
    branch: node.branch,
    onto: root.tip,
    workBranch: workBranchOf(pass, root),
    isAnchored,
    ontoTree,
    tree,
    message: stagedMessage(pass.s.queueName, run8, `${node.nodeId} attempt ${node.attempt}`),
  });
}

function stageWhole(pass: DecisionContext, root: Root, node: Node): void {
  const { record, s } = pass;
  const plain = stagingBranch(s.queueName, s.repo.baseBranch);
  const isTaken =
    record.roots.some((other) => other.nodes.some((each) => each !== node && each.branch === plain)) ||
    (root.builds === 0 &&
      record.garbage.some(
        ({ branch, notBefore }) => branch === plain && (record.roots.length > 1 || notBefore > s.now),
      ));
  // One root at a time keeps the plain name; whatever runs beside it or after it has a name of its own (D-10).
  node.branch ??= isTaken ? ownBranch(pass, root, node) : plain;
  root.builds += 1;
  if (root.builds > 1) sweepLate(pass, [node.branch, workBranchOf(pass, root)]);
  pass.actions.push({
    kind: 'stage_root',
    runId: root.runId,
    nodeRow: node.id,
    branch: node.branch,
    workBranch: workBranchOf(pass, root),
    baseSha: root.baseSha,
    stackedOn: root.onto === null ? null : headsBelow(record, root),
    forkSha: forkOf(record, root),
    members: root.members.map(({ pr, head }) => ({
      pr,
      head,
      mergeBase: knownMergeBase(pass, root, pr, head),
      behind: root.place === 'suspect' ? [] : treesAhead(record, pr),
    })),
    workflowFolders: workflowFolders(record.forge?.version ?? null),
    knownTrees: knownTrees(pass, root),
  });
}

function ownBranch(pass: DecisionContext, root: Root, node: Node): string {
  const { s } = pass;
  return `${stagingBranch(s.queueName, s.repo.baseBranch)}-${root.runId.slice(0, 8)}-${node.nodeId}`;
}

function forkOf(record: QueueRecord, root: Root): CommitSha {
  return root.onto === null ? root.baseSha : (record.tip ?? root.baseSha);
}

/** Heads of all that land before this batch: what is stacked on one of them forks off there. */
function headsBelow(record: QueueRecord, root: Root): CommitSha[] {
  const below = record.roots.find((other) => other.runId === root.onto);
  if (below === undefined) return [];
  return [...headsBelow(record, below), ...activeMembers(below).map((member) => member.head)];
}

/** The forge's own fork point, only where it was computed for exactly this base and head (forge facts, 6.2). */
function knownMergeBase(pass: DecisionContext, root: Root, pr: number, head: string): string | null {
  if (!pass.s.pulls.known) return null;
  const pull = pass.s.pulls.value.find((view) => view.pull.number === pr)?.pull;
  const exact =
    pull?.mergeable === true && pull.headSha === head && pull.baseTip === forkOf(pass.record, root);
  return exact ? pull.mergeBase : null;
}

/** Ledger entries that may answer for this root's trees; a retest of any member asks for fresh ones. */
function knownTrees(pass: DecisionContext, root: Root): KnownTree[] {
  const after = root.members
    .map((member) => pass.record.entries.find((entry) => entry.pr === member.pr)?.retestAfter ?? null)
    .reduce<number | null>((latest, at) => (at !== null && at > (latest ?? 0) ? at : latest), null);
  const known = new Map<string, KnownTree>();
  for (const { tree, gate, verdict, at } of pass.record.evidence) {
    const key = `${tree} ${gate}`;
    // A pass proves the tree whatever failed before.
    if ((after === null || at > after) && known.get(key)?.verdict !== 'success')
      known.set(key, { tree, gate, verdict });
  }
  return [...known.values()];
}
