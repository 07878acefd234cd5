import { STATUS_DESCRIPTION_CHARS_MAX } from '#core/domain/limits.ts';
import type { Refusal } from './admission.ts';
import type { DeferReason } from './aside.ts';
import type { TakeBackReason } from './landing-state.ts';
import type { MovedWhy } from './readings.ts';

/**
 * The words people read on their pull requests: fixed phrases, at most 140 characters, no name or title in them (A38).
 * `bounced:` is also read back: it is the memory of a bounce when the record is lost (D-05).
 */
export const BOUNCED_PREFIX = 'bounced:';

const REFUSAL_PHRASES: Readonly<Record<Refusal, string>> = {
  changes_requested: 'refused: a review asks for changes; the queue looks again when it is resolved',
  approvals_missing: 'refused: required approvals are missing on this head; the queue looks again by itself',
  review_requested: 'refused: a requested official review is open; the queue looks again by itself',
  branch_outdated: 'refused: branch is out of date and the branch rule blocks outdated branches; update it',
  fork_not_approved: 'refused: a pull request from a fork needs an official approval on exactly this head',
  agit_not_approved:
    'refused: a pull request pushed to refs/for needs an official approval on exactly this head',
  author_not_writer:
    'refused: its author cannot write to this repository; it needs an official approval on exactly this head',
  twin_elsewhere:
    'refused: this commit also heads a pull request to another branch that asks for this status; add a commit to one of them',
  fork_scheduler:
    'refused: this forge completes a merge from a fork only for who may write to the fork; let the author schedule it',
  protected_files:
    'refused: it changes files that the branch rule protects, so the forge never merges it by itself; merge it by hand',
  open_dependencies:
    'refused: an issue or pull request that it depends on is open; the queue looks again by itself',
  merge_list: 'refused: the branch rule does not list who scheduled this among those who may merge',
};

const NOT_MERGEABLE =
  'waiting: the forge does not report it as mergeable: a conflict, or its check is still running; the queue looks again';

const DEFER_PHRASES: Readonly<Record<DeferReason, string | null>> = {
  conflict: 'refused: conflicts with the base branch; update the branch, and the queue goes on by itself',
  criss_cross:
    'refused: its branch and the base were merged into each other, so git has two merge bases; merge the base into it again',
  merge_unsure:
    'refused: git can merge this in more than one way (a moved or repetitive file); merge the base branch into it',
  directory_renamed:
    'refused: a folder was renamed on one side and has new files on the other; merge the base branch into it',
  merge_rules:
    'refused: .gitattributes rules the merge of a file that both sides changed; merge the base branch into it',
  file_too_large:
    'refused: a file to be merged is larger than the queue or the forge allows; merge the base branch into it',
  name_not_utf8:
    'refused: a file name in it is not UTF-8, which the forge cannot tell the queue; rename the file',
  base_name_not_utf8:
    'waiting: a folder it changes has a file name on the base that is not UTF-8; rename that file there, then update this branch',
  no_changes: 'refused: changes nothing on top of the base branch',
  removes_gate:
    'refused: deletes, renames or hides the gate workflow of the queue, so nothing could be tested; keep the file',
  gate_not_started:
    'refused: no gate run of its changed workflow began within 5 minutes; repair it, or cancel auto-merge and schedule again',
  gate_not_ended:
    'refused: the gate run of its changed workflow did not end in time; repair it, or cancel auto-merge and schedule again',
  runs_broken_off:
    'waiting: the CI broke off each gate run of this pull request alone; check the runners; it is tried again later',
  staging_failed:
    'waiting: the forge fails each time on this pull request; tried again later, or at once on a new head',
  not_mergeable: NOT_MERGEABLE,
  forge_conflict:
    'refused: the forge calls it a conflict with the base, where git merges it; merge the base branch into it',
  conflict_ahead: null,
  suspect_ahead: null,
  base_red: 'waiting: the base branch itself fails the gate; not caused by this pull request',
  head_not_ready: null,
  gate_missing: null,
};

