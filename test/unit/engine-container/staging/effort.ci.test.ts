import { Effort, EffortSpent, PacedEffort } from '#core/domain/effort.ts';
import { MERGE_BYTES_MAX, MERGE_FILE_BYTES_MAX, MERGE_STEPS_MAX } from '#core/domain/limits.ts';
import { type Computation, computeAtHand, TURN } from '../../../../engine-container/src/staging/objects.ts';
import { pairLines } from '../../../../engine-container/src/staging/text/lines.ts';
import { MERGE_LINES_MAX, mergeText } from '../../../../engine-container/src/staging/text/merge-text.ts';
import { diffByMyers } from '../../../../engine-container/src/staging/text/myers.ts';
import { planMerge } from '../../../../engine-container/src/staging/three-way.ts';
import { MemoryObjects } from '../../../merges/trees.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

function countTurns(reading: Computation<unknown>): number {
  let turns = 0;
  for (let step = reading.next(); step.done !== true; step = reading.next())
    if (step.value === TURN) turns += 1;
  return turns;
}

const linesOf = (count: number, toLine: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => `${toLine(at)}\n`).join('');

const merge = (base: string, ours: string, theirs: string, steps: number = MERGE_STEPS_MAX) =>
  computeAtHand(mergeText(Buffer.from(base), Buffer.from(ours), Buffer.from(theirs), new PacedEffort(steps)));

/** A tenth in lines of what takes minutes when it is compared to the end: a hundredth of its steps, and of the limit. */
const STEPS_MAX = MERGE_STEPS_MAX / 100;

test.each<[name: string, base: string, ours: string]>([
  [
    'every line matches alone, so that each round takes one line off',
    linesOf(3_000, (at) => `${at}`),
    linesOf(6_000, (at) => (at % 2 === 0 ? `${at / 2}` : `x${at}`)),
  ],
  [
    'a hundred lines in two random orders',
    ...(['base', 'ours'] as const).map((_, seed) => {
      const random = new SeededRandom(seed + 1);
      return linesOf(12_000, () => `${random.int(100)}`);
    }),
  ] as [string, string, string],
])('a file that would hold up the whole queue is not compared to the end: %s', (_, base, ours) => {
  expect(merge(base, ours, `theirs\n${base}`, STEPS_MAX)).toEqual({ kind: 'unsure' });
  expect(merge(base, base, `theirs\n${base}`, STEPS_MAX)).toMatchObject({ kind: 'merged' });
});

test('a long file with an ordinary number of edits on both sides is merged', () => {
  const line = (at: number) => `an ordinary line of a long file, number ${at}`;
  const edited = (lines: number, mark: string) => (at: number) => (at % 200 === lines ? mark : line(at));
  const [base, ours, theirs] = [line, edited(50, 'ours'), edited(150, 'theirs')].map((toLine) =>
    linesOf(40_000, toLine),
  );
  const both = linesOf(40_000, (at) => (at % 200 === 150 ? 'theirs' : edited(50, 'ours')(at)));
  const result = merge(base ?? '', ours ?? '', theirs ?? '');
  if (result.kind !== 'merged') throw new Error(result.kind);
  expect(result.content.toString()).toBe(both);
});

/** Each version of a file, whose every line costs memory and time however short it is. */
test.each([
  ['empty lines', '\n'.repeat(MERGE_LINES_MAX)],
  ['lines of their own', linesOf(MERGE_LINES_MAX, (at) => at.toString(36))],
])('a file with more lines than are compared is refused before one is made: %s', (_, base) => {
  expect(merge(base, `ours\n${base}`, `${base}theirs\n`)).toEqual({ kind: 'too_long' });
});

