import * as z from 'zod';
import type { EpochMs } from '../../domain/ids.ts';
import type { MailboxState } from '../../domain/notices/notice-ways.ts';
import {
  type ActivityStats,
  CI_STATES,
  nextLookAt,
  REPO_STATES,
  type RepoActivity,
} from '../../domain/queue/activity.ts';
import { FANOUT_REASONS, sayChosenFanout } from '../../domain/queue/auto-fanout.ts';
import {
  ACTIVITY_EVENTS,
  type ActivityEvent,
  BATCH_OUTCOMES,
  BATCH_PHASES,
  GATE_VERDICTS,
  MEMBER_ACTIONS,
  type NodeRow,
} from '../../domain/queue/batch.ts';
import { BLOCK_KINDS, PLACE_STATES, type QueueView } from '../../domain/queue/queue-view.ts';
import type { Standstill } from '../../domain/queue/standstill.ts';
import { nextFreeze } from '../../domain/repos/freeze.ts';
import { PRIORITIES } from '../../domain/repos/priority.ts';
import { type ManagedRepo, RECONCILE_ERROR_CODES, type ReconcileOutcome } from '../../domain/repos/repo.ts';
import type { LeaseState } from '../../domain/wakes/lease.ts';
import { RECORD_ERROR_REASONS, type TerminalMark } from '../../ports/account-store.ts';
import { HaltEvidenceView, toHaltEvidence } from '../evidence/halt-evidence.ts';
import { ReceiptView, toReceiptView } from '../evidence/receipt.ts';
import { formatTime, formatTimeOrNull, Time, Uuid } from '../fields.ts';
import { MaskedNotification, toMaskedNotification } from '../notices/notification.ts';
import { FreezeView, toFreezeView } from '../repos/freeze.ts';
import { LeaseStateView, toReconcileView } from '../repos/managed-repo.ts';
import { DRIFT_FIELDS, toDriftFields } from '../set-up/drift.ts';
import { BATCH_COSTS, viewCosts } from './batch-costs.ts';
import { StandstillView, toStandstill } from './standstill.ts';

const QueuePlaceView = z.object({
  pr: z.int(),
  title: z.string(),
  queued_at: Time,
  priority: z.enum(PRIORITIES),
  state: z.enum(PLACE_STATES),
  reason: z.string().nullable(),
  until: Time.nullable(),
});
const BlockView = z.object({
  kind: z.enum(BLOCK_KINDS),
  since: Time.nullable(),
  until: Time.nullable(),
  pr: z.int().nullable(),
  run_url: z.string().nullable(),
  /** Of `runner`: labels that the runner has to have; null: not known. */
  runner_labels: z.array(z.string()).nullable(),
  evidence: HaltEvidenceView.nullable(),
});

const ActivityRepo = z.object({
  repo_id: Uuid,
  repo_slug: z.string(),
  instance_url: z.string(),
  base_branch: z.string(),
  state: z.enum(REPO_STATES),
  ci_status: z.enum(CI_STATES),
  ci_url: z.string().nullable(),
  staging_branch: z.string(),
  batch: z.array(z.object({ pr: z.int() })),
  last_reconcile: Time.nullable(),
  last_reconcile_ok: z.boolean().nullable(),
  last_reconcile_error: z.string().nullable(),
  lease_state: LeaseStateView,
  last_reconcile_error_code: z.enum(RECONCILE_ERROR_CODES).nullable(),
  /** Null: none went well yet. */
  last_good_reconcile: Time.nullable(),
  /** Masked: enough to know the destinations again, nothing to use. Null: no notices are sent. */
  notification: MaskedNotification.nullable(),
  /** In the future; null: the time is not known. */
  next_look_at: Time.nullable(),
  /** The freeze window that holds, or else the next one; null: none is to come. */
  freeze: FreezeView.nullable(),
  ...DRIFT_FIELDS,
  /** Null: the queue moves as usual, is empty or off, or is not known. */
  standstill: StandstillView.nullable(),
  /** The queue in order and what stands before the next landing, as the worker last saw it; null = unknown. */
  queue: z
    .object({
      seen_at: Time,
      line: z.array(QueuePlaceView),
      line_more: z.int(),
      block: BlockView,
      /** Which number of gate runs at once the queue chose, and why; null: the settings name it. */
      fanout: z.object({ in_force: z.int(), reason: z.enum(FANOUT_REASONS), says: z.string() }).nullable(),
    })
    .nullable(),
});

