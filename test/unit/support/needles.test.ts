import { Needles } from '../../support/needles.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';

describe('words looked for in one pass', () => {
  test.each([
    [
      'the first and the last characters of a text count',
      ['head', 'tail'],
      'head and tail',
      ['head', 'tail'],
    ],
    ['words may begin with the same characters', ['abcdef', 'abcdxy', 'abcd'], 'abcdxy', ['abcdxy', 'abcd']],
    ['words may overlap', ['abcde', 'cdefg'], 'abcdefg', ['abcde', 'cdefg']],
    ['a word of three characters is looked for too', ['abc'], 'xxabc', ['abc']],
    ['characters beyond one byte count in full', ['šablona', 'aablona'], 'x šablona', ['šablona']],
    ['a text shorter than its words has none', ['abcdef'], 'abc', []],
  ])('%s', (_rule, words, text, found) => {
    expect([...new Needles(words).findIn(text)].sort()).toEqual([...found].sort());
  });

  test('a word is found exactly where the text includes it', () => {
    const random = createSeededRandom(20_261_122);
    const write = (length: number): string =>
      Array.from({ length }, () => random.pick(['a', 'b', 'ä', '\u0000', '%'])).join('');
    for (let round = 0; round < 200; round += 1) {
      const words = Array.from({ length: 12 }, () => write(1 + random.int(8)));
      const text = write(random.int(80));
      const included = [...new Set(words)].filter((word) => text.includes(word)).sort();
      expect([...new Needles(words).findIn(text)].sort()).toEqual(included);
    }
  });
});
