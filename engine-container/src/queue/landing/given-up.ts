import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { GIVEN_UP_KEPT_MS, WAKE_DELAY_MS_MAX } from '#core/domain/limits.ts';
import { startTeardown } from '../batches/end-batch.ts';
import { type DecisionContext, emitEvent, entryOf, wakeNoLaterThan } from '../decision-context.ts';
import { countLanding } from '../policy/fanout-choice.ts';
import type { GivenUp, Landing } from '../record/landing-state.ts';
import { isUnderContext } from '../record/pending-status.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Batch, QueueRecord } from '../record/record.ts';
import type { FocusView } from '../snapshot.ts';
import { concludeLanding, noteGivenUp, tellLeftBehind } from './landed.ts';
import { isMergeOf } from './proof.ts';
import { watchUnheard } from './unheard.ts';

/**
 * A landing ends without a merge. The forge may have begun one before the `success` was taken back, and may end it long
 * after the grace period: until then its proof is kept.
 */
export function giveUpLanding(
  pass: DecisionContext,
  batch: Batch,
  landing: Landing,
  how?: 'unwritable',
): void {
  batch.landing = null;
  watchUnheard(pass, landing, how);
  noteGivenUp(pass, landing);
}

/**
 * The landing of this pull request that was given up. Where it is merged its newest head does not count: a push while the forge merged
 * may have moved that.
 */
export function givenUpOf(
  { givenUp }: QueueRecord,
  { number, headSha, merged }: FocusView['pull'],
): GivenUp | undefined {
  return givenUp?.find(({ pr, head }) => pr === number && (merged || head === headSha));
}

/** From this tip to this tree: what a landing was proven to do, before it was given up. */
export function isProvenStep({ givenUp }: QueueRecord, from: CommitSha, tree: TreeHash): boolean {
  return givenUp?.some((each) => each.baseBefore === from && each.tree === tree) === true;
}

/**
 * Merged after its landing was given up. Where tree and ground are the proven ones it has landed, without an alarm.
 * `unknown` until its merge commit is read.
 */
export function landLate(
  pass: DecisionContext,
  entry: QueueEntry,
  { pull, merge }: FocusView,
): 'landed' | 'unknown' | 'no' {
  const { record } = pass;
  const late = givenUpOf(record, pull);
  if (late === undefined || merge === null) return 'no';
  if (!merge.known || merge.value.standsOnTip === null) {
    wakeNoLaterThan(pass, pass.s.now + WAKE_DELAY_MS_MAX);
    return 'unknown';
  }
  if (!isMergeOf(late, merge.value)) return 'no';
  record.entries = record.entries.filter((candidate) => candidate !== entry);
  record.pendingStatuses = record.pendingStatuses.filter(
    (waiting) => !isUnderContext(record, late.head, waiting),
  );
  concludeLanding(pass, late, merge.value.commit.sha);
  tellLeftBehind(pass, entry, late.head);
  countLanding(record);
  emitEvent(pass, 'pr_landed', { ...entry, head: late.head });
  return 'landed';
}

/**
 * The forge has ended the merge of an earlier head of the one that is landing: a merge that took longer than a whole gate run, with a
 * push amid it. The earlier head has landed, as it was proven; the newer one is in no base, and its batch ends.
 */
export function landEarlierHead(
  pass: DecisionContext,
  batch: Batch,
  landing: Landing,
  focus: FocusView,
): 'landed' | 'unknown' | 'no' {
  const { merge, pull } = focus;
  const late = givenUpOf(pass.record, pull);
  const entry = entryOf(pass.record, landing.pr);
  if (late === undefined || entry === undefined) return 'no';
  if (merge?.known === true && isMergeOf(landing, merge.value)) return 'no';
  const how = landLate(pass, entry, focus);
  if (how !== 'landed') return how;
  // The success of the newer head is taken back, with the words that hold of it.
  startTeardown(pass, batch, 'base_advanced');
  tellLeftBehind(pass, entry, late.head);
  watchUnheard(pass, landing);
  batch.landing = null;
  return how;
}

export function forgetGivenUp({ record, s }: DecisionContext): void {
  const kept = record.givenUp?.filter(({ at }) => s.now - at < GIVEN_UP_KEPT_MS) ?? [];
  if (kept.length === 0) delete record.givenUp;
  else if (kept.length < (record.givenUp?.length ?? 0)) record.givenUp = kept;
}
