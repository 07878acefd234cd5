import { wordsOfEnd } from '../../../../../engine-container/src/queue/words/last-word.ts';
import { describeHeadChange } from '../../../../../engine-container/src/queue/words/phrases.ts';
import { givenEntry, givenLanding, givenRecord } from '../../../../builders/queue-record.ts';

describe('the last word on one whose success is taken back', () => {
  const wordsOf = (entry: Parameters<typeof givenEntry>[1]) =>
    wordsOfEnd(givenRecord({ entries: [givenEntry(1, entry)] }), givenLanding(), 'candidate_changed');

  test('promises another test where its schedule still holds', () => {
    expect(wordsOf({})).toEqual({
      state: 'pending',
      description: expect.stringMatching(/^requeued: a pull/),
    });
  });

  test('says what renews its schedule where none holds for its head, as after a way to another branch and back', () => {
    const moved = { scheduleId: 0, movedAt: 1, movedWhy: 'untold' } as const;
    expect(wordsOf(moved)).toEqual({ state: 'error', description: describeHeadChange('untold') });
  });
});
