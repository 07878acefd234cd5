import type { Tone } from './tone.ts';

export interface Word {
  readonly tone: Tone;
  readonly name: string;
  readonly meaning: string;
  /** Another mark than the one of its tone. */
  readonly shape?: 'split';
}

const UNKNOWN_WORD: Word = {
  tone: 'unknown',
  name: 'Unknown',
  meaning: 'This page does not know this outcome; a newer service wrote it.',
};

const OUTCOMES: Readonly<Record<string, Word>> = {
  running: { tone: 'busy', name: 'Running', meaning: 'Its gate run or its merges are under way.' },
  success: { tone: 'clear', name: 'Landed', meaning: 'All its pull requests landed.' },
  bounced: {
    tone: 'stop',
    name: 'Bounced',
    meaning: 'Failed, behind nothing but what is proven: removed from the queue.',
  },
  bisected: {
    tone: 'busy',
    shape: 'split',
    name: 'Split',
    meaning: 'Failed as a whole and was split into the nodes below it.',
  },
  error: {
    tone: 'stop',
    name: 'Error',
    meaning: 'Cancelled, broken or without a gate. No pull request is blamed.',
  },
  held_success: {
    tone: 'clear',
    name: 'Proven, held',
    meaning: 'The gate passed; it lands when what stands before it has landed.',
  },
  held_failure: {
    tone: 'stop',
    name: 'Failed, held',
    meaning: 'The gate failed, but something before it is not decided yet.',
  },
  superseded: {
    tone: 'quiet',
    name: 'Superseded',
    meaning: 'Speculative work that another result made needless.',
  },
  invalidated: {
    tone: 'quiet',
    name: 'Invalidated',
    meaning: 'The base moved or a member changed; its pull requests kept their places.',
  },
  operational_error: {
    tone: 'stop',
    name: 'Operational error',
    meaning: 'Infrastructure stayed broken. No pull request is blamed.',
  },
};

/** An outcome outside the list is unknown, never something else (A85). */
export function wordOfOutcome(outcome: string): Word {
  return Object.hasOwn(OUTCOMES, outcome) ? (OUTCOMES[outcome] ?? UNKNOWN_WORD) : UNKNOWN_WORD;
}

export function sayPhase(phase: string | null): string | null {
  if (phase === 'waiting_gate') return 'waiting for the gate run';
  if (phase === 'waiting_merge') return 'waiting for its merges';
  return phase;
}

const LINE: Readonly<Record<string, Word>> = {
  landing: { tone: 'clear', name: 'Landing', meaning: 'Proven; the forge merges it now' },
  staged: { tone: 'busy', name: 'In the batch', meaning: 'Staged in the running batch' },
  ready: { tone: 'clear', name: 'Ready', meaning: 'Goes into the next batch' },
  waiting: { tone: 'busy', name: 'Waiting', meaning: 'Not staged yet' },
  refused: { tone: 'stop', name: 'Refused', meaning: 'A rule keeps it from being staged' },
  bounced: { tone: 'stop', name: 'Bounced', meaning: 'Removed for cause; stays open' },
};

export function wordOfPlace(state: string): Word {
  return LINE[state] ?? { ...UNKNOWN_WORD, meaning: 'This page does not know this state' };
}

const CI: Readonly<Record<string, Word>> = {
  none: { tone: 'quiet', name: 'No gate run yet', meaning: 'Nothing was staged here' },
  pending: { tone: 'busy', name: 'Gate run awaited', meaning: 'Staged; its gate run has not begun' },
  running: { tone: 'busy', name: 'Running', meaning: 'The gate runs' },
  passing: { tone: 'clear', name: 'Passing', meaning: 'The newest gate run passed' },
  failing: { tone: 'stop', name: 'Failing', meaning: 'The newest gate run failed' },
  error: { tone: 'stop', name: 'Broken off', meaning: 'The newest gate run came to no verdict' },
};

export function wordOfCi(status: string): Word {
  return Object.hasOwn(CI, status) ? (CI[status] ?? UNKNOWN_WORD) : UNKNOWN_WORD;
}

