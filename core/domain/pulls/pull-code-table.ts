import { ARCHIVED } from '../repos/pause-words.ts';
import { DEPARTURE_CODES } from './departure-codes.ts';
import { MERGE_BASE, MERGE_CODES } from './merge-codes.ts';
import {
  APPROVE,
  AUTO_MERGE,
  BY_ITSELF,
  CANCEL,
  exit,
  type PullCode,
  RETRY_WORKFLOW,
  SCHEDULE,
  SCHEDULE_AGAIN,
  scheduleBy,
  wait,
} from './pull-code-kinds.ts';
import { REQUEUE_CODES } from './requeue-codes.ts';
import { SCHEDULE_CODES } from './schedule-codes.ts';

const MERGE_LIST_STEP =
  'Where that person may not merge here, let a maintainer list in the branch rule who may merge: all who schedule here have to be on that list.';
const RETRY = `Push a fix, or ${SCHEDULE_AGAIN}.`;

/** The closed list of every way out of the queue and every wait: the one source of the words on status, page and API. */
export const PULL_CODES = {
  queued: wait('none', 'queued: waits for its batch', BY_ITSELF),
  ready: wait('none', 'queued: goes into the next batch', BY_ITSELF),
  next_batch: wait(
    'none',
    'queued: the running batch does not hold it; it goes into the next one',
    BY_ITSELF,
  ),
  staged: wait('ci', 'staged: in a batch whose gate run judges it', BY_ITSELF),
  runner_wait: wait(
    'ci',
    'staged: the gate run of its batch waits for a runner',
    'If that lasts, check that a runner is online and free, that it has the labels that the workflow asks for, and that no other run holds its concurrency group.',
  ),
  landing: wait('forge', 'proven: landing now', BY_ITSELF),
  not_admitted: wait(
    'ci',
    'waiting: another required check has not passed or cannot be read; staged once it is',
    'Open the other required checks on the forge, and get them to pass.',
  ),
  other_checks: wait(
    'ci',
    'waiting: another required check has not passed, so the forge does not merge; staged again once it is',
    'Open the other required checks on the forge, and get them to pass.',
  ),
  unclear: wait(
    'forge',
    "waiting: the forge has not answered the queue's requests about this pull request; the queue asks again by itself",
    'Look for errors in the log of the forge.',
  ),
  success_stands: wait(
    'author',
    'waiting: a success that no longer holds stands on this head, and the forge does not let the queue take it back',
    `Press ${CANCEL} on this pull request, or close it; until then nothing else lands.`,
  ),
  head_changed: wait(
    'author',
    'requeued: head changed; it goes on once its schedule is renewed for the new head',
    `A push by a person who may merge renews the schedule. Otherwise approve this head, or ${SCHEDULE_AGAIN}.`,
  ),
  other_target: wait(
    'author',
    'waiting: its schedule is from when it targeted another branch; it goes on once it is scheduled for this one',
    `To land it here, ${SCHEDULE_AGAIN}.`,
  ),
  changes_requested: wait(
    'author',
    'refused: a review asks for changes; the queue looks again when it is resolved',
    'Make the changes, then let the reviewer approve, or dismiss the review.',
    true,
  ),
  approvals_missing: wait(
    'reviewer',
    'refused: required approvals are missing on this head; the queue looks again by itself',
    APPROVE,
  ),
  review_requested: wait(
    'reviewer',
    'refused: a requested official review is open; the queue looks again by itself',
    'Give the review that was requested, or withdraw the request.',
  ),
  branch_outdated: wait(
    'author',
    'refused: branch is out of date and the branch rule blocks outdated branches; update it',
    'Press "Update branch by merge" on the forge.',
  ),
  branch_gone: wait(
    'author',
    'refused: its branch is gone, and without it the forge does not merge by itself; push that branch again, and reopen this if it is closed',
    'Restore its branch on the forge, or push it again under the same name, and reopen the pull request if the forge has closed it: the queue goes on by itself. If its repository is gone as well, open another pull request.',
  ),
  fork_not_approved: wait(
    'reviewer',
    'refused: a pull request from a fork needs an official approval on exactly this head',
    APPROVE,
  ),
  agit_not_approved: wait(
    'reviewer',
    'refused: pushed to refs/for, so that it needs an official approval on exactly this head',
    APPROVE,
  ),
  author_not_writer: wait(
    'reviewer',
    'refused: its author cannot write to this repository; it needs an official approval on exactly this head',
    APPROVE,
  ),
  twin_elsewhere: wait(
    'author',
    'refused: this commit also heads a pull request to another branch that asks for this status; add a commit to one of them',
    'Push a commit to one of the two pull requests, so that their heads differ, or close the other one.',
  ),
  base_heads_another: wait(
    'operator',
    'refused: as tip of the base it would open the pull request from there to another branch that asks for this status; close that one',
    'Close the pull request from the base branch until this one has landed, or let its target ask for a status context of its own.',
  ),
  fork_scheduler: wait(
    'author',
    'refused: from a fork this forge merges for its author, or for who is on a merge list of the branch rule; let such a one schedule it',
    `${scheduleBy('the author')} ${MERGE_LIST_STEP}`,
  ),
  protected_files: wait(
    'operator',
    'refused: it changes files that the branch rule protects, so the forge never merges it by itself; merge it by hand',
    'Let an administrator of the repository take the file out of the protected patterns of the branch rule until this has landed. Where that rule does not apply to administrators, one of them may merge by hand instead.',
  ),
  open_dependencies: wait(
    'author',
    'refused: an issue or pull request that it depends on is open; the queue looks again by itself',
    'Close or merge what this pull request depends on, or remove the dependency on the forge.',
  ),
  scheduler_left: wait(
    'operator',
    'refused: the account that scheduled this may not write to the repository any more, so the forge does not merge',
    // The forge drops the schedule of an account that is deleted.
    `Press ${CANCEL} on the forge, if it is still there; then let a person who may merge press ${AUTO_MERGE}.`,
  ),
  merge_list: wait(
    'operator',
    'refused: the branch rule lists who may merge, and the account that scheduled this is not on that list',
    scheduleBy('a person on that list'),
  ),
  rule_hidden: wait(
    'operator',
    'refused: the forge did not merge it, and the bot may not read whether reviews, an outdated branch or who scheduled it is why',
    `Make the bot an administrator of the repository; where the rule names teams, give its token the scope read:organization and add it to each of them. Or settle its reviews and press "Update branch by merge"; to try it as it is, let a person who may merge ${SCHEDULE_AGAIN}.`,
  ),
  style_off: wait(
    'operator',
    'refused: the forge did not merge it, and the settings of the repository do not allow the merge style of this queue any more',
    `Allow the style again, or choose another one for this queue. If it was scheduled in a style that is not allowed, ${SCHEDULE_AGAIN}, in one that is.`,
  ),
  merge_unsigned: wait(
    'operator',
    'refused: the forge did not merge it, and the branch rule asks for signed commits, which the forge has to sign itself',
    `Switch "Require signed commits" off in the branch rule: the queue then goes on by itself. Or let who runs the forge give it a key, and settings that sign such merges; then ${SCHEDULE_AGAIN}.`,
  ),
  title_not_mergeable: wait(
    'author',
    'refused: its title holds a character (NUL) that git takes in no message; rename it, and schedule it again',
    `Give it another title on the forge; then ${SCHEDULE_AGAIN}, because the forge merges with the title of its schedule.`,
  ),
  dependency_hidden: wait(
    'author',
    'refused: the forge did not merge it, and the bot may not see whether something that it depends on is still open',
    `Close what it depends on, or remove the dependency; then ${SCHEDULE_AGAIN}. Where the bot is let into that repository, the queue goes on by itself.`,
  ),
  check_hidden: wait(
    'ci',
    'refused: the forge did not merge it, and a check that has not passed may be asked for by the owner of the repository',
    `Open the checks of this head on the forge, and get them to pass: the queue then goes on by itself. Where none of them is asked for, ${SCHEDULE_AGAIN}.`,
  ),
  ...SCHEDULE_CODES,
  ...MERGE_CODES,
  no_changes: wait(
    'author',
    'refused: changes nothing on top of the base branch',
    'Push a change, or close this pull request.',
    true,
  ),
  removes_gate: wait(
    'author',
    'refused: deletes, renames or hides the gate workflow of the queue, so nothing could be tested; keep the file',
    'Keep the gate workflow in this change. To remove it on purpose, let an administrator merge by hand, for which the branch rule must not apply to administrators.',
    true,
  ),
  gate_not_started: wait(
    'author',
    'refused: its changed workflow began no gate run within 5 minutes, or skipped it; repair it, or cancel auto-merge and schedule again',
    RETRY_WORKFLOW,
    true,
  ),
  gate_not_ended: wait(
    'author',
    'refused: the gate run of its changed workflow did not end in time; repair it, or cancel auto-merge and schedule again',
    RETRY_WORKFLOW,
    true,
  ),
  runs_broken_off: wait(
    'ci',
    'waiting: the CI broke off each gate run that held only this pull request; check the runners; tried again later',
    'Check the runners; the queue tries again later.',
  ),
  heads_differ: wait(
    'author',
    'waiting: the forge shows two heads of it, as after its branch was deleted and made again; push a new commit to its branch',
    'Push a new commit to the branch of this pull request; the queue goes on by itself. Or close it, and open a new pull request.',
  ),
  staging_failed: wait(
    'forge',
    'waiting: the forge fails each time the queue stages or lands this pull request; tried again later, or at once on a new head',
    'Look in the log of the forge for errors, and for answers that take ten seconds or more, as a large repository on a slow disk makes them. What its log does not show, a proxy before the forge may have answered. The queue tries again later.',
  ),
  not_mergeable: wait(
    'forge',
    'waiting: the forge does not call it mergeable: a conflict that git does not find, or a check that goes on; staged once it does',
    'If the forge shows a conflict, merge the base branch into the branch of this pull request, and push. Else the queue goes on by itself.',
  ),
  forge_conflict: wait(
    'author',
    'refused: git merges it, but the forge calls it a conflict with the base branch; merge the base branch into it',
    MERGE_BASE,
    true,
  ),
  base_red: wait(
    'operator',
    'waiting: the base branch itself fails the gate; not caused by this pull request',
    'Repair the base branch, so that the gate passes on it.',
  ),
  conflict_ahead: wait(
    'none',
    'waiting: conflicts with a pull request ahead of it that is under way; its turn comes once that one is decided',
    BY_ITSELF,
  ),
  not_on_batch: wait(
    'none',
    'waiting: cannot be staged on top of the pull requests that are under way; its turn comes once those are decided',
    BY_ITSELF,
  ),
  twin_ahead: wait(
    'none',
    'waiting: another pull request with the same commit is ahead of it; its turn comes once that one is decided',
    BY_ITSELF,
  ),
  suspect_ahead: wait(
    'none',
    'waiting: touches files of a pull request ahead of it whose batch failed; it waits until the search ends',
    BY_ITSELF,
  ),
  head_not_ready: wait(
    'forge',
    'waiting: the forge is still copying its commits; the queue looks again by itself',
    BY_ITSELF,
  ),
  gate_missing: wait(
    'operator',
    'waiting: there is no gate: no workflow file of it on the base branch, or no status contexts of another CI are chosen',
    'Merge the setup pull request, or choose the contexts of the other CI: both are on the setup page.',
  ),
  ...REQUEUE_CODES,
  paused: wait(
    'operator',
    'paused: the owner or a freeze window holds this queue up; it keeps its place, and goes on in the old order once that ends',
    'Nothing: it goes on in the old order once the queue is resumed, or its freeze window ends.',
  ),
  archived: wait(
    'operator',
    ARCHIVED,
    'Take the repository out of the archive on the forge. The queue then goes on by itself, in the old order.',
  ),
  queue_stopped: wait(
    'operator',
    'queued: the queue has stopped, and its owner has to look at it; this pull request keeps its place',
    'Read on the queue page why it has stopped, and put that right. Then switch the queue off and on in its settings.',
  ),
  queue_disabled: exit(
    'operator',
    'not queued: the queue of this repository is switched off or on hold',
    'Switch the queue on in its settings; if it is on hold, settle the payment in billing.',
  ),
  landed: exit(
    'none',
    'landed: merged by the queue; a new pull request with this commit is tested again',
    'Nothing: it is merged.',
  ),
  unverified: exit(
    'operator',
    'landed: merged, but not as it was proven, so the queue has stopped',
    'Read on the queue page what landed and what was proven, and repair the base branch. Then switch the queue off and on in its settings.',
  ),
  gate_failed: exit(
    'author',
    'bounced: the gate fails with this pull request and passes without it; push a fix, or cancel auto-merge and schedule again',
    RETRY,
    true,
  ),
  bounced: exit(
    'author',
    'bounced: this head failed before; push a fix, or cancel its auto-merge and schedule it again to retry',
    RETRY,
    true,
  ),
  bounced_merge_timeout: exit(
    'author',
    'bounced: the forge twice did not complete its merge; cancel auto-merge and schedule again (fast-forward-only needs the tip of the base)',
    `To try again, ${SCHEDULE_AGAIN}. A style that only fast-forwards lands a head that has the tip of the base in it, and one that the settings of the repository on the forge do not allow lands nothing: choose another one. If it was another style, look first whether the branch rule asks for signed commits or, where the bot is no administrator, protects a file of this change, whether the owner of the repository asks for a check that has not run (Gitea 1.27), whether who scheduled may still merge here, and for errors in the log of the forge.`,
  ),
  fork_merge_timeout: exit(
    'author',
    'refused: the forge twice did not merge from this fork; let an account that may write to the fork schedule it',
    `${scheduleBy('a person who may write to the fork')} ${MERGE_LIST_STEP}`,
  ),
  schedule_lost: exit(
    'author',
    'waiting: the forge dropped the schedule and did not merge; schedule it again (nothing is wrong with this change)',
    SCHEDULE,
  ),
  ...DEPARTURE_CODES,
} as const satisfies Readonly<Record<string, PullCode>>;
