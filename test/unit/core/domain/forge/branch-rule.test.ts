import { chooseGoverningRule, hasForeignPattern, isCovered } from '#core/domain/forge/branch-rule.ts';

const rulesOf = (names: readonly string[]) =>
  names.map((name, at) => ({ name, priority: null, createdAt: at }));
const BRANCH = 'a'.repeat(160);

describe('names of rules that are more than can be read', () => {
  test.each([
    ['one name is too long', [`*${'a'.repeat(5_000)}`]],
    ['all of them are', Array.from({ length: 500 }, (_, at) => `${'*a'.repeat(1_900)}*${at}`)],
  ])('leave it to the forge which rule it obeys: %s', (_, names) => {
    expect(chooseGoverningRule(rulesOf([...names, BRANCH]), 'main')).toEqual({ kind: 'unclear' });
    // A plain name goes first.
    expect(chooseGoverningRule(rulesOf([...names, BRANCH]), BRANCH)).toMatchObject({ kind: 'found' });
    expect(isCovered(rulesOf(names), BRANCH)).toBe(true);
    expect(hasForeignPattern(names, BRANCH)).toBe(true);
  });

  test('are no pattern of another where each can be read', () => {
    expect(hasForeignPattern(['mq', 'ci/*', 'lint'], 'mq')).toBe(false);
    expect(hasForeignPattern(['mq', 'm*'], 'mq')).toBe(true);
    expect(isCovered(rulesOf(['main', 'release/*']), 'mq/main/staging')).toBe(false);
    expect(chooseGoverningRule(rulesOf(['release/*', 'ma*']), 'main')).toMatchObject({
      rule: { name: 'ma*' },
    });
  });
});
