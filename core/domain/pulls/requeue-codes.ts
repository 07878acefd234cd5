import { BY_ITSELF, type PullCode, RETRY_WORKFLOW, wait } from './pull-code-kinds.ts';

/** The batch was taken apart before this pull request landed: it keeps its place, and is tested again. */
export const REQUEUE_CODES = {
  merge_timeout: wait(
    'forge',
    'requeued: the forge did not complete a merge of its batch in time; tested again',
    BY_ITSELF,
  ),
  merge_conflict: wait(
    'forge',
    'requeued: the forge could not merge a pull request of its batch any more; tested again',
    BY_ITSELF,
  ),
  merge_blocked: wait(
    'reviewer',
    'requeued: a rule of the forge blocks this merge; staged again once no rule does',
    'Look on the forge which rule blocks the merge: reviews, checks or dependencies.',
  ),
  base_advanced: wait('none', 'requeued: the base branch moved; tested again on the new base', BY_ITSELF),
  candidate_changed: wait('none', 'requeued: a pull request of its batch changed; tested again', BY_ITSELF),
  gate_infrastructure: wait(
    'ci',
    'requeued: gate runs kept breaking down; no pull request is blamed, and the gate is tried again',
    'Open the gate run: check the runners, and that a job of its workflow runs there.',
  ),
  gate_given_up: wait(
    'ci',
    'requeued: the changed gate workflow came to no verdict; the others did not wait for it',
    RETRY_WORKFLOW,
  ),
  gate_timeout: wait(
    'ci',
    'requeued: the gate did not end within its deadline; no pull request is blamed, and it is tried again',
    'Check the runners, or the CI whose status contexts did not answer.',
  ),
  record_lost: wait('none', 'requeued: the bookkeeping of its batch was lost; tested again', BY_ITSELF),
  gate_changed: wait('none', 'requeued: the queue now asks another gate', BY_ITSELF),
  own_run_lost: wait(
    'none',
    'requeued: the run of a head that proved this batch no longer counts as passed; the gate runs instead',
    BY_ITSELF,
  ),
  context_changed: wait('none', 'requeued: the queue now uses another status context', BY_ITSELF),
  overtaken: wait(
    'none',
    'requeued: an incident goes first; it keeps its place and is tested again',
    BY_ITSELF,
  ),
} as const satisfies Readonly<Record<string, PullCode>>;