/** Every reason key that the queue writes, as a sentence with the way out. */
const REASONS: Readonly<Record<string, string>> = {
  next_batch: 'The running batch does not hold it; it goes into the next one.',
  not_admitted: 'Another required check has not passed yet, or could not be read.',
  head_changed:
    'New commits were pushed after it was scheduled. The push of a person who may merge renews the schedule by itself; otherwise approve this head, or cancel its auto-merge and schedule it again. It keeps its place for a day.',
  bounced:
    'The gate fails with it and passes without it, confirmed by a second gate run where the gate is not known to be steady. Push a fix, or cancel its auto-merge and schedule it again to retry.',
  gate_failed:
    'The gate fails with it and passes without it, confirmed by a second gate run where the gate is not known to be steady.',
  merge_timeout: 'The forge did not complete the merge in time.',
  conflict: 'It conflicts with the base branch. Update the branch; the queue goes on by itself.',
  conflict_ahead:
    'It conflicts with a pull request ahead of it that is in flight. Its turn comes once that one has landed or left.',
  suspect_ahead:
    'It touches a file that a pull request ahead of it touches, and that batch failed. It waits until the search ends.',
  criss_cross:
    'Its branch and the base were merged into each other, so git has two merge bases. Merge the base into it again.',
  merge_unsure:
    'Git can merge it in more than one way: a moved file, or one that repeats itself. Merge the base branch into it.',
  directory_renamed:
    'A folder was renamed on one side and has new files on the other. Merge the base branch into it.',
  merge_rules:
    'A .gitattributes file rules the merge of a file that both sides changed. Merge the base branch into it.',
  file_too_large:
    'A file to be merged is larger than the queue or the forge allows. Merge the base branch into it.',
  name_not_utf8: 'A file name in it is not UTF-8, which the forge cannot tell the queue. Rename the file.',
  base_name_not_utf8:
    'A folder that it changes has a file name on the base that is not UTF-8. Rename that file there, then update this branch.',
  no_changes: 'It changes nothing on top of the base branch.',
  removes_gate:
    'It deletes, renames or hides the gate workflow of the queue. Keep the file, or merge it past the queue.',
  gate_not_started:
    'It changes the gate workflow, and no gate run of that began. Repair the workflow, or cancel its auto-merge and schedule it again to retry.',
  gate_not_ended:
    'It changes the gate workflow, and the gate run of that did not end in time. Repair the workflow, or cancel its auto-merge and schedule it again to retry.',
  runs_broken_off:
    'The CI broke off each gate run of this pull request alone. Check the runners; it is tried again later.',
  gate_given_up: 'The changed gate workflow came to no verdict. The others did not wait for it.',
  staging_failed:
    'The forge fails each time on this pull request, while it is otherwise well. It is tried again later; a new head is tried at once.',
  not_mergeable:
    'The forge does not report it as mergeable: a conflict, or its check still runs. The queue looks again.',
  forge_conflict:
    'The forge calls it a conflict with the base, where git merges it. Merge the base branch into it.',
  base_red: 'The base branch itself fails the gate. It waits until the base moves; it is not to blame.',
  head_not_ready: 'The forge is still copying its commits. The queue looks again by itself.',
  gate_missing:
    'The gate is missing. Merge the setup pull request, or name the contexts of a gate by statuses.',
  changes_requested: 'A review asks for changes. The queue looks again when it is resolved.',
  approvals_missing: 'Required approvals are missing on this head.',
  review_requested: 'A requested official review is still open.',
  branch_outdated: 'The branch is out of date and the branch rule blocks that. Update the branch.',
  fork_not_approved: 'It comes from a fork: an official review must approve exactly this head.',
  agit_not_approved: 'It was pushed to refs/for: an official review must approve exactly this head.',
  author_not_writer:
    'Its author may not write to this repository: an official review must approve exactly this head.',
  twin_elsewhere:
    'The same commit is the head of a pull request to another branch that asks for this status. Add a commit to one of them.',
  fork_scheduler: 'This forge merges a fork only for who may write to the fork. Let the author schedule it.',
  fork_merge_timeout:
    'The forge twice did not merge from this fork. A person who may write to the fork must schedule it.',
  protected_files:
    'It changes files that the branch rule protects, so the forge never merges it by itself. Merge it by hand.',
  open_dependencies: 'An issue or pull request that it depends on is open. The queue looks again by itself.',
  merge_blocked: 'A rule of the forge keeps this merge from happening. It is staged again once none does.',
  merge_list: 'The branch rule does not list who scheduled it among those who may merge.',
  schedule_lost:
    'The forge dropped the schedule without merging. Schedule it again; nothing is wrong with the change.',
  auto_merge_cancelled: 'Its auto-merge was cancelled.',
  draft: 'It was turned into a draft.',
  closed: 'It was closed.',
  success_stands:
    'A success that no longer holds stands on this head, and the forge does not let the queue take it back. Cancel its auto-merge or close it; until then nothing else lands.',
  unclear:
    "The forge has not answered the queue's requests about this pull request. The queue asks again by itself; look for errors in the log of the forge.",
  deleted: 'It was deleted on the forge.',
  retargeted: 'It now targets another branch.',
  merged_outside_the_queue: 'It was merged past the queue.',
  left_the_queue: 'It left the queue.',
  unverified: 'It landed, but its tree could not be verified.',
  base_advanced: 'The base branch moved under the batch; tested again on the new base.',
  candidate_changed: 'A member of the batch changed; the others kept their places.',
  queue_disabled: 'The queue was switched off, or held for payment.',
  context_changed: 'The queue now posts under another status context.',
  gate_changed: 'The queue now asks another gate.',
  merge_conflict: 'A member could not be merged any more.',
  gate_infrastructure: 'Gate runs kept breaking down. No pull request is blamed; the gate is tried again.',
  record_lost: 'The bookkeeping of this batch was lost. Its pull requests went back to the queue.',
};

