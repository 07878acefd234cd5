import { readRow } from '#core/adapters/dynamo/rows/read-row.ts';
import { repoSettings } from '#core/adapters/dynamo/rows/repo-item.ts';
import { BACKPORT_RESULTS, type BackportResult } from '#core/domain/pulls/backport.ts';
import { givenRepo } from '../../../../../builders/managed-repo.ts';

/** What the release that first carried landings reads; any other word makes it refuse the whole row. */
const FIRST_RESULTS = ['opened', 'conflict', 'nothing_left', 'no_branch', 'same_branch', 'name_taken'];

const givenRow = (result: BackportResult) =>
  repoSettings.write(
    givenRepo({
      backported: [{ pr: 1, landedAt: 5, backports: [{ branch: 'v15', result, pull: null }] }],
    }),
  ) as { backported: { backports: Record<string, unknown>[] }[] };
const storedIn = (row: ReturnType<typeof givenRow>): Record<string, unknown> => {
  const [stored] = row.backported[0]?.backports ?? [];
  if (stored === undefined) throw new Error('no backport is stored');
  return stored;
};
const resultIn = (row: object) => readRow(repoSettings, row, 'test').backported?.[0]?.backports[0]?.result;

describe('the release before and this one read the rows of each other', () => {
  test.each(BACKPORT_RESULTS)('%s is stored as a word that the release before knows', (result) => {
    const row = givenRow(result);
    expect(FIRST_RESULTS).toContain(storedIn(row).result);
    expect(resultIn(row)).toBe(result);
  });

  test('a row that the release before has written again says what that one knows', () => {
    const row = givenRow('too_large');
    const { branch, result, pull } = storedIn(row);
    Object.assign(row, { backported: [{ pr: 1, landed_at: 5, backports: [{ branch, result, pull }] }] });
    expect(resultIn(row)).toBe('conflict');
  });

  test.each(['result', 'exact_result'])(
    'a word of the next release in %s makes no row unreadable',
    (name) => {
      const row = givenRow('failed');
      storedIn(row)[name] = 'of_the_next_release';
      expect(resultIn(row)).toBe(name === 'result' ? 'failed' : 'conflict');
    },
  );

  test('what is no word is still damage', () => {
    const row = givenRow('failed');
    storedIn(row).result = 7;
    expect(() => resultIn(row)).toThrow('unreadable');
  });
});

test('tries are stored beside the backports, and a row of before has none', () => {
  const backportTries = [{ pr: 1, at: 5, isLast: true }];
  const read = (row: object) => readRow(repoSettings, row, 'test').backportTries;
  expect(read(repoSettings.write(givenRepo({ backportTries })))).toEqual(backportTries);
  expect(read(repoSettings.write(givenRepo()))).toBeUndefined();
});