test('the files of one merge share their steps', () => {
  const base = linesOf(4_000, (at) => `${at}`);
  const ours = linesOf(8_000, (at) => (at % 2 === 0 ? `${at / 2}` : `x${at}`));
  const planOf = (count: number) => {
    const objects = new MemoryObjects();
    const trees = [base, ours, `theirs\n${base}`].map((content) =>
      objects.putTree(
        new Map(
          Array.from({ length: count }, (_, at) => [
            `f${at}`,
            { mode: '100644', content: `${at}\n${content}` },
          ]),
        ),
      ),
    );
    const [b = '', o = '', t = ''] = trees;
    return computeAtHand(planMerge(objects, { base: b, ours: o, theirs: t }));
  };
  const alone = planOf(1);
  expect(alone.kind).toBe('plan');
  expect(planOf(8)).toEqual({ kind: 'refused', reason: 'merge_unsure' });
});

test('a long merge lets all others have turns, and a small one is over without any', () => {
  const turnsOf = (lines: number): number => {
    const base = linesOf(lines, (at) => `${at}`);
    const ours = linesOf(lines * 2, (at) => (at % 2 === 0 ? `${at / 2}` : `x${at}`));
    const objects = new MemoryObjects();
    const [b = '', o = '', t = ''] = [base, ours, `theirs\n${base}`].map((content) =>
      objects.putTree(
        new Map([1, 2, 3].map((at) => [`f${at}`, { mode: '100644', content: `${at}\n${content}` }])),
      ),
    );
    return countTurns(planMerge(objects, { base: b, ours: o, theirs: t }));
  };
  expect(turnsOf(1_000)).toBe(8);
  expect(turnsOf(20)).toBe(0);
});

/** Plain edits take few steps of comparing: nearly all of the time goes into cutting the lines and telling which are equal. */
test('one long file lets all others have turns as well, however little of it is changed', () => {
  const base = linesOf(100_000, (at) => at.toString(36));
  const effort = new PacedEffort(MERGE_STEPS_MAX);
  const turns = countTurns(
    mergeText(Buffer.from(base), Buffer.from(`ours\n${base}`), Buffer.from(`${base}theirs\n`), effort),
  );
  expect(turns).toBeGreaterThanOrEqual(5);
  // What grows with the length alone is no step of comparing: the limit is that of lines.
  expect(MERGE_STEPS_MAX - effort.left).toBeLessThan(10 * 100_000);
});

test('looking around lines that occur often takes steps of comparing', () => {
  // Every line but each hundredth occurs often, and those have no partner.
  const text = (mark: string) =>
    Array.from({ length: 20_000 }, (_, at) => (at % 100 === 50 ? `${mark}${at}` : `${at % 3}`));
  const effort = new PacedEffort(MERGE_STEPS_MAX);
  const pair = computeAtHand(pairLines(text('a'), text('b'), effort));
  computeAtHand(diffByMyers(pair, effort));
  expect(MERGE_STEPS_MAX - effort.left).toBeGreaterThan(100 * 20_000);
});

test('steps of a part are steps of the whole', () => {
  const whole = new Effort(10);
  new Effort(8, whole).spend(8);
  expect(whole.left).toBe(2);
  expect(() => new Effort(8, whole).spend(3)).toThrow(EffortSpent);
  expect(() => new Effort(2).spend(3)).toThrow(EffortSpent);
});

test('files that may have been renamed are not read where all of them are more than one merge may read', () => {
  const objects = new MemoryObjects();
  const count = Math.ceil(MERGE_BYTES_MAX / MERGE_FILE_BYTES_MAX) + 1;
  const pad = 'x'.repeat(MERGE_FILE_BYTES_MAX - 100);
  const files = (name: string, mark: string) =>
    Array.from({ length: count }, (_, at): [string, { mode: string; content: string }] => [
      `${name}${at}`,
      { mode: '100644', content: `${mark}\n${at}\n${pad}\n` },
    ]);
  const [base, ours, theirs] = [files('old', 'base'), files('new', 'moved'), files('old', 'edited')].map(
    (entries) => objects.putTree(new Map(entries)),
  );
  const reading = planMerge(objects, { base: base ?? '', ours: ours ?? '', theirs: theirs ?? '' });
  expect(computeAtHand(reading)).toEqual({ kind: 'refused', reason: 'file_too_large' });
});
