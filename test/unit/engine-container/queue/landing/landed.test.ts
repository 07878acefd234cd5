import { LANDED_KEPT_MS, LANDED_NUMBERS_MAX } from '#core/domain/limits.ts';
import { known } from '#core/domain/result.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import { beginPass } from '../../../../../engine-container/src/queue/decision-context.ts';
import { concludeLanding } from '../../../../../engine-container/src/queue/landing/landed.ts';
import { BASE, givenLanding, givenRecord, headOf } from '../../../../builders/queue-record.ts';
import { givenSnapshot, givenView, NOW } from '../../../../builders/snapshot.ts';

const landedBefore = (ms: number) => ({ pr: 1, head: headOf(1), baseBefore: 'base-older', at: NOW - ms });

describe('pull requests that have landed', () => {
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

  test('is remembered by its number for longer, unless it is open after all', () => {
    const record = givenRecord({ landed: [{ ...landedBefore(0), pr: 2 }], landedNumbers: [1, 2, 3] });
    const decision = decide(givenSnapshot({ ids: [], pulls: known([givenView(1), givenView(2)]) }), record);
    expect(decision.record.landedNumbers).toEqual([2, 3]);
  });

  test.each([
    ['froze after it read the base: a tip that was replaced meanwhile raises no alarm', 110_000, []],
    [
      'did not freeze: a tip from before the landing was pushed back',
      0,
      [{ name: 'unverified_landing', pr: null }],
    ],
  ])('an engine that %s', (_name, frozenMs, alarms) => {
    const landed = [{ ...landedBefore(110_000), baseBefore: BASE.sha }];
    const record = givenRecord({
      landed,
      baseSeen: { sha: 'merged', tree: 'merged-tree', at: NOW - 110_000 },
    });
    const look = givenSnapshot({ ids: [], begunAt: NOW - frozenMs });
    expect(decide(look, record).alarms).toEqual(alarms);
  });

  test('is remembered so many times and no more, the newest', () => {
    const numbers = Array.from({ length: LANDED_NUMBERS_MAX }, (_, index) => index + 10);
    const record = givenRecord({ landedNumbers: numbers });
    const pass = beginPass(givenSnapshot({ ids: [] }), record);
    concludeLanding(pass, givenLanding({ pr: 5 }), 'merge-5');
    expect(pass.record.landedNumbers).toHaveLength(LANDED_NUMBERS_MAX);
    expect([pass.record.landedNumbers?.[0], pass.record.landedNumbers?.at(-1)]).toEqual([11, 5]);
  });
});
