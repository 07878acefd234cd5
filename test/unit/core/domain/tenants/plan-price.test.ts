import { toAmount } from '#core/domain/tenants/plan-price.ts';

test.each([
  [2_900, 'usd', '29.00'],
  [500, 'jpy', '500'],
  [5_500, 'kwd', '5.500'],
  // Without decimals, and counted in hundredths all the same.
  [500, 'ugx', '5.00'],
  [150_000, 'isk', '1500.00'],
  [0, 'eur', '0.00'],
])('%d of the smallest unit of %s are %s', (units, currency, amount) => {
  expect(toAmount(units, currency)).toBe(amount);
});

test('what is no currency has no amount', () => {
  expect(toAmount(100, 'euros')).toBeNull();
});
