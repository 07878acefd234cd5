import { LANDED_KEPT_MS } from '#core/domain/limits.ts';
import { known } from '#core/domain/result.ts';
import { decide } from '../../../../engine-container/src/queue/decide.ts';
import { givenRecord, headOf } from '../../../builders/queue-record.ts';
import { givenSnapshot, givenView, NOW } from '../../../builders/snapshot.ts';

const landedBefore = (ms: number) => ({ pr: 1, head: headOf(1), baseBefore: 'base-older', at: NOW - ms });

describe('what has landed', () => {
  test.each([
    ['is no news while the list may be late', LANDED_KEPT_MS - 1, []],
    [
      'is open where it is listed later than that: a twin was merged, and it is queued again',
      LANDED_KEPT_MS,
      [1],
    ],
  ])('%s', (_name, ms, entries) => {
    const record = givenRecord({ landed: [landedBefore(ms)] });
    const look = givenSnapshot({ ids: [], pulls: known([givenView(1)]) });
    const decision = decide(look, decide(look, record).record);
    expect(decision.record.entries.map(({ pr }) => pr)).toEqual(entries);
  });

  test('is forgotten in time, whether or not the list shows it as open for ever', () => {
    for (const pulls of [[], [givenView(1)]]) {
      const record = givenRecord({ landed: [landedBefore(LANDED_KEPT_MS), { ...landedBefore(0), pr: 2 }] });
      const decision = decide(givenSnapshot({ ids: [], pulls: known(pulls) }), record);
      expect(decision.record.landed?.map(({ pr }) => pr)).toEqual([2]);
    }
  });

  test('is not forgotten by a look at less than everything', () => {
    const record = givenRecord({ landed: [landedBefore(LANDED_KEPT_MS)] });
    const decision = decide(givenSnapshot({ ids: [], full: false }), record);
    expect(decision.record.landed).toHaveLength(1);
  });
});
