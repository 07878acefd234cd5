import { STANDING_TOLD_AFTER_TRIES } from '#core/domain/limits.ts';
import { known } from '#core/domain/result.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import { fold } from '../../../../../engine-container/src/queue/fold.ts';
import type { PendingStatus } from '../../../../../engine-container/src/queue/record/pending-status.ts';
import type { Batch, QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import { describeOldContext } from '../../../../../engine-container/src/queue/words/phrases.ts';
import {
  BASE,
  givenEntry,
  givenEvidence,
  givenLanding,
  givenNode,
  givenRecord,
  givenStagedBatch,
  headOf,
  stagedAt,
} from '../../../../builders/queue-record.ts';
import { givenFocus, givenSnapshot, givenStatus, givenView, NOW } from '../../../../builders/snapshot.ts';

const OWN = givenRecord().context;
const BEFORE = 'before';

/** Words that end a refusal under a context that is used no more, and could not be written yet. */
const END: PendingStatus = {
  pr: 1,
  sha: headOf(1),
  context: BEFORE,
  state: 'pending',
  description: describeOldContext(),
  targetUrl: null,
  failures: 1,
  retryAt: NOW + 20_000,
};
/** Those that take a success back there, which the forge refuses. */
const TAKES_BACK: PendingStatus = {
  ...END,
  takesBack: true,
  failures: STANDING_TOLD_AFTER_TRIES,
  told: true,
};

function givenProven(pendingStatuses: PendingStatus[], batch: Partial<Batch> = {}): QueueRecord {
  const nodes = [givenNode({ state: 'done', verdict: 'success', ...stagedAt(1) })];
  return givenRecord({
    entries: [givenEntry(1)],
    batches: [givenStagedBatch(1, { nodes, ...batch })],
    tip: BASE.sha,
    evidence: [givenEvidence(1, 'success')],
    pendingStatuses,
  });
}

const underBefore = ({ pendingStatuses }: QueueRecord) =>
  pendingStatuses.filter(({ context }) => context === BEFORE);

const MERGED = {
  pull: { state: 'closed' as const, merged: true },
  merge: known({ commit: { sha: 'merge-1', tree: 'tree-1' }, standsOnTip: true }),
};

describe('what is to be written under a context that is used no more', () => {
  const open = givenSnapshot({
    pulls: known([givenView(1)]),
    focus: new Map([[1, known(givenFocus(1))]]),
  });
  const merged = givenSnapshot({ pulls: known([]), focus: new Map([[1, known(givenFocus(1, MERGED))]]) });

  test.each([
    ['words', END],
    ['what takes a success back', TAKES_BACK],
  ])('stays as a landing begins, as it ends, and as it ends late: %s', (_case, waiting) => {
    const begun = decide(open, givenProven([waiting])).record;
    expect(begun.batches[0]?.landing).toMatchObject({ pr: 1 });
    expect(underBefore(begun)).toEqual([waiting]);

    const landed = decide(merged, givenProven([waiting], { landing: givenLanding({ postedAt: NOW }) }));
    expect(landed.events.map(({ event }) => event)).toEqual(['pr_landed']);
    expect(underBefore(landed.record)).toEqual([waiting]);

    const givenUp = [{ pr: 1, head: headOf(1), tree: 'tree-1', baseBefore: BASE.sha, at: NOW - 1_000 }];
    const late = decide(
      merged,
      givenRecord({ entries: [givenEntry(1)], givenUp, pendingStatuses: [waiting] }),
    );
    expect(late.events.map(({ event }) => event)).toEqual(['pr_landed']);
    expect(underBefore(late.record)).toEqual([waiting]);
  });

  test('hides no success that stands under the context of the queue', () => {
    const statuses = known([givenStatus({ context: OWN, state: 'success' })]);
    const look = givenSnapshot({ pulls: known([givenView(1, { statuses })]) });
    const { record } = decide(look, givenRecord({ entries: [givenEntry(1)], pendingStatuses: [TAKES_BACK] }));
    expect(record.pendingStatuses).toMatchObject([{ context: BEFORE }, { context: OWN, takesBack: true }]);
  });

  test('takes nothing back under the context of the queue once it is written', () => {
    const takeBack = { reason: 'base_advanced', postedAt: null } as const;
    const landing = givenLanding({ postedAt: NOW, takeBack });
    const own = { ...TAKES_BACK, context: OWN, description: 'requeued: x', failures: 1 };
    const record = givenProven([own, END], { teardown: 'base_advanced', landing });
    const post = (status: PendingStatus) =>
      fold(open, record, { kind: 'post_status', ...status, purpose: 'pending' }, { kind: 'done' }, NOW).record
        .batches[0]?.landing?.takeBack?.postedAt;
    expect([post(END), post(own)]).toEqual([null, NOW]);
  });
});
