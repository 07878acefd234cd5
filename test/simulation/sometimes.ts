/**
 * Sightings that must happen in some life of a run: a trouble that never comes proves nothing about its guard. These are met
 * within the seeds of every commit.
 */
export const OFTEN: readonly string[] = [
  // Troubles
  ...['fault 0', 'fault 200', 'fault 400', 'fault 401', 'fault 403', 'fault 429', 'fault 502', 'fault 503'],
  ...['late POST', 'late DELETE', 'frozen machine', 'engine request late', 'index lag', 'record lost'],
  ...['webhook lost', 'two workers from one message', 'lease held by another worker', 'lease taken over'],
  ...[
    'restart in the middle of a landing',
    'staging branch deleted',
    'context changed',
    'repository deleted',
  ],
  ...['switched off', 'switched on', 'store refuses: fenced'],
  // Results of workers and webhooks
  ...['dispatch reconciled', 'dispatch lease_held', 'dispatch not_due', 'refused lease_held'],
  ...['idle look idle', 'idle look needed', 'idle look failed'],
  ...['webhook processed', 'webhook wait_for_reconcile', 'webhook ignored', 'gate events stop'],
  ...['outcome code none', 'outcome code base_red', 'outcome code engine_error', 'outcome code timeout'],
  ...['outcome code gate_infrastructure', 'outcome code foreign_gate_status'],
  ...['outcome code forge_access_denied', 'outcome code forge_unreachable'],
  // Gates
  ...['run success', 'run failure', 'run cancelled', 'run error', 'verdict success', 'verdict failure'],
  ...['verdict cancelled', 'verdict error', 'verdict none', 'cached verdict', 'base probe'],
  ...['second attempt of a run', 'failure confirmed', 'flake forgiven', 'paused after broken runs'],
  // Batches
  ...['outcome running', 'outcome success', 'outcome bounced', 'outcome bisected', 'outcome superseded'],
  ...[
    'outcome held_success',
    'outcome held_failure',
    'outcome error base_red',
    'outcome error gate_cancelled',
  ],
  ...['suspects go on in the queue', 'bounced by a gate known to be steady'],
  ...['outcome error gate_error', 'outcome error merge_timeout', 'outcome invalidated base_advanced'],
  ...['outcome invalidated candidate_changed', 'outcome invalidated context_changed'],
  ...['outcome invalidated queue_disabled', 'outcome operational_error gate_infrastructure'],
  ...['outcome operational_error record_lost'],
  // Landing
  ...[
    'intent stored before success',
    'nudge',
    'merge time-out 1',
    'take back merge_timeout',
    'take back base_advanced',
  ],
  ...['take back candidate_changed'],
  // Members and people
  ...['action landed', 'action bounced gate_failed', 'action bounced merge_timeout', 'action requeued'],
  ...['action requeued merge_timeout', 'action requeued base_red', 'action requeued record_lost'],
  'action skipped left_the_queue',
  ...['event pr_queued', 'event pr_staged', 'event pr_landed', 'event pr_bounced gate_failed'],
  ...['event pr_bounced merge_timeout', 'event pr_refused approvals_missing', 'event pr_refused conflict'],
  ...[
    'event pr_refused fork_not_approved',
    'event pr_refused agit_not_approved',
    'event pr_refused fork_scheduler',
    'event pr_refused no_changes',
  ],
  ...['event pr_requeued base_advanced', 'event pr_requeued candidate_changed'],
  ...[
    'event pr_requeued context_changed',
    'event pr_requeued head_changed',
    'event pr_requeued merge_timeout',
  ],
  ...['event pr_skipped auto_merge_cancelled', 'event pr_skipped closed', 'event pr_skipped draft'],
  ...['event pr_skipped merged_outside_the_queue', 'event pr_skipped retargeted'],
  ...['deferred base_red', 'deferred conflict', 'deferred no_changes'],
  // Alarms
  ...['record shortened', 'alarm record_too_large'],
  ...['alarm base_red', 'alarm unverified_landing', 'alarm foreign_status_writer', 'alarm gate_phase_age'],
  ...['unproven landing detected', 'came to rest', 'held for payment', 'liveness judged'],
  // Moods of the forge and acts of people, besides failures
  ...[
    'one head for two managed branches',
    'one head for two bases',
    'one head twice',
    'a landed head again',
    'a file changed on both sides',
  ],
  ...['a branch of our name', 'a tag of our name', 'the store throttles'],
  ...['gate deleted', 'gate renamed', 'gate silenced', 'a title that skips runs'],
  ...['a protected file', 'a dependency', 'event pr_refused protected_files'],
  ...['event pr_refused open_dependencies'],
  ...['event pr_refused removes_gate', 'event pr_refused gate_not_started'],
  ...[
    'the engine dies with several reconciles',
    'event pr_refused twin_elsewhere',
    'deferred forge_conflict',
  ],
];

/** Met within some ten thousand seeds. */
export const RARELY: readonly string[] = [
  ...['a crowd of thousands', 'outcome invalidated gate_changed'],
  ...['alarm tree_mismatch', 'halted', 'outcome code tree_mismatch', 'event pr_landed unverified'],
  ...['tenant left', 'tenant erased', 'a tenant that leaves asks again'],
  ...['action landed unverified', 'take back context_changed', 'take back queue_disabled'],
  ...['event pr_refused branch_outdated', 'event pr_refused changes_requested', 'deferred head_not_ready'],
  ...[
    'deferred not_mergeable',
    'outcome error merge_conflict',
    'wake given up',
    'dispatch gone',
    'refused not_found',
  ],
  ...['event pr_requeued queue_disabled', 'event pr_requeued gate_infrastructure'],
  ...['event pr_skipped schedule_lost', 'action skipped schedule_lost'],
  // Owners and priorities
  ...['held by a pause', 'held by a drain', 'resumed', 'event pr_requeued paused', 'take back paused'],
  'a lack of runners is seen',
  ...['a repair is done', 'a repaired rule is restored by a person'],
  ...['a backport ends as opened', 'a backport ends as conflict', 'a backport ends as nothing_left'],
  ...['a backport ends as no_branch', 'a backport ends as same_branch', 'a backport ends as name_taken'],
  'a backport is closed',
  ...['a settings file is in force', 'a wrong settings file landed'],
  ...['none', 'a right one', 'a wrong one'].map((kind) => `a settings file is proposed: ${kind}`),
  ...['a freeze window is set', 'freeze windows go', 'label urgent of oncall', 'label urgent of stranger'],
  ...['label incident of oncall', 'label incident of stranger', 'event pr_requeued overtaken'],
];

export const SOMETIMES: readonly string[] = [...OFTEN, ...RARELY];