export const ActivityEventView = z.object({
  timestamp: Time,
  event: z.enum(ACTIVITY_EVENTS),
  pr: z.int(),
  repo_id: Uuid,
  repo_slug: z.string(),
  /** Null: the repository has left the queue. */
  instance_url: z.string().nullable(),
  title: z.string(),
  reason: z.string().nullable(),
});

const prs = z.array(z.int());
export const QueueBatch = z.object({
  id: z.string(),
  parent_id: z.string().nullable(),
  run_id: z.string(),
  node_id: z.string(),
  parent_node_id: z.string().nullable(),
  attempt: z.int(),
  staging_sha: z.string().nullable(),
  gate_verdict: z.enum(GATE_VERDICTS),
  landed_prs: prs.nullable(),
  bounced_prs: prs.nullable(),
  actions: z.array(
    z.object({
      pr: z.int(),
      action: z.enum(MEMBER_ACTIONS),
      staging_sha: z.string().nullable(),
      gate_verdict: z.enum(GATE_VERDICTS),
      cursor: z.int(),
      reason: z.string().nullable(),
      receipt: ReceiptView.nullable(),
    }),
  ),
  repo_slug: z.string().nullable(),
  instance_url: z.string().nullable(),
  staging_branch: z.string().nullable(),
  prs,
  outcome: z.enum(BATCH_OUTCOMES),
  phase: z.enum(BATCH_PHASES).nullable(),
  created_at: Time,
  resolved_at: Time.nullable(),
  gate_source: z.literal('cached').nullable(),
  terminal_reason: z.string().nullable(),
  historical_terminals: z.array(z.object({ pr: z.int(), event: z.enum(['landed', 'bounced']) })),
  staging_tree: z.string().nullable(),
  run_url: z.string().nullable(),
  ...BATCH_COSTS,
});

const count = z.int().nullable();
const rate = z.number().nullable();
const ActivityStatsView = z.object({
  today_merges: count,
  week_merges: count,
  week_bounces: count,
  merge_success_rate: rate,
  week_batches: count,
  week_superseded: count,
  restage_rate: rate,
  time_in_queue_p50_seconds: rate,
  time_in_queue_p95_seconds: rate,
  week_runs: count,
  runs_per_landed: rate,
  runs_saved: count,
  days: z.array(z.object({ day: z.iso.date(), landed: count, bounced: count, runs: count })),
});

/** `before`: `queue_batches_next` of an earlier answer; left out: from the newest. All but the batches is of now. */
export const ActivityQuery = z.object({
  before: z
    .string()
    .regex(/^[\w-]{16,79}$/)
    .optional(),
});

export const Activity = z.object({
  repos: z.array(ActivityRepo),
  recent_activity: z.array(ActivityEventView),
  recent_activity_truncated: z.boolean(),
  queue_batches: z.array(QueueBatch),
  queue_batches_truncated: z.boolean(),
  /** For `before`: where the next older ones begin; null: there are none. */
  queue_batches_next: z.string().nullable(),
  stats: ActivityStatsView,
  /** Batches that cannot be shown as nodes of a tree (D-81). */
  record_errors: z.array(z.object({ id: z.string(), reason: z.enum(RECORD_ERROR_REASONS) })),
});

export type Activity = z.input<typeof Activity>;

export function toActivityRepo(
  repo: ManagedRepo,
  activity: RepoActivity,
  outcome: ReconcileOutcome | undefined,
  leaseState: LeaseState,
  queue: QueueView | undefined,
  mailbox: MailboxState | null,
  standstill: Standstill | null,
  now: EpochMs,
): z.infer<typeof ActivityRepo> {
  const reconcile = toReconcileView(outcome);
  return {
    repo_id: repo.id,
    repo_slug: repo.slug,
    instance_url: repo.instanceUrl,
    base_branch: repo.baseBranch,
    state: activity.state,
    ci_status: activity.ciStatus,
    ci_url: activity.ciUrl,
    staging_branch: activity.stagingBranch,
    batch: activity.prs.map((pr) => ({ pr })),
    last_reconcile: reconcile.ran_at,
    last_reconcile_ok: reconcile.ok,
    last_reconcile_error: reconcile.error,
    lease_state: leaseState,
    last_reconcile_error_code: reconcile.error_code,
    last_good_reconcile: formatTimeOrNull(
      outcome?.lastGoodAt ?? (outcome?.ok === true ? outcome.ranAt : null),
    ),
    notification: toMaskedNotification(repo.notification, mailbox),
    next_look_at: formatTimeOrNull(nextLookAt(repo.dueAt, now)),
    freeze: toFreezeView(nextFreeze(repo, now)),
    ...toDriftFields({ repo, outcome, view: queue }, now),
    standstill: toStandstill(standstill),
    queue: queue === undefined ? null : toQueueView(queue),
  };
}