const TAKE_BACK_PHRASES: Readonly<Record<TakeBackReason, string>> = {
  merge_timeout: 'requeued: the forge did not complete the merge in time; tested again',
  // Said of a pull request that is set aside for it.
  merge_conflict: NOT_MERGEABLE,
  merge_blocked: 'requeued: a rule of the forge keeps this merge from happening; staged again once none does',
  base_advanced: 'requeued: the base branch moved; tested again on the new base',
  candidate_changed: 'requeued: this pull request changed while it was landing',
  queue_disabled: 'not queued: the queue of this repository is switched off or on hold',
  context_changed: 'requeued: the queue now uses another status context',
  gate_changed: 'requeued: the queue now asks another gate',
};

export function describeRefusal(reason: Refusal): string {
  return shorten(REFUSAL_PHRASES[reason]);
}

export function describeDefer(reason: DeferReason): string | null {
  const phrase = DEFER_PHRASES[reason];
  return phrase === null ? null : shorten(phrase);
}

export function describeTakeBack(reason: TakeBackReason): string {
  return shorten(TAKE_BACK_PHRASES[reason]);
}

export function describeLanding(position: number, size: number): string {
  return shorten(
    position === size
      ? 'proven: the gate passed on exactly this state; landing now'
      : `proven: an exact prefix of the batch of ${size} that passed the gate; landing ${position} of ${size}`,
  );
}

export type BounceCause = 'gate_failed' | 'gate_failed_twice' | 'merge_timeout';

const BOUNCE_PHRASES: Readonly<Record<BounceCause, string>> = {
  gate_failed:
    'the gate fails with this pull request and passes without it; push a fix, or cancel auto-merge and schedule again',
  gate_failed_twice:
    'the gate fails with it (two gate runs) and passes without it; push a fix, or cancel auto-merge and schedule again',
  merge_timeout:
    'the forge twice did not complete its merge; push a new head, or cancel auto-merge and schedule again',
};

export function describeBounce(cause: BounceCause): string {
  return shorten(`${BOUNCED_PREFIX} ${BOUNCE_PHRASES[cause]}`);
}

/** Said again where another writer wrote over it: the cause is in the history of the head. */
export function describeEarlierBounce(): string {
  return shorten(
    `${BOUNCED_PREFIX} this head failed before; push a fix, or cancel its auto-merge and schedule it again to retry`,
  );
}

export function describeLostSchedule(): string {
  return shorten(
    'waiting: the forge dropped the schedule and did not merge; schedule it again (nothing is wrong with this change)',
  );
}

export function describeForkTimeout(): string {
  return shorten(
    'refused: the forge twice did not complete the merge from this fork; who may write to the fork must schedule it',
  );
}

export function describeUnclear(): string {
  return shorten(
    "waiting: the forge has not answered the queue's requests about this pull request; the queue asks again by itself",
  );
}

export function describeOtherChecks(): string {
  return shorten(
    'waiting: another required check has not passed, so the forge does not merge; staged again once it is',
  );
}

/** On a head that is no longer the newest one of its pull request. */
export function describeOldHead(): string {
  return shorten('requeued: head changed; the queue goes on with the newer head of this pull request');
}

const HEAD_CHANGE_PHRASES: Readonly<Record<MovedWhy, string>> = {
  asking:
    'requeued: head changed; the queue asks the forge who pushed it, and goes on by itself if they may merge',
  push: 'requeued: head changed by a push that renews no schedule; approve this head, or cancel its auto-merge and schedule again',
  outside:
    'requeued: head changed from outside the repository; it goes on by itself once this head has an official approval',
};

/** On the head that a schedule from before its push does not hold for. */
export function describeHeadChange(why: MovedWhy = 'asking'): string {
  return shorten(HEAD_CHANGE_PHRASES[why]);
}

/** In the place of words that are not true any more. */
export function describeQueued(): string {
  return shorten('queued: nothing stands against it any more; the queue goes on by itself');
}

export function describeLanded(): string {
  return shorten('landed: merged by the queue; a new pull request with this commit is tested again');
}

export function describeStaleSuccess(): string {
  return shorten('not proven: an earlier success no longer holds on this base');
}

export function describeUnrecorded(): string {
  return shorten(
    'requeued: the queue cannot store its record of this repository; it lands again once that is repaired',
  );
}

function shorten(phrase: string): string {
  return phrase.length <= STATUS_DESCRIPTION_CHARS_MAX
    ? phrase
    : `${phrase.slice(0, STATUS_DESCRIPTION_CHARS_MAX - 1)}…`;
}
