import { findMisuse } from '../../support/usage.ts';

const USAGE = {
  script: 'bench',
  does: 'Measures.',
  options: { '--seeds N': 'seeds (5)', '--share X': 'share', '--only TEXT': 'text', '--json': 'JSON' },
};

describe('a command line of a program of the tests', () => {
  test.each([
    ['none', []],
    ['a flag', ['--json']],
    ['a number', ['--seeds', '12']],
    ['a fraction', ['--share', '0.25']],
    ['a text that has blanks', ['--only', 'patterns: two versions', '--json']],
    ['a number that is a text', ['--only', '12']],
  ])('%s is as it should be', (_name, words) => {
    expect(findMisuse(USAGE, words)).toBeNull();
  });

  test.each([
    ['an option that is not there', ['--sed', '12'], 'There is no option --sed.'],
    ['a value behind an equals sign', ['--seeds=12'], 'There is no option --seeds=12.'],
    ['a word without an option', ['--json', '12'], 'There is no option 12.'],
    ['a value that is missing at the end', ['--json', '--only'], '--only needs a value: --only TEXT.'],
    ['a value that is missing amid', ['--only', '--json'], '--only needs a value: --only TEXT.'],
    ['a text for a number', ['--seeds', 'many'], '--seeds is a number, not many.'],
    ['a number below zero', ['--seeds', '-3'], '--seeds is a number, not -3.'],
    ['an empty number', ['--seeds', ''], '--seeds is a number, not .'],
  ])('%s is told', (_name, words, told) => {
    expect(findMisuse(USAGE, words)).toBe(told);
  });
});