/** The key itself, made readable, when this page does not know it. */
export function sayReason(reason: string | null): string | null {
  if (reason === null) return null;
  return (Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined) ?? reason.replaceAll('_', ' ');
}

const EVENTS: Readonly<Record<string, Word>> = {
  pr_queued: { tone: 'quiet', name: 'joined the queue', meaning: '' },
  pr_refused: { tone: 'stop', name: 'was refused', meaning: '' },
  pr_staged: { tone: 'busy', name: 'was staged', meaning: '' },
  pr_landed: { tone: 'clear', name: 'landed', meaning: '' },
  pr_bounced: { tone: 'stop', name: 'was bounced', meaning: '' },
  pr_requeued: { tone: 'busy', name: 'went back to the queue', meaning: '' },
  pr_skipped: { tone: 'quiet', name: 'left the queue', meaning: '' },
};

export function wordOfEvent(event: string): Word {
  return EVENTS[event] ?? { tone: 'unknown', name: event.replaceAll('_', ' '), meaning: '' };
}

const ACTIONS: Readonly<Record<string, Word>> = {
  landed: { tone: 'clear', name: 'Landed', meaning: '' },
  bounced: { tone: 'stop', name: 'Bounced', meaning: '' },
  requeued: { tone: 'busy', name: 'Back to the queue', meaning: '' },
  skipped: { tone: 'quiet', name: 'Left the queue', meaning: '' },
  refused: { tone: 'stop', name: 'Refused', meaning: '' },
};

export function wordOfAction(action: string): Word {
  return ACTIONS[action] ?? UNKNOWN_WORD;
}

export type Origin = 'ran' | 'confirmed' | 'cached' | 'pending' | 'unknown';

/** Where a node's evidence comes from. Confirmed: the same tree failed in two gate runs of its own or its parent's (D-08). */
export function originOf(row: {
  readonly gate_source: string | null;
  readonly gate_verdict: string;
  readonly attempt: number;
  readonly outcome: string;
  readonly gate_runs: number | null;
}): Origin {
  if (row.gate_source === 'cached') return 'cached';
  if (row.gate_source !== null) return 'unknown';
  if (row.gate_verdict === 'none') return 'pending';
  return row.outcome === 'bounced' && row.attempt > 1 ? 'confirmed' : 'ran';
}

const ORIGINS: Readonly<Record<Origin, string>> = {
  ran: 'Ran: a gate run of this very tree',
  confirmed: 'Confirmed: failed twice on the same tree',
  cached: 'Cached: the tree has its verdict already, no gate run was spent',
  pending: 'No verdict yet',
  unknown: 'Unknown',
};

export function sayOrigin(origin: Origin): string {
  return ORIGINS[origin];
}
