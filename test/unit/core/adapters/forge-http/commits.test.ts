import { createForgeReader } from '#core/adapters/forge-http/reader.ts';
import { keyOfPaths } from '#core/contracts/paths-key.ts';
import { FORGE_ANSWER_VALUES_MAX } from '#core/domain/limits.ts';
import { openScripted } from '../../../../support/open-scripted.ts';
import { sha } from '../../../../support/scripted-forge.ts';

const HEAD = sha(1);
const BASE = sha(2);

/** Each commit of the base, the newest first, by the number of files that it changes. */
function openBase(counts: readonly number[]) {
  const files = counts.map((count, nth) => Array.from({ length: count }, (_, at) => `${nth}/${at}`));
  const { transport } = openScripted(({ query }) => {
    const from = (Number(query.page) - 1) * Number(query.limit);
    const rows = files.slice(from, from + Number(query.limit)).map((names, at) => ({
      sha: sha(from + at + 10),
      parents: [{ sha: sha(from + at + 11) }],
      ...(query.files === 'true'
        ? { files: names.map((filename) => ({ filename, status: 'modified' })) }
        : {}),
    }));
    return { json: rows, headers: { 'x-total-count': String(counts.length) } };
  });
  return { forge: createForgeReader(transport), keys: files.map(keyOfPaths) };
}

describe('the commits of the base with what each changes', () => {
  test('are read in smaller pages where one has more values than are parsed', async () => {
    const { forge, keys } = openBase(Array.from({ length: 30 }, () => FORGE_ANSWER_VALUES_MAX / 60));
    const told = await forge.listChangesSince(HEAD, BASE);
    expect(told.map(({ pathsKey }) => pathsKey)).toEqual(keys);
  });

  test('are all told, also one of more files than are parsed: its files alone are not', async () => {
    const { forge, keys } = openBase([
      1,
      FORGE_ANSWER_VALUES_MAX / 2,
      ...Array.from({ length: 13 }, () => 2),
    ]);
    const told = await forge.listChangesSince(HEAD, BASE);
    expect(told.map(({ sha: id }) => id)).toEqual(keys.map((_, nth) => sha(nth + 10)));
    expect(told.map(({ pathsKey }) => pathsKey)).toEqual(keys.map((key, nth) => (nth === 1 ? null : key)));
    expect(told[1]?.parents).toEqual([sha(12)]);
  });
});
