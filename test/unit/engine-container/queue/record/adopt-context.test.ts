import { PENDING_STATUSES_MAX } from '#core/domain/limits.ts';
import type { Pause } from '#core/domain/repos/pause.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import {
  describeDefer,
  describeOldContext,
} from '../../../../../engine-container/src/queue/words/phrases.ts';
import { BASE, givenEntry, givenRecord, headOf } from '../../../../builders/queue-record.ts';
import { givenSnapshot } from '../../../../builders/snapshot.ts';

const NEXT = 'next';

function look(record: QueueRecord, pause: Pause | null = null) {
  const { repo, ...snapshot } = givenSnapshot({ ids: [], full: false });
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
});
