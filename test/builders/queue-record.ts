import type { BatchId, NodeRowId } from '#core/domain/ids.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import { DEFAULT_SERVICE_NAME, stagingBranch } from '#core/domain/queue/queue-names.ts';
import type { Evidence } from '../../engine-container/src/queue/record/evidence-state.ts';
import type { Landing } from '../../engine-container/src/queue/record/landing-state.ts';
import { createEntry, type QueueEntry } from '../../engine-container/src/queue/record/queue-entry.ts';
import {
  type Batch,
  emptyRecord,
  type Member,
  type Node,
  type QueueRecord,
} from '../../engine-container/src/queue/record/record.ts';

/** The base, and the names of commits and trees that these builders give to what stands on it. */
export const BASE = { sha: 'base-0', tree: 'tree-0' };
export const headOf = (pr: number): string => `head-${pr}`;
/** Commit and tree of the first `length` members of a batch. */
export const stagedAt = (length: number) => ({ sha: `staged-${length}`, tree: `tree-${length}` });

/** A record that has looked at the forge once and found nothing. */
export function givenRecord(changes: Partial<QueueRecord> = {}): QueueRecord {
  return { ...emptyRecord(DEFAULT_SERVICE_NAME), rebuilding: false, ...changes };
}

/**
 * A pull request that was scheduled at the second of its number, and admitted at once. Words stand on its head that nothing which
 * goes well writes over.
 */
export function givenEntry(pr: number, changes: Partial<QueueEntry> = {}): QueueEntry {
  const head = headOf(pr);
  const place = { pr, title: `Change ${pr}`, head, scheduleId: pr, queuedAt: pr };
  const said = { head, state: 'pending', description: 'requeued: the base branch moved' } as const;
  return { ...createEntry(place), readyAt: pr, said, ...changes };
}

export function givenMember(pr: number): Member {
  return { pr, head: headOf(pr), scheduleId: pr, title: `Change ${pr}` };
}

/** The node of all of two members; its gate run is under way. */
export function givenNode(changes: Partial<Node> = {}): Node {
  return {
    id: 'node' as NodeRowId,
    nodeId: 'r',
    parentNodeId: null,
    parentId: null,
    from: 0,
    to: 2,
    attempt: 1,
    state: 'gating',
    branch: null,
    sha: null,
    tree: null,
    verdict: 'none',
    gateSource: null,
    runKey: null,
    runUrl: null,
    outcome: 'running',
    terminalReason: null,
    actions: [],
    createdAt: 1,
    stagedAt: 5,
    resolvedAt: null,
    retryAt: null,
    faults: 0,
    load: 1,
    ...changes,
  };
}

/** A batch of #1 and #2 that is not staged yet. */
export function givenBatch(changes: Partial<Batch> = {}): Batch {
  return {
    batchId: 'batch' as BatchId,
    place: 'pipeline',
    stagedOn: null,
    members: [1, 2].map(givenMember),
    groundSha: BASE.sha,
    groundTree: BASE.tree,
    builds: 1,
    chain: [],
    gateKey: null,
    baseGateKey: null,
    gateFile: null,
    landed: 0,
    released: 0,
    receipts: [],
    fates: [],
    tip: BASE.sha,
    limit: 2,
    nodes: [givenNode()],
    landing: null,
    unmergeableSince: null,
    teardown: null,
    createdAt: 1,
    ...changes,
  };
}

/** A batch of #1 to #`size` that is staged on the base, its gate run under way. */
export function givenStagedBatch(size: number, changes: Partial<Batch> = {}): Batch {
  const prs = Array.from({ length: size }, (_, index) => index + 1);
  return givenBatch({
    members: prs.map(givenMember),
    limit: size,
    chain: prs.map(stagedAt),
    gateKey: 'gate',
    baseGateKey: 'gate',
    gateFile: '.forgejo/workflows/gate.yaml',
    baseGateFile: '.forgejo/workflows/gate.yaml',
    nodes: [givenNode({ to: size, branch: stagingBranch(DEFAULT_SERVICE_NAME, 'main'), ...stagedAt(size) })],
    ...changes,
  });
}

/** The landing of the first member of a batch of `size`, whose `success` was posted at `postedAt`. */
export function givenLanding(changes: Partial<Landing> = {}): Landing {
  return {
    index: 0,
    pr: 1,
    head: headOf(1),
    baseBefore: BASE.sha,
    tree: stagedAt(1).tree,
    proof: { ...stagedAt(2), runUrl: 'https://forge.example/runs/1' },
    fence: 1,
    intentAt: 7,
    postedAt: 9,
    nudges: 0,
    asked: 1,
    answered: 1,
    takeBack: null,
    ...changes,
  };
}

/** A finished gate run of the first `length` members. */
export function givenEvidence(
  length: number,
  verdict: Evidence['verdict'],
  changes: Partial<Evidence> = {},
): Evidence {
  const { sha, tree } = length === 0 ? BASE : stagedAt(length);
  return { tree, gate: 'gate', verdict, runKey: `run-${length}`, runUrl: null, sha, at: 5, ...changes };
}

export function givenReceipt(changes: Partial<Receipt> = {}): Receipt {
  return {
    baseBefore: BASE.sha,
    head: headOf(1),
    stagedSha: stagedAt(1).sha,
    tree: stagedAt(1).tree,
    runUrl: null,
    mergeCommit: 'merge-1',
    landedAt: 1,
    ...changes,
  };
}
