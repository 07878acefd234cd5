import * as z from 'zod';
import { type ActivityStats, CI_STATES, REPO_STATES, type RepoActivity } from '../domain/activity.ts';
import {
  ACTIVITY_EVENTS,
  type ActivityEvent,
  BATCH_OUTCOMES,
  BATCH_PHASES,
  type BatchRow,
  GATE_VERDICTS,
  MEMBER_ACTIONS,
} from '../domain/batch.ts';
import type { LeaseState } from '../domain/lease.ts';
import type { ManagedRepo, ReconcileOutcome } from '../domain/repo.ts';
import { RECORD_ERROR_REASONS, type TerminalMark } from '../ports/account-store.ts';
import { formatTime, formatTimeOrNull, Time } from './fields.ts';
import { LeaseStateView, toReconcileView } from './managed-repo.ts';

export const ActivityRepo = z.object({
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
});

export const ActivityEventView = z.object({
  timestamp: Time,
  event: z.enum(ACTIVITY_EVENTS),
  pr: z.int(),
  repo_slug: z.string(),
  title: z.string(),
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
});

const count = z.int().nullable();
const rate = z.number().nullable();
export const ActivityStatsView = z.object({
  today_merges: count,
  week_merges: count,
  week_bounces: count,
  merge_success_rate: rate,
  week_batches: count,
  week_superseded: count,
  restage_rate: rate,
});

export const Activity = z.object({
  repos: z.array(ActivityRepo),
  recent_activity: z.array(ActivityEventView),
  recent_activity_truncated: z.boolean(),
  queue_batches: z.array(QueueBatch),
  queue_batches_truncated: z.boolean(),
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
): z.infer<typeof ActivityRepo> {
  const reconcile = toReconcileView(outcome);
  return {
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
  };
}

export function toActivityEvent(event: ActivityEvent): z.infer<typeof ActivityEventView> {
  return {
    timestamp: formatTime(event.at),
    event: event.event,
    pr: event.pr,
    repo_slug: event.repoSlug,
    title: event.title,
  };
}

/** `terminals`: what ended its pull requests after it was made, in the same repo. */
export function toQueueBatch(row: BatchRow, terminals: readonly TerminalMark[]): z.infer<typeof QueueBatch> {
  const membersThat = (action: 'landed' | 'bounced'): number[] | null => {
    const found = row.actions.filter((each) => each.action === action).map((each) => each.pr);
    return found.length === 0 && row.outcome === 'running' ? null : found;
  };
  return {
    id: row.id,
    parent_id: row.parentId,
    run_id: row.runId,
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
  };
}
