import { toAmount } from '#core/domain/tenants/plan-price.ts';

test.each([
  [2_900, 'usd', '29.00'],
  [500, 'jpy', '500'],
  [5_500, 'kwd', '5.500'],
  // Without decimals, and counted in hundredths all the same.
  [500, 'ugx', '5.00'],
  [150_000, 'isk', '1500.00'],
  [0, 'eur', '0.00'],
  // Written without decimals by the runtime, and counted in hundredths: https://docs.stripe.com/currencies.
  [1_090_000, 'huf', '10900.00'],
  [11_900_000, 'cop', '119000.00'],
  [45_000_000, 'idr', '450000.00'],
])('%d of the smallest unit of %s are %s', (units, currency, amount) => {
  expect(toAmount(units, currency)).toBe(amount);
});

test('what is no currency has no amount', () => {
  expect(toAmount(100, 'euros')).toBeNull();
});
