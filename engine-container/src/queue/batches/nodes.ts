import { isForgeRun } from '#core/domain/forge/status-gate.ts';
import type { BatchOutcome, MemberAction } from '#core/domain/queue/batch.ts';
import { type DecisionContext, takeId } from '../decision-context.ts';
import { fateInstead } from '../record/fate-instead.ts';
import type { Batch, Node } from '../record/record.ts';
import { canMove, isTerminal } from './transitions.ts';

/** A branch whose gate run is not visible yet is kept this long (D-65). */
const BRANCH_SETTLE_MS = 10_000;

export function createNode(
  pass: DecisionContext,
  batch: Batch,
  spec: { readonly nodeId: string; readonly parent: Node | null; readonly from: number; readonly to: number },
): Node | null {
  const id = takeId(pass);
  if (id === null) return null;
  const node: Node = {
    id,
    nodeId: spec.nodeId,
    parentNodeId: spec.parent?.nodeId ?? null,
    parentId: spec.parent?.id ?? null,
    from: spec.from,
    to: spec.to,
    attempt: 1,
    state: 'wanted',
    branch: null,
    sha: null,
    tree: null,
    verdict: 'none',
    gateSource: null,
    runKey: null,
    runUrl: null,
    runs: 0,
    outcome: 'running',
    terminalReason: null,
    actions: [],
    createdAt: pass.s.now,
    stagedAt: null,
    resolvedAt: null,
    retryAt: null,
    faults: 0,
    load: 1,
  };
  batch.nodes.push(node);
  return node;
}

/** Moves a node's outcome; an illegal move is a defect of `decide` and stops the reconcile. */
export function moveNode(pass: DecisionContext, node: Node, outcome: BatchOutcome): void {
  if (node.outcome === outcome) return;
  if (!canMove(node.outcome, outcome)) throw new Error(`illegal outcome move ${node.outcome} -> ${outcome}`);
  node.outcome = outcome;
  node.resolvedAt = outcome === 'running' ? null : pass.s.now;
}

/** Moves the outcome of a node where that move is legal: a failure that is held does not turn into a success that is held. */
export function moveNodeIfLegal(pass: DecisionContext, node: Node, outcome: BatchOutcome): void {
  if (canMove(node.outcome, outcome)) moveNode(pass, node, outcome);
}

/** Ends a node for good: outcome, one durable action per member (A42), and its branch goes. */
export function resolveNode(
  pass: DecisionContext,
  batch: Batch,
  node: Node,
  outcome: BatchOutcome,
  terminalReason: string | null = null,
): void {
  if (isTerminal(node.outcome)) return;
  // A row that says "landed" says it with the receipt.
  if (
    outcome === 'success' &&
    (batch.untraced ?? []).some(({ index }) => node.from <= index && index < node.to)
  )
    return;
  moveNode(pass, node, outcome);
  node.terminalReason = terminalReason;
  node.actions = batch.members.slice(node.from, node.to).map((member, offset): MemberAction => {
    const cursor = node.from + offset;
    const base = { pr: member.pr, stagingSha: node.sha, gateVerdict: node.verdict, cursor };
    const receipt = batch.receipts[cursor];
    // A superseded or split node speaks for no member: its members are decided elsewhere (A14, A26).
    const undecided = outcome === 'superseded' || outcome === 'bisected';
    const instead = fateInstead(batch, member.pr);
    if (!undecided && cursor < batch.landed && instead === undefined) {
      return receipt === undefined
        ? { ...base, action: 'landed', reason: 'unverified' }
        : { ...base, action: 'landed', receipt };
    }
    const fate = undecided
      ? undefined
      : (instead ?? batch.fates.find((candidate) => candidate.pr === member.pr));
    return fate === undefined
      ? { ...base, action: 'requeued' }
      : { ...base, action: fate.action, reason: fate.reason };
  });
  retireNode(pass, node);
}

/** The tree of the node, or one that contains it, has a verdict already: no gate run of its own is started (A27). */
export function answerFromEvidence(
  node: Node,
  { sha, runUrl, verdict }: Pick<Node, 'sha' | 'runUrl' | 'verdict'>,
): void {
  node.gateSource = 'cached';
  node.sha = sha;
  node.runUrl = runUrl;
  node.verdict = verdict;
}

/** The node needs no gate run any more: one that goes on is cancelled, its branch is deleted once that is safe. */
export function retireNode(pass: DecisionContext, node: Node): void {
  const unfinished = node.state === 'gating';
  node.state = 'done';
  if (node.branch === null) return;
  const isGateRunSeen = node.runKey !== null;
  pass.record.garbage.push({
    branch: node.branch,
    notBefore: isGateRunSeen ? pass.s.now : (node.stagedAt ?? pass.s.now) + BRANCH_SETTLE_MS,
    runKey: unfinished && node.runKey !== null && isForgeRun(node.runKey) ? node.runKey : null,
  });
  node.branch = null;
}
