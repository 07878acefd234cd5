import { parsePlanLimits, parsePriceBook } from '#core/contracts/tenants/billing-config.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';

const fault = (parsed: ReturnType<typeof parsePriceBook> | ReturnType<typeof parsePlanLimits>): string =>
  parsed.ok ? '' : parsed.fault;

describe('price ids as an operator writes them', () => {
  test.each(['', ' ', ',', ' , '])('%j is nothing to sell', (text) => {
    expect(parsePriceBook(text)).toEqual({ ok: true, value: null });
  });

  test('by tier and kind, in any order, with any number of kinds', () => {
    const text = ' team.flat=price_3 ,pro.flat=price_1,pro.extra_repos=price_2,team.extra_repos=price_4';
    expect(parsePriceBook(text)).toEqual({
      ok: true,
      value: {
        pro: { flat: 'price_1', extra_repos: 'price_2' },
        team: { flat: 'price_3', extra_repos: 'price_4' },
      },
    });
  });

  test.each([
    ['pro.flat=price_1', 'team.flat has no price'],
    ['pro.seat=price_1,team.seat=price_2', 'pro.flat has no price'],
    ['pro.flat=a,team.flat=b,pro.seat=c', 'team.seat has no price'],
    ['pro.flat=a,team.flat=a', 'may stand once'],
    ['pro.flat=a,pro.flat=b,team.flat=c', 'may stand once'],
    ['free.flat=a', 'must look like'],
    ['pro=a', 'must look like'],
    ['pro.flat:a', 'must look like'],
    ['pro.flat=a b,team.flat=c', 'must look like'],
    ['pro.__proto__=a,team.__proto__=b', 'must look like'],
  ])('%s is refused: %s', (text, words) => {
    expect(fault(parsePriceBook(text))).toContain(words);
  });
});

describe('plan limits as an operator writes them', () => {
  test('nothing said is the default (D-53)', () => {
    expect(parsePlanLimits('')).toEqual({ ok: true, value: PLAN_LIMITS });
  });

  test('a key replaces included and ceiling of one resource of one tier', () => {
    const parsed = parsePlanLimits('pro.repos=20/80, team.connections=none/none');
    expect(parsed.ok && parsed.value.pro).toEqual({
      included: { connections: 3, repos: 20 },
      ceiling: { connections: 10, repos: 80 },
    });
    expect(parsed.ok && parsed.value.team.included).toEqual({ connections: null, repos: 50 });
    expect(parsed.ok && parsed.value.free).toEqual(PLAN_LIMITS.free);
    expect(PLAN_LIMITS.pro.ceiling.repos).toBe(50);
  });

  test.each([
    ['pro.repos=5', 'must look like'],
    ['gold.repos=1/2', 'must look like'],
    ['pro.seats=1/2', 'must look like'],
    ['pro.repos=-1/2', 'must look like'],
    ['pro.repos=3/2', 'more is included'],
    ['pro.repos=none/2', 'more is included'],
  ])('%s is refused: %s', (text, words) => {
    expect(fault(parsePlanLimits(text))).toContain(words);
  });
});
