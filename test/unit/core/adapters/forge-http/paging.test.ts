import * as z from 'zod';
import { readAllPages, readFirstRows } from '#core/adapters/forge-http/paging.ts';
import { nullableList } from '#core/adapters/forge-http/schema.ts';
import { FORGE_ROWS_MAX } from '#core/domain/limits.ts';
import { AnswerTooLarge, ListingTooLong } from '#core/ports/forge.ts';
import { openScripted } from '../../../../support/open-scripted.ts';

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
  function openWith(large: number, rowsMax: number) {
    return openScripted(({ query }) => {
      const limit = Number(query.limit);
      const rows = ROWS.slice((Number(query.page) - 1) * limit, Number(query.page) * limit);
      if (rows.includes(large) && rows.length > rowsMax) return 'too_large';
      return { json: rows, headers: { 'x-total-count': String(ROWS.length) } };
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

  test('that breaks off in another way is not asked for in smaller pages', async () => {
    const { transport, seen } = openScripted(() => 'timeout');
    await expect(readAllPages(transport, CALL, rowsOf)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(seen).toHaveLength(1);
  });
});
