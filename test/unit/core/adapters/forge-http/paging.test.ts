import * as z from 'zod';
import { readAllPages } from '#core/adapters/forge-http/paging.ts';
import { nullableList } from '#core/adapters/forge-http/schema.ts';
import { FORGE_ROWS_MAX } from '#core/domain/limits.ts';
import { ListingTooLong } from '#core/ports/forge.ts';
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
