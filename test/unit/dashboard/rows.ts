import { toShownSettings } from '#core/contracts/repos/repo-settings.ts';
import { toFileSettings } from '#core/contracts/repos/settings-file-view.ts';
import type { PullCodeName } from '#core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SETTINGS } from '#core/domain/repos/repo-settings.ts';
import type { ActivityDoc, RepoActivity, StatusEntry } from '../../../dashboard/view/blocker.ts';
import type { PullStory } from '../../../dashboard/view/pull.ts';
import type { BatchNode } from '../../../dashboard/view/tree.ts';

const AT = '2026-11-21T10:00:00.000Z';

export function givenNode(changes: Partial<BatchNode> = {}): BatchNode {
  return {
    id: 'root',
    parent_id: null,
    run_id: 'run',
    node_id: 'r',
    parent_node_id: null,
    attempt: 1,
    staging_sha: null,
    gate_verdict: 'none',
    landed_prs: null,
    bounced_prs: null,
    actions: [],
    repo_slug: 'acme/app',
    instance_url: 'https://forge.example.org',
    staging_branch: null,
    prs: [1, 2],
    outcome: 'running',
    phase: 'waiting_gate',
    created_at: AT,
    resolved_at: null,
    gate_source: null,
    terminal_reason: null,
    historical_terminals: [],
    staging_tree: null,
    run_url: null,
    gate_runs: 1,
    forge_calls: null,
    forge_bytes: null,
    ...changes,
  };
}

export function givenAction(
  pr: number,
  action: BatchNode['actions'][number]['action'],
  changes: Partial<BatchNode['actions'][number]> = {},
): BatchNode['actions'][number] {
  return {
    pr,
    action,
    staging_sha: null,
    gate_verdict: 'none',
    cursor: 0,
    reason: null,
    receipt: null,
    ...changes,
  };
}

export function givenActivity(changes: Partial<RepoActivity> = {}): RepoActivity {
  return {
    repo_id: 'repo',
    repo_slug: 'acme/app',
    instance_url: 'https://forge.example.org',
    base_branch: 'main',
    state: 'idle',
    ci_status: 'none',
    ci_url: null,
    staging_branch: 'mq/main/staging',
    batch: [],
    last_reconcile: AT,
    last_reconcile_ok: true,
    last_reconcile_error: null,
    lease_state: 'idle',
    last_reconcile_error_code: null,
    next_look_at: null,
    last_good_reconcile: AT,
    notification: null,
    standstill: null,
    freeze: null,
    drifts: [],
    repairs: [],
    queue: givenQueue('empty'),
    ...changes,
  };
}

type Queue = NonNullable<RepoActivity['queue']>;

export function givenQueue(
  kind: Queue['block']['kind'],
  changes: Partial<Queue['block']> = {},
  line: Queue['line'] = [],
): Queue {
  return {
    seen_at: AT,
    line,
    line_more: 0,
    block: {
      kind,
      since: null,
      until: null,
      pr: null,
      run_url: null,
      runner_labels: null,
      evidence: null,
      ...changes,
    },
    fanout: null,
  };
}

export function givenStatus(changes: Partial<StatusEntry> = {}): StatusEntry {
  return {
    ...toShownSettings(DEFAULT_SETTINGS),
    file_settings: toFileSettings(DEFAULT_SETTINGS, undefined),
    id: 'repo',
    name: 'acme/app',
    base_branch: 'main',
    status_context: 'mq',
    merge_style: 'squash',
    automerge: false,
    instance_url: 'https://forge.example.org',
    forge_conn_id: 'connection',
    wakeup_mode: 'webhook',
    hold_reason: null,
    last_delivery_at: '2026-11-23T05:00:00.000Z',
    gate_events: { status: null, run: null },
    pause: null,
    forge: null,
    connection: { bot_username: 'mq-bot', instance_url: 'https://forge.example.org', token_type: 'pat' },
    provisioning: {
      webhook: { status: 'configured' },
      protection: { status: 'configured', id: 'main', detail: null, required: true },
      ci_gate: { status: 'verified', url: null },
      last_provisioned_at: null,
    },
    reconcile: { ran_at: AT, ok: true, error: null, error_code: null },
    created_at: AT,
    updated_at: AT,
    bisect_fanout: 4,
    lease_state: 'idle',
    ...changes,
  };
}

const STATS: ActivityDoc['stats'] = {
  today_merges: 0,
  week_merges: 0,
  week_bounces: 0,
  merge_success_rate: null,
  week_batches: 0,
  week_superseded: 0,
  restage_rate: null,
  time_in_queue_p50_seconds: null,
  week_runs: 0,
  days: [],
  time_in_queue_p95_seconds: null,
  runs_per_landed: null,
  runs_saved: 0,
};

export function givenFeed(changes: Partial<ActivityDoc> = {}): ActivityDoc {
  return {
    repos: [givenActivity()],
    recent_activity: [],
    recent_activity_truncated: false,
    stats: STATS,
    queue_batches: [],
    queue_batches_truncated: false,
    queue_batches_next: null,
    record_errors: [],
    ...changes,
  };
}

/** A code as the API tells it, with its words. */
export function told(code: PullCodeName | null) {
  if (code === null) return { code, kind: null, turn: null, fault: null, words: null, next: null };
  const { is, turn, fault, says, next } = PULL_CODES[code];
  return { code, kind: is, turn, fault, words: says, next };
}

/** The story of #7, which is out of the queue, unless `changes` say otherwise. */
export function givenStory(code: PullCodeName | null, changes: Partial<PullStory> = {}): PullStory {
  return {
    repo_id: 'repo',
    repo_slug: 'acme/app',
    number: 7,
    title: 'Round prices',
    in_queue: false,
    now: { ...told(code), since: AT, until: null },
    place: null,
    batch: null,
    estimate: null,
    forecast: null,
    history: [],
    attempts: [],
    receipts: [],
    backports: [],
    settings_file: null,
    ...changes,
  };
}

/** A connection as the API shows it, and a repository that its token finds. */
export const CONNECTION = {
  id: '22222222-0000-4000-8000-000000000001',
  tenant_id: 'tenant',
  instance_url: 'https://git.example.org',
  bot_username: 'mq-bot',
  token_type: 'pat',
  created_at: '2026-01-01T00:00:00.000Z',
};

export function givenFound(name: string, changes: { readonly default_branch?: string } = {}) {
  return {
    full_name: `acme/${name}`,
    name,
    owner: 'acme',
    private: false,
    default_branch: 'main',
    html_url: `https://git.example.org/acme/${name}`,
    merge_styles: ['squash'],
    default_merge_style: 'squash',
    ...changes,
  };
}