function toQueueView({ at, places, more, block, fanout }: QueueView): z.infer<typeof ActivityRepo>['queue'] {
  return {
    seen_at: formatTime(at),
    line: places.map(({ pr, title, queuedAt, priority = 'normal', state, reason, until }) => ({
      pr,
      title,
      priority,
      state,
      reason,
      queued_at: formatTime(queuedAt),
      until: formatTimeOrNull(until),
    })),
    line_more: more,
    block: {
      kind: block.kind,
      since: formatTimeOrNull(block.since),
      until: formatTimeOrNull(block.until),
      pr: block.pr,
      run_url: block.runUrl,
      runner_labels: block.labels === undefined ? null : [...block.labels],
      evidence: toHaltEvidence(block.evidence),
    },
    fanout:
      fanout === undefined
        ? null
        : { in_force: fanout.inForce, reason: fanout.reason, says: sayChosenFanout(fanout) },
  };
}

export function toActivityEvent(
  event: ActivityEvent,
  instanceUrl: string | null,
): z.infer<typeof ActivityEventView> {
  return {
    timestamp: formatTime(event.at),
    event: event.event,
    pr: event.pr,
    repo_id: event.repoId,
    repo_slug: event.repoSlug,
    instance_url: instanceUrl,
    title: event.title,
    reason: event.reason,
  };
}

/** `terminals`: what ended its pull requests after it was made, in the same repo. */
export function toQueueBatch(row: NodeRow, terminals: readonly TerminalMark[]): z.infer<typeof QueueBatch> {
  const membersThat = (action: 'landed' | 'bounced'): number[] | null => {
    const found = row.actions.filter((each) => each.action === action).map((each) => each.pr);
    return found.length === 0 && row.outcome === 'running' ? null : found;
  };
  return {
    id: row.id,
    parent_id: row.parentId,
    run_id: row.batchId,
    node_id: row.nodeId,
    parent_node_id: row.parentNodeId,
    attempt: row.attempt,
    staging_sha: row.stagingSha,
    gate_verdict: row.gateVerdict,
    landed_prs: membersThat('landed'),
    bounced_prs: membersThat('bounced'),
    actions: row.actions.map((each) => ({
      pr: each.pr,
      action: each.action,
      staging_sha: each.stagingSha,
      gate_verdict: each.gateVerdict,
      cursor: each.cursor,
      reason: each.reason ?? null,
      receipt: each.receipt === undefined ? null : toReceiptView(each.receipt),
    })),
    repo_slug: row.repoSlug,
    instance_url: row.instanceUrl,
    staging_branch: row.stagingBranch,
    prs: [...row.prs],
    outcome: row.outcome,
    phase: row.phase,
    created_at: formatTime(row.createdAt),
    resolved_at: formatTimeOrNull(row.resolvedAt),
    gate_source: row.gateSource,
    terminal_reason: row.terminalReason,
    historical_terminals: terminals.map(({ pr, event }) => ({ pr, event })),
    staging_tree: row.stagingTree,
    run_url: row.runUrl,
    ...viewCosts(row),
  };
}

export function toActivityStats(stats: ActivityStats): z.infer<typeof ActivityStatsView> {
  return {
    today_merges: stats.todayMerges,
    week_merges: stats.weekMerges,
    week_bounces: stats.weekBounces,
    merge_success_rate: stats.mergeSuccessRate,
    week_batches: stats.weekBatches,
    week_superseded: stats.weekSuperseded,
    restage_rate: stats.restageRate,
    time_in_queue_p50_seconds: toSeconds(stats.timeInQueueP50Ms),
    time_in_queue_p95_seconds: toSeconds(stats.timeInQueueP95Ms),
    week_runs: stats.weekRuns,
    runs_per_landed: stats.runsPerLanded,
    runs_saved: stats.runsSaved,
    days: stats.days.map(({ day, landed, bounced, runs }) => ({
      landed,
      bounced,
      runs,
      day: formatTime(day).slice(0, 'yyyy-mm-dd'.length),
    })),
  };
}

function toSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms / 1000);
}
