import { countDependencies } from '#core/adapters/forge-http/dependencies.ts';
import { openScripted } from '../../../../support/open-scripted.ts';

const row = (number: number, state: string) => ({ id: number, number, title: 'x', state });

test.each<[string, readonly unknown[], { readonly open: number; readonly hidden: number }]>([
  ['open and closed ones are told apart', [row(1, 'open'), row(2, 'closed')], { open: 1, hidden: 0 }],
  ['an empty row is hidden', [row(0, ''), row(1, 'closed')], { open: 0, hidden: 1 }],
  ['a row without a number is hidden, whatever its state', [row(0, 'open'), null], { open: 0, hidden: 2 }],
  ['a row with a number counts as it says', [{ number: 3, state: 'open' }], { open: 1, hidden: 0 }],
])('of dependencies %s', async (_name, rows, counted) => {
  const { transport } = openScripted(() => ({
    json: rows,
    headers: { 'x-total-count': String(rows.length) },
  }));
  expect(await countDependencies(transport, 1)).toEqual(counted);
});

test('a repository that has dependencies switched off has none', async () => {
  const { transport } = openScripted(() => ({ status: 404, json: { message: '', url: 'x' } }));
  expect(await countDependencies(transport, 1)).toEqual({ open: 0, hidden: 0 });
});
