import { PENDING_STATUSES_MAX, STANDING_TOLD_AFTER_TRIES } from '#core/domain/limits.ts';
import type { Pause } from '#core/domain/repos/pause.ts';
import { known } from '#core/domain/result.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import type { PendingStatus } from '../../../../../engine-container/src/queue/record/pending-status.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import {
  describeDefer,
  describeOldContext,
  describeRefusal,
} from '../../../../../engine-container/src/queue/words/phrases.ts';
import { BASE, givenEntry, givenRecord, headOf } from '../../../../builders/queue-record.ts';
import { givenRule, givenSnapshot } from '../../../../builders/snapshot.ts';

const NEXT = 'next';

function givenStanding(): PendingStatus {
  return {
    pr: 1,
    sha: headOf(1),
    context: givenRecord().context,
    state: 'error',
    description: 'requeued: the status context changed',
    targetUrl: null,
    takesBack: true,
    failures: STANDING_TOLD_AFTER_TRIES,
    retryAt: Number.MAX_SAFE_INTEGER,
    told: true,
  };
}

function look(
  record: QueueRecord,
  pause: Pause | null = null,
  requiredContexts: readonly string[] = [NEXT],
): QueueRecord {
  const protection = known(givenRule({ requiredContexts }));
  const { repo, ...snapshot } = givenSnapshot({ ids: [], full: false, protection });
  return decide({ ...snapshot, repo: { ...repo, pause, statusContext: NEXT } }, record).record;
}

