import { PAUSE_REASON_CHARS_MAX } from '#core/domain/api-limits.ts';
import { STATUS_DESCRIPTION_CHARS_MAX } from '#core/domain/limits.ts';
import { sayPause } from '#core/domain/pause.ts';
import { REFUSALS } from '../../../../engine-container/src/queue/admission/admission.ts';
import type { DeferReason } from '../../../../engine-container/src/queue/record/aside.ts';
import * as words from '../../../../engine-container/src/queue/words/describe.ts';

// The compiler asks for a new reason here.
const DEFERS = Object.keys({
  conflict: true,
  conflict_ahead: true,
  suspect_ahead: true,
  no_changes: true,
  base_red: true,
  head_not_ready: true,
  gate_missing: true,
  not_mergeable: true,
  removes_gate: true,
  criss_cross: true,
  commit_left_out: true,
  merges_in_rebase: true,
  file_converted: true,
  too_many_commits: true,
  merge_unsure: true,
  directory_renamed: true,
  merge_rules: true,
  file_too_large: true,
  name_not_utf8: true,
  base_name_not_utf8: true,
  forge_conflict: true,
  staging_failed: true,
  gate_not_started: true,
  gate_not_ended: true,
  runs_broken_off: true,
} satisfies Record<DeferReason, true>) as readonly DeferReason[];
const TAKE_BACKS = [
  'merge_timeout',
  'merge_conflict',
  'merge_blocked',
  'base_advanced',
  'candidate_changed',
  'queue_disabled',
  'paused',
  'archived',
  'overtaken',
  'context_changed',
  'gate_changed',
] as const;

test('every phrase fits a status and is printable ASCII (A38)', () => {
  const phrases = [
    ...REFUSALS.map(words.describeRefusal),
    ...DEFERS.map(words.describeDefer).filter((phrase) => phrase !== null),
    ...TAKE_BACKS.map(words.describeTakeBack),
    words.describeLanding(50, 50),
    words.describeLanding(1, 1),
    words.describeBounce('gate_failed'),
    words.describeBounce('merge_timeout'),
    words.describeHeadChange(),
    words.describeHeadChange('push'),
    words.describeHeadChange('outside'),
    words.describeOldHead(),
    words.describeQueued(),
    words.describeEarlierBounce(),
    words.describeBounce('gate_failed_twice'),
    words.describeStaleSuccess(),
    words.describeUnclear(),
    ...[true, false].map((isFreeze) =>
      sayPause({ kind: 'pause', reason: 'x'.repeat(PAUSE_REASON_CHARS_MAX), until: 0, isFreeze }),
    ),
    sayPause({ kind: 'drain', reason: null, until: null, isFreeze: false }),
  ];
  for (const phrase of phrases) {
    expect(phrase.length).toBeLessThanOrEqual(STATUS_DESCRIPTION_CHARS_MAX);
    expect(phrase).toMatch(/^[ -~]+$/);
    expect(phrase).not.toMatch(/…/);
  }
});

test('an answer that does not come is told with who owes it and who asks again', () => {
  expect(words.describeUnclear()).toBe(
    "waiting: the forge has not answered the queue's requests about this pull request; the queue asks again by itself",
  );
});

test('only a bounce begins like one, because that is read back when the record is lost (D-05)', () => {
  expect(words.describeBounce('gate_failed').startsWith(words.BOUNCED_PREFIX)).toBe(true);
  expect(words.describeBounce('merge_timeout').startsWith(words.BOUNCED_PREFIX)).toBe(true);
  for (const reason of REFUSALS)
    expect(words.describeRefusal(reason).startsWith(words.BOUNCED_PREFIX)).toBe(false);
});
