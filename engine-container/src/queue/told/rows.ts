import type { EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { LANDED_RECALL_MS } from '#core/domain/limits.ts';
import { type ActivityEvent, closeRow, type MemberAction, type NodeRow } from '#core/domain/queue/batch.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { provenLength } from '../batches/pipeline.ts';
import { judgedWith } from '../batches/shared-run.ts';
import { isTerminal } from '../batches/transitions.ts';
import type { DecidedEvent } from '../record/decided-event.ts';
import { fateInstead } from '../record/fate-instead.ts';
import type { StagedHead } from '../record/recall-state.ts';
import type { Batch, GarbageBranch, Node, QueueRecord } from '../record/record.ts';
import { isSameData } from '../record/same-data.ts';

/** One stored row per node that was staged or resolved, or waits for another attempt; a batch that is still being built has none. */
export function toNodeRow(repo: ManagedRepo, batch: Batch, node: Node): NodeRow {
  return {
    id: node.id,
    tenantId: repo.tenantId,
    repoId: repo.id,
    repoSlug: repo.slug,
    instanceUrl: repo.instanceUrl,
    parentId: node.parentId,
    batchId: batch.batchId,
    nodeId: node.nodeId,
    parentNodeId: node.parentNodeId,
    attempt: node.attempt,
    stagingSha: node.sha,
    stagingTree: node.tree,
    stagingBranch: node.branch,
    gateVerdict: node.verdict,
    gateSource: node.gateSource,
    runUrl: node.runUrl,
    ...(node.runs === undefined ? {} : { gateRuns: node.runs }),
    prs: batch.members.slice(node.from, node.to).map((member) => member.pr),
    outcome: node.outcome,
    ...phaseOf(batch, node),
    terminalReason: node.terminalReason,
    actions: node.outcome === 'running' ? landedSoFar(batch, node) : node.actions,
    createdAt: node.createdAt,
    ...(node.stagedAt === null ? {} : { stagedAt: node.stagedAt }),
    ...(node.judgedAt === undefined ? {} : { judgedAt: node.judgedAt }),
    resolvedAt: node.resolvedAt,
  };
}

/** A member that has landed has its receipt at once: its batch may go on with others for long. */
function landedSoFar(batch: Batch, node: Node): readonly MemberAction[] {
  return batch.members.slice(node.from, Math.min(node.to, batch.landed)).flatMap(({ pr }, offset) => {
    const cursor = node.from + offset;
    const receipt = batch.receipts[cursor];
    return receipt === undefined || fateInstead(batch, pr) !== undefined
      ? []
      : [{ pr, action: 'landed' as const, stagingSha: node.sha, gateVerdict: node.verdict, cursor, receipt }];
  });
}

/** A gate run that passed with all of it in its tree proves it as well, whether its own has ended or it has none. */
function phaseOf(batch: Batch, node: Node, proven = 0): Pick<NodeRow, 'phase' | 'phaseSince'> {
  if (node.outcome !== 'running') return { phase: null };
  if (node.state !== 'done' && node.to > proven) return { phase: 'waiting_gate' };
  return { phase: 'waiting_merge', ...(batch.turnAt === undefined ? {} : { phaseSince: batch.turnAt }) };
}

/** Rows that differ between two records, those of batches that ended in between included. */
export function changedRows(
  repo: ManagedRepo,
  before: QueueRecord,
  after: QueueRecord,
  closed: readonly Batch[],
): NodeRow[] {
  const known = new Map<string, NodeRow>();
  for (const batch of before.batches) for (const row of rowsOf(repo, before, batch)) known.set(row.id, row);
  const now = [...closed, ...after.batches].flatMap((batch) => rowsOf(repo, after, batch));
  return now.filter((row) => !isSameData(known.get(row.id), row));
}

function rowsOf(repo: ManagedRepo, record: QueueRecord, batch: Batch): NodeRow[] {
  const nodes = batch.nodes.filter(hasRow);
  const mayBeProven = nodes.some(({ outcome, state }) => outcome === 'running' && state !== 'done');
  const proven = mayBeProven ? provenLength(record, batch) : 0;
  return nodes.map((node) => ({
    ...toNodeRow(repo, batch, node),
    ...phaseOf(batch, node, proven),
    runUrl: runUrlOf(record, batch, node),
  }));
}

/** Has this node a row? One that waits for its next attempt has: a member whose prefix has passed lands meanwhile, and a lost record is told by open rows. */
function hasRow({ stagedAt, outcome, sha, retryAt }: Node): boolean {
  return stagedAt !== null || outcome !== 'running' || sha !== null || retryAt !== null;
}

/** A gate run that speaks for several batches is shown with each of them. */
function runUrlOf(record: QueueRecord, batch: Batch, node: Node): string | null {
  const judged = judgedWith(record, batch);
  if (judged === batch || node.state !== 'wanted') return node.runUrl;
  return judged.nodes.find(({ state }) => state === 'gating')?.runUrl ?? null;
}

export function toActivityEvent(repo: ManagedRepo, event: DecidedEvent, at: EpochMs): ActivityEvent {
  return {
    tenantId: repo.tenantId,
    repoId: repo.id,
    repoSlug: repo.slug,
    at,
    event: event.event,
    pr: event.pr,
    head: event.head,
    title: event.title,
    reason: event.reason,
    ...(event.author === undefined ? {} : { author: event.author }),
    ...(event.scheduledAt === undefined ? {} : { scheduledAt: event.scheduledAt }),
  };
}

/**
 * Rows that an earlier record left unresolved: that record is lost, and with it how they ended. They are closed
 * as just that, their members go back to the queue, and their branches are swept (A32, A42).
 */
export function closeOrphans(
  rows: readonly NodeRow[],
  repo: ManagedRepo,
  at: EpochMs,
): { readonly rows: readonly NodeRow[]; readonly garbage: readonly GarbageBranch[] } {
  const orphans = rows.filter((row) => row.repoId === repo.id && !isTerminal(row.outcome));
  return {
    rows: orphans.map((row) => closeRow(row, at, 'record_lost')),
    garbage: orphans.flatMap((row) =>
      row.stagingBranch === null ? [] : [{ branch: row.stagingBranch, notBefore: at, runKey: null }],
    ),
  };
}

/** Closed so by a record that was lost in its turn, perhaps before it had looked at their heads. */
export function recentlyLost(rows: readonly NodeRow[], now: EpochMs): readonly NodeRow[] {
  return rows.filter(
    ({ terminalReason, resolvedAt }) =>
      terminalReason === 'record_lost' && resolvedAt !== null && now - resolvedAt < LANDED_RECALL_MS,
  );
}

/** Just landed when the record was lost: nothing else remembers that their success was still to be taken back. */
export function landedHeads(
  events: readonly ActivityEvent[],
  repo: ManagedRepo,
  now: EpochMs,
): readonly StagedHead[] {
  return events
    .filter(
      ({ repoId, event, at }) => repoId === repo.id && event === 'pr_landed' && now - at < LANDED_RECALL_MS,
    )
    .map(({ pr, head }) => ({ pr, head }));
}

/** Who landed or merged along with a landing, by the newest events: for a record that is lost they tell it, oldest first. */
export function landedNumbers(
  events: readonly ActivityEvent[],
  repo: ManagedRepo,
): readonly PullRequestNumber[] {
  const own = events.filter(({ repoId }) => repoId === repo.id);
  const heads = new Set(own.flatMap(({ event, head }) => (event === 'pr_landed' ? [head] : [])));
  return own
    .filter(
      ({ event, reason, head }) =>
        event === 'pr_landed' ||
        reason === 'merged_along' ||
        (reason === 'merged_outside_the_queue' && heads.has(head)),
    )
    .sort((one, other) => one.at - other.at)
    .map(({ pr }) => pr);
}

/** Heads that were staged for these rows, by the events of the time: the rows themselves know numbers only. */
export function stagedHeads(
  rows: readonly NodeRow[],
  events: readonly ActivityEvent[],
): readonly StagedHead[] {
  const since = Math.min(...rows.map((row) => row.createdAt));
  const heads = new Map<string, StagedHead>();
  for (const { repoId, event, at, pr, head } of events) {
    const isMeant = rows.some((row) => row.repoId === repoId && row.prs.includes(pr));
    if (event === 'pr_staged' && at >= since && isMeant) heads.set(`${pr} ${head}`, { pr, head });
  }
  return [...heads.values()];
}
