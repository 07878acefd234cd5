import * as z from 'zod';
import { readAllPages, readFirstRows } from '#core/adapters/forge-http/wire/paging.ts';
import { nullableList } from '#core/adapters/forge-http/wire/schema.ts';
import { FORGE_ROWS_MAX } from '#core/domain/limits.ts';
import { AnswerTooLarge, ListingTooLong } from '#core/ports/forge.ts';
import { openScripted } from '../../../../../support/open-scripted.ts';

const CALL = { method: 'GET', label: 'GET things', path: ['things'] } as const;

test('a listing whose pages never end is given up at the rows that any listing may have', async () => {
  const page = Array.from({ length: FORGE_ROWS_MAX / 4 + 1 }, () => 1);
  const { transport, seen } = openScripted(() => ({ json: page }));
  await expect(readAllPages(transport, CALL, (answer) => answer.value as number[])).rejects.toMatchObject({
    kind: 'unreachable',
  });
  expect(seen).toHaveLength(4);
});

test('a listing that tells of more rows than any listing may have is given up at its first page', async () => {
  const headers = { 'x-total-count': String(FORGE_ROWS_MAX + 1) };
  const { transport, seen } = openScripted(() => ({ json: [1], headers }));
  const reading = readAllPages(transport, CALL, (answer) => answer.value as number[]);
  await expect(reading).rejects.toBeInstanceOf(ListingTooLong);
  expect(seen).toHaveLength(1);
});

test('a list is given up at its first row that is no row', () => {
  let looked = 0;
  const Row = z.unknown().refine(() => {
    looked += 1;
    return looked < 3;
  });
  const parsed = nullableList(Row).safeParse(Array.from({ length: FORGE_ROWS_MAX }, () => []));
  expect([parsed.success, looked, parsed.error?.issues.length]).toEqual([false, 3, 1]);
});

test('a list of more rows than any listing may have is not looked through', () => {
  let looked = 0;
  const Row = z.unknown().refine(() => {
    looked += 1;
    return true;
  });
  const rows = Array.from({ length: FORGE_ROWS_MAX + 1 }, () => null);
  expect([nullableList(Row).safeParse(rows).success, looked]).toEqual([false, 0]);
  expect(nullableList(Row).safeParse(rows.slice(1)).success).toBe(true);
});

describe('a listing with a row of megabytes', () => {
  const ROWS = Array.from({ length: 64 }, (_, nth) => nth);

  /** Answers no page that holds more of the rows than `rowsMax` together with the large one. */
  function openWith(large: number, rowsMax: number, { all = ROWS, cap = 50 } = {}) {
    return openScripted(({ query }) => {
      const limit = Math.min(Number(query.limit), cap);
      const rows = all.slice((Number(query.page) - 1) * limit, Number(query.page) * limit);
      if (rows.includes(large) && rows.length > rowsMax) return 'too_large';
      return { json: rows, headers: { 'x-total-count': String(all.length) } };
    });
  }
  const rowsOf = (answer: { value: unknown }) => answer.value as number[];

  test.each([0, 9, 37, 63])('is read whole, in pages that are small enough: row %i', async (large) => {
    for (const rowsMax of [1, 10]) {
      const { transport } = openWith(large, rowsMax);
      expect(await readAllPages(transport, CALL, rowsOf)).toEqual(ROWS);
    }
  });

  test('its first rows likewise, and no more of them than asked for', async () => {
    for (const rowsMax of [1, 10, 20]) {
      const { transport } = openWith(3, rowsMax);
      expect(await readFirstRows(transport, CALL, 20, rowsOf)).toEqual(ROWS.slice(0, 20));
    }
    const { transport, seen } = openWith(3, 20);
    await readFirstRows(transport, CALL, 20, rowsOf);
    expect(seen).toHaveLength(1);
  });

  test.each([0, 3, 63])('ends where that row alone is too large, or leaves it out: row %i', async (large) => {
    const { transport } = openWith(large, 0);
    await expect(readAllPages(transport, CALL, rowsOf)).rejects.toBeInstanceOf(AnswerTooLarge);
    const others = ROWS.filter((row) => row !== large);
    expect(await readAllPages(transport, CALL, rowsOf, { leavesOutLarge: true })).toEqual(others);
    const first = await readFirstRows(transport, CALL, 20, rowsOf);
    expect(first).toEqual(ROWS.slice(0, 20).filter((row) => row !== large));
  });

  test('is asked for by the same client in the size that worked', async () => {
    const { transport, seen } = openWith(3, 10);
    await readAllPages(transport, CALL, rowsOf);
    const before = seen.length;
    await readAllPages(transport, CALL, rowsOf);
    expect(seen.slice(before).every(({ query }) => query.limit === '10')).toBe(true);
  });

  test.each([0, 233, 399])('costs no call for each of the others: row %i of 400', async (large) => {
    const all = Array.from({ length: 400 }, (_, nth) => nth);
    const { transport, seen } = openWith(large, 0, { all });
    const read = () => readAllPages(transport, CALL, rowsOf, { leavesOutLarge: true });
    expect(await read()).toEqual(all.filter((row) => row !== large));
    expect(seen.length).toBeLessThan(65);
    const before = seen.length;
    await read();
    // The page that was too large is not asked for again, and the row alone is.
    expect(seen.length - before).toBeLessThan(55);
  });

  test('makes the pages of no other listing smaller', async () => {
    const { transport, seen } = openWith(3, 0);
    await readAllPages(transport, CALL, rowsOf, { leavesOutLarge: true });
    const other = { ...CALL, path: ['others'] };
    await expect(readAllPages(transport, other, rowsOf)).rejects.toBeInstanceOf(AnswerTooLarge);
    expect(seen.find(({ path }) => path.endsWith('others'))?.query.limit).toBe('50');
  });

  test('is read again where the listing changes while its rows are read one by one', async () => {
    let all = Array.from({ length: 40 }, (_, nth) => nth);
    const { transport } = openScripted(({ query }) => {
      const limit = Number(query.limit);
      // The first one is closed before the rows beside the large one are read.
      if (limit === 1 && all[0] === 0) all = all.slice(1);
      const rows = all.slice((Number(query.page) - 1) * limit, Number(query.page) * limit);
      if (rows.includes(15)) return 'too_large';
      return { json: rows, headers: { 'x-total-count': String(all.length) } };
    });
    const read = await readAllPages(transport, CALL, rowsOf, { leavesOutLarge: true });
    expect(read).toEqual(all.filter((row) => row !== 15));
  });

  test.each([9, 7, 3, 1])('is read whole where the forge has %i rows on a page at most', async (cap) => {
    for (const large of [0, 5, 12, 18, 63]) {
      for (const rowsMax of [0, 1, 2]) {
        const { transport } = openWith(large, rowsMax, { cap });
        const expected = ROWS.filter((row) => rowsMax > 0 || row !== large);
        const read = await readAllPages(transport, CALL, rowsOf, { leavesOutLarge: true });
        expect(read).toEqual(expected);
      }
    }
  });

  test('that breaks off in another way is not asked for in smaller pages', async () => {
    const { transport, seen } = openScripted(() => 'timeout');
    await expect(readAllPages(transport, CALL, rowsOf)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(seen).toHaveLength(1);
  });
});
