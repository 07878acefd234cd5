import { PAUSE_REASON_CHARS_MAX } from '#core/domain/api-limits.ts';
import { BATCH_PULL_REQUESTS_MAX, STATUS_DESCRIPTION_CHARS_MAX } from '#core/domain/limits.ts';
import { sayPause } from '#core/domain/repos/pause.ts';
import { REFUSALS } from '../../../../../engine-container/src/queue/admission/admission-facts.ts';
import type { MovedWhy } from '../../../../../engine-container/src/queue/admission/readings.ts';
import type { DeferReason } from '../../../../../engine-container/src/queue/record/deferral.ts';
import type {
  Departure,
  TakeBackReason,
} from '../../../../../engine-container/src/queue/record/landing-state.ts';
import type { QueueEntry } from '../../../../../engine-container/src/queue/record/queue-entry.ts';
import * as words from '../../../../../engine-container/src/queue/words/phrases.ts';
import { givenEntry } from '../../../../builders/queue-record.ts';

// The compiler asks for a new reason here.
const DEFERS = Object.keys({
  conflict: true,
  conflict_ahead: true,
  not_on_batch: true,
  suspect_ahead: true,
  no_changes: true,
  base_red: true,
  head_not_ready: true,
  gate_missing: true,
  not_mergeable: true,
  removes_gate: true,
  criss_cross: true,
  unrelated_history: true,
  commit_left_out: true,
  merges_in_rebase: true,
  empty_directory: true,
  file_converted: true,
  too_many_commits: true,
  too_many_files: true,
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
  heads_differ: true,
} satisfies Record<DeferReason, true>) as readonly DeferReason[];
const TAKE_BACKS = Object.keys({
  merge_timeout: true,
  merge_conflict: true,
  merge_blocked: true,
  base_advanced: true,
  candidate_changed: true,
  queue_disabled: true,
  paused: true,
  archived: true,
  overtaken: true,
  context_changed: true,
  gate_changed: true,
  own_run_lost: true,
  staging_failed: true,
} satisfies Record<TakeBackReason, true>) as readonly TakeBackReason[];
const MOVES = Object.keys({
  asking: true,
  push: true,
  untold: true,
  outside: true,
  rules: true,
} satisfies Record<MovedWhy, true>) as readonly MovedWhy[];
const BOUNCE_CAUSES = Object.keys({
  gate_failed: true,
  gate_failed_twice: true,
  merge_timeout: true,
} satisfies Record<words.BounceCause, true>) as readonly words.BounceCause[];
const DEPARTURES = Object.keys({
  auto_merge_cancelled: true,
  cancelled_while_off: true,
  draft: true,
  closed: true,
  retargeted: true,
  merged_along: true,
  left_the_queue: true,
} satisfies Record<Departure, true>) as readonly Departure[];

type Describe = Extract<keyof typeof words, `describe${string}`>;
const NO_INPUT: readonly [][] = [[]];
/** The inputs of each function of words. The compiler asks for a new function here. */
const INPUTS: { readonly [Name in Describe]: readonly Parameters<(typeof words)[Name]>[] } = {
  describeRefusal: REFUSALS.map((reason) => [reason]),
  describeDefer: DEFERS.map((reason) => [reason]),
  describeTakeBack: TAKE_BACKS.map((reason) => [reason]),
  describeLanding: [
    [1, 1],
    [BATCH_PULL_REQUESTS_MAX - 1, BATCH_PULL_REQUESTS_MAX],
    [BATCH_PULL_REQUESTS_MAX, BATCH_PULL_REQUESTS_MAX],
  ],
  describeBounce: BOUNCE_CAUSES.map((cause) => [cause]),
  describeEarlierBounce: [
    [],
    [{ again: 'verdict_known' }],
    [{ again: 'retest_spent' }],
    [{ cause: 'merge_timeout' }],
    [{ cause: 'fork_merge_timeout' }],
  ],
  describeLostSchedule: NO_INPUT,
  describeForkTimeout: NO_INPUT,
  describeUnclear: NO_INPUT,
  describeOtherChecks: NO_INPUT,
  describeOldHead: NO_INPUT,
  describeHeadChange: [[], ...MOVES.map((why): [MovedWhy] => [why])],
  describeUnbound: [
    [givenEntry(1, { isForOtherTarget: true })],
    ...MOVES.map((movedWhy): [QueueEntry] => [givenEntry(1, { movedWhy })]),
  ],
  describeQueued: NO_INPUT,
  describeInLine: [[1], [1_000_000]],
  describeStopped: NO_INPUT,
  describeStaged: NO_INPUT,
  describeDeparture: DEPARTURES.map((departure) => [departure]),
  describeOff: NO_INPUT,
  describeNotAdmitted: NO_INPUT,
  describeLanded: NO_INPUT,
  describeLeftBehind: NO_INPUT,
  describeUnverified: NO_INPUT,
  describeStaleSuccess: NO_INPUT,
  describeOldContext: NO_INPUT,
  describeUnrecorded: NO_INPUT,
};

const isDescribe = (name: string): name is Describe => name.startsWith('describe');

/** All that the module of words can say. */
function sayAll(): readonly string[] {
  return Object.entries(words).flatMap(([name, say]) => {
    if (!isDescribe(name)) return [];
    const inputs = INPUTS[name] as readonly (readonly unknown[])[] | undefined;
    if (inputs === undefined) throw new Error(`no input for ${name}`);
    const phrases = inputs.map((input) => (say as (...input: readonly unknown[]) => string | null)(...input));
    return phrases.filter((phrase) => phrase !== null);
  });
}

test('every phrase fits a status and is printable ASCII (A38)', () => {
  const pauses = [
    ...[true, false].map((isFreeze) =>
      sayPause({ kind: 'pause', reason: 'x'.repeat(PAUSE_REASON_CHARS_MAX), until: 0, isFreeze }),
    ),
    sayPause({ kind: 'drain', reason: null, until: null, isFreeze: false }),
  ];
  for (const phrase of [...sayAll(), ...pauses]) {
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
