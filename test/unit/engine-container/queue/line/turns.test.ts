import type { EpochMs } from '#core/domain/ids.ts';
import { PRIORITY_AGING_MS } from '#core/domain/limits.ts';
import { UNKNOWN } from '#core/domain/result.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import { type Line, orderByTurns } from '../../../../../engine-container/src/queue/line/turns.ts';
import {
  createEntry,
  type QueueEntry,
} from '../../../../../engine-container/src/queue/record/queue-entry.ts';
import { givenEntry, givenRecord } from '../../../../builders/queue-record.ts';
import { givenSnapshot, NOW as SNAPSHOT_NOW } from '../../../../builders/snapshot.ts';

const NOW = 10 * PRIORITY_AGING_MS;

/** Names such as `a1`: the letter is the author, and they were scheduled in this order. */
function given(names: string, changes: Partial<QueueEntry> = {}): QueueEntry[] {
  return names.split(' ').map((title, index) => ({
    ...createEntry({
      pr: index + 1,
      title,
      head: title,
      scheduleId: 1,
      queuedAt: (NOW - 1_000 + index) as EpochMs,
    }),
    ...changes,
  }));
}

function order(entries: readonly QueueEntry[], line: Partial<Line> = {}): string {
  const authors = new Map(entries.map(({ pr, title }) => [pr, title[0]]));
  const whole: Line = {
    now: NOW,
    isWaiting: () => true,
    authorOf: (pr) => authors.get(pr),
    lately: [],
    ...line,
  };
  return orderByTurns(entries, whole)
    .map(({ title }) => title)
    .join(' ');
}

test('a crowd has one turn in four while others wait', () => {
  expect(order(given('a1 a2 a3 a4 a5 b1 c1 d1 e1'))).toBe('a1 b1 c1 d1 a2 e1 a3 a4 a5');
});

test('none comes before one under the share that was scheduled later', () => {
  expect(order(given('b1 c1 a1 a2 a3 a4 a5 d1'))).toBe('b1 c1 a1 d1 a2 a3 a4 a5');
});

test('a turn that a crowd has had counts for those who come later', () => {
  expect(order(given('a1 a2 a3 a4 a5 b1 c1'), { lately: ['x', 'a'] })).toBe('b1 c1 a1 a2 a3 a4 a5');
  expect(order(given('a1 a2 a3 a4 a5 b1 c1'), { lately: ['a', 'x', 'x'] })).toBe('b1 a1 c1 a2 a3 a4 a5');
});

test('two crowds take turns with each other', () => {
  expect(order(given('a1 a2 a3 a4 a5 b1 b2 b3 b4 b5'))).toBe('a1 b1 a2 b2 a3 b3 a4 b4 a5 b5');
});

test('four are no crowd, and neither is a quarter of the line', () => {
  expect(order(given('a1 a2 a3 a4 b1'))).toBe('a1 a2 a3 a4 b1');
  const line = 'a1 a2 a3 a4 a5 b1 b2 b3 b4 c1 c2 c3 c4 d1 d2 d3 d4 e1 e2 e3';
  expect(order(given(line))).toBe(line);
});

test('what cannot be staged keeps its place and makes no crowd', () => {
  const entries = given('a1 a2 a3 a4 a5 b1');
  expect(order(entries, { isWaiting: ({ title }) => title !== 'a1' })).toBe('a1 a2 a3 a4 a5 b1');
});

test('the turns of one priority change nothing about another', () => {
  const low = given('a1 a2 a3 a4 a5 b1', { priority: 'low' });
  const [high] = given('a0', { priority: 'high' });
  expect(order([...low, { ...(high as QueueEntry), pr: 9 }])).toBe('a0 a1 b1 a2 a3 a4 a5');
});

test('an author who is not known makes no crowd', () => {
  expect(order(given('a1 a2 a3 a4 a5 b1'), { authorOf: () => undefined })).toBe('a1 a2 a3 a4 a5 b1');
});

describe('of a crowd only the oldest is lifted for its waiting', () => {
  const old = () => given('a1 a2 a3 a4 a5', { queuedAt: (NOW - PRIORITY_AGING_MS) as EpochMs });
  const fresh = (): QueueEntry[] => given('b1').map((entry) => ({ ...entry, pr: 9 }));

  test('and the others behind those who came later', () => {
    expect(order([...old(), ...fresh()])).toBe('a1 b1 a2 a3 a4 a5');
  });

  test('not right after one of its turns', () => {
    expect(order([...old(), ...fresh()], { lately: ['a'] })).toBe('b1 a1 a2 a3 a4 a5');
  });
});

test('authors take turns while the list of pull requests cannot be read', () => {
  const author = (pr: number): string => (pr <= 6 ? 'agent' : 'dev');
  const entries = [1, 2, 3, 4, 5, 6, 7].map((pr) => ({ ...givenEntry(pr), author: author(pr) }));
  // Nothing is staged meanwhile: the order in which the next look goes on is all that this one changes.
  const record = givenRecord({ entries, tip: 'base-0', restsUntil: SNAPSHOT_NOW + 60_000 });
  const decided = decide(givenSnapshot({ pulls: UNKNOWN }), record);
  expect(decided.record.entries.map(({ pr }) => pr)).toEqual([1, 7, 2, 3, 4, 5, 6]);
});