describe('another status context', () => {
  test('is used once each promise under the one before is over, however many wait', () => {
    const count = PENDING_STATUSES_MAX + 100;
    const entries = Array.from({ length: count }, (_, index) => givenEntry(index + 1));
    let record = look(givenRecord({ entries }));
    const contexts = [record.context];
    const told: string[] = [];
    for (let step = 0; step < 3 && record.context !== NEXT; step += 1) {
      told.push(...record.pendingStatuses.map(({ sha, description }) => `${sha} ${description}`));
      record = look({ ...record, pendingStatuses: [] });
      contexts.push(record.context);
    }
    told.push(
      ...record.pendingStatuses
        .filter(({ context }) => context !== NEXT)
        .map(({ sha, description }) => `${sha} ${description}`),
    );
    expect(contexts).toEqual([givenRecord().context, NEXT]);
    expect(new Set(told)).toEqual(new Set(entries.map(({ head }) => `${head} ${describeOldContext()}`)));
  });

  test('is used as soon on a queue that is paused, where the words about the pause are not told in between', () => {
    const count = PENDING_STATUSES_MAX + 100;
    const entries = Array.from({ length: count }, (_, index) => givenEntry(index + 1));
    const pause: Pause = { kind: 'pause', reason: null, since: 1, until: null };
    let record = look(givenRecord({ entries }), pause);
    for (let step = 0; step < 30 && record.context !== NEXT; step += 1)
      record = look({ ...record, pendingStatuses: record.pendingStatuses.slice(100) }, pause);
    expect(record.context).toBe(NEXT);
  });

  test.each([
    ['set aside through no fault of its own', 'pending', describeDefer('staging_failed') ?? ''],
    ['refused', 'error', describeRefusal('approvals_missing')],
  ] as const)(
    'tells each that is %s anew, as many at once as can be written',
    (_case, state, description) => {
      const count = PENDING_STATUSES_MAX + 100;
      const numbers = Array.from({ length: count }, (_, index) => index + 1);
      const entries = numbers.map((pr) => givenEntry(pr, { said: { head: headOf(pr), state, description } }));
      const deferred =
        state === 'pending'
          ? numbers.map((pr) => ({
              pr,
              head: headOf(pr),
              reason: 'staging_failed' as const,
              baseTree: BASE.tree,
              until: null,
            }))
          : [];
      let record = look(givenRecord({ entries, deferred }));
      const told = new Set<string>();
      for (let step = 0; step < 30 && told.size < count; step += 1) {
        expect(record.pendingStatuses.length).toBeLessThanOrEqual(PENDING_STATUSES_MAX);
        for (const each of record.pendingStatuses.slice(0, 100))
          if (each.context === NEXT && each.description === description) told.add(each.sha);
        record = look({ ...record, pendingStatuses: record.pendingStatuses.slice(100) });
      }
      expect(told.size).toBe(count);
      expect(record.entries.filter(({ said }) => said?.ofContext !== undefined)).toEqual([]);
    },
  );

  test('does not wait for a success that cannot be taken back, once the rule asks for it no more', () => {
    const standing = givenStanding();
    const record = look(givenRecord({ entries: [givenEntry(1)], pendingStatuses: [standing] }));
    expect(record.context).toBe(NEXT);
    // The word that takes it back is kept, and promises nothing.
    expect(record.pendingStatuses.filter(({ context }) => context !== NEXT)).toEqual([
      { ...standing, state: 'pending', description: describeOldContext() },
    ]);
  });

  test('is used again also where a success stands under it that cannot be taken back: it is judged there like any other', () => {
    const standing = { ...givenStanding(), context: NEXT };
    const record = look(givenRecord({ pendingStatuses: [standing] }));
    expect(record.context).toBe(NEXT);
    expect(record.pendingStatuses).toEqual([standing]);
    const { told: _told, ...untold } = standing;
    expect(look(givenRecord({ pendingStatuses: [untold] })).context).toBe(givenRecord().context);
  });

  test.each([
    ['not told yet', { told: undefined }, [NEXT]],
    ['asked for by the rule', {}, [givenRecord().context, NEXT]],
  ] as const)('waits for a success that is %s', (_case, changes, requiredContexts) => {
    const { told: _told, ...rest } = givenStanding();
    const standing = 'told' in changes ? rest : givenStanding();
    const record = look(givenRecord({ pendingStatuses: [standing] }), null, requiredContexts);
    expect(record.context).toBe(givenRecord().context);
  });

  test('tells anew why one that is no culprit stands aside', () => {
    const reason = 'staging_failed';
    const description = describeDefer(reason) ?? '';
    const record = givenRecord({
      entries: [givenEntry(1, { said: { head: headOf(1), state: 'pending', description } })],
      deferred: [{ pr: 1, head: headOf(1), reason, baseTree: BASE.tree, until: null }],
    });
    const words = look(record).pendingStatuses.map((each) => [each.context, each.description]);
    expect(words).toEqual([
      [record.context, describeOldContext()],
      [NEXT, description],
    ]);
  });

  test('leaves no refusal or bounce under the one before: nothing there is said again once it is over', () => {
    const description = 'refused: by words of before';
    const record = givenRecord({
      entries: [
        givenEntry(1, {
          refusedFor: 'changes_requested',
          said: { head: headOf(1), state: 'error', description },
        }),
      ],
    });
    const seen = look(record);
    expect(seen.pendingStatuses.map((each) => [each.context, each.state, each.description])).toEqual([
      [NEXT, 'error', description],
      [record.context, 'pending', describeOldContext()],
    ]);
    expect(seen.entries[0]?.said).toEqual({ head: headOf(1), state: 'error', description });
  });

  test('has the words of each refusal as soon as it ends under the one before, where many were refused', () => {
    const count = PENDING_STATUSES_MAX - 100;
    const entries = Array.from({ length: count }, (_, index) =>
      givenEntry(index + 1, {
        refusedFor: 'changes_requested',
        said: { head: headOf(index + 1), state: 'error', description: 'refused: x' },
      }),
    );
    const first = look(givenRecord({ entries }));
    const countUnder = ({ pendingStatuses }: typeof first, context: string) =>
      new Set(pendingStatuses.filter((each) => each.context === context).map(({ sha }) => sha)).size;
    expect([NEXT, givenRecord().context].map((context) => countUnder(first, context))).toEqual([250, 250]);
    const second = look({ ...first, pendingStatuses: [] });
    expect([NEXT, givenRecord().context].map((context) => countUnder(second, context))).toEqual([150, 150]);
  });

  test('ends nothing under itself, where it is used again before all were told of another', () => {
    const said = { head: headOf(1), state: 'error' as const, description: 'refused: x', ofContext: NEXT };
    const entries = [givenEntry(1, { refusedFor: 'changes_requested', said })];
    const words = look(givenRecord({ entries })).pendingStatuses;
    expect(words.map((each) => [each.context, each.state])).toEqual([[NEXT, 'error']]);
  });
});
