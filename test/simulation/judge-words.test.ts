import { readdirSync, readFileSync } from 'node:fs';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { describeHeadChange } from '../../engine-container/src/queue/words/phrases.ts';

/** The judge knows by their first words why pull requests wait: a status that begins otherwise would be held unsaid. */
const PLOTS = readdirSync(new URL('plots', import.meta.url)).map((file) => `plots/${file}`);
const JUDGES = [
  'oracle.ts',
  'waits-for-author.ts',
  ...PLOTS,
  'project.ts',
  'crowd.ts',
  'scenes/twin-scenes.ts',
];
const SAID = [
  ...Object.values(PULL_CODES).map(({ says }) => says),
  ...(['asking', 'push', 'untold', 'outside', 'rules'] as const).map(describeHeadChange),
];

const wordsIn = (file: string): readonly string[] =>
  [
    ...readFileSync(new URL(file, import.meta.url), 'utf8').matchAll(
      /['/^]((?:refused|requeued): [^'/]+)['/]/g,
    ),
  ].map(([, words = '']) => words);

test('each beginning of a status that the judge knows begins a status of the queue', () => {
  const known = JUDGES.flatMap(wordsIn);
  expect(known.length).toBeGreaterThan(15);
  expect(known.filter((words) => !SAID.some((said) => said.startsWith(words)))).toEqual([]);
});
