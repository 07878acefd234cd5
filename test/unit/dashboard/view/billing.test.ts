import {
  adviseBilling,
  type Billing,
  type Plan,
  planOf,
  sayCharge,
  sayIncluded,
  sayPrice,
} from '../../../../dashboard/view/billing.ts';

const FREE = { connections: 1, repos: 1 };

function given(changes: Partial<Billing>): Billing {
  return {
    tier: 'free',
    entitled_tier: 'free',
    status: 'active',
    payment_action_required: false,
    connections: 1,
    repos: 1,
    limits: { included: FREE, ceiling: FREE },
    ...changes,
  };
}

test.each(['past_due', 'incomplete', 'paused', 'unknown'] as const)(
  'a tenant whose subscription is %s is offered no second one, only to settle it',
  (status) => {
    for (const tier of ['pro', 'team'] as const) {
      const advice = adviseBilling(given({ tier, status, payment_action_required: true, repos: 4 }));
      expect(advice.offer).toBe('settle');
      expect(advice.problem).toMatch(
        /counts as free\. 3 repositories are held: only your oldest one goes on\./,
      );
      expect(advice.problem).toContain('Settle it with the button below');
    }
  },
);

/** https://docs.stripe.com/api/customers/update: a new payment method alone pays no invoice that is open. */
test('a tenant whose payment is late is told to pay the open invoice as well', () => {
  expect(adviseBilling(given({ tier: 'pro', status: 'past_due' })).problem).toContain(
    'give a working payment method, then pay the open invoice',
  );
});

test('a tenant whose subscription ended is told why repositories are held, and where to pay', () => {
  const advice = adviseBilling(given({ status: 'canceled', repos: 2 }));
  expect(advice).toEqual({
    offer: 'first',
    problem:
      'Your subscription has ended. 1 repository is held: only your oldest one goes on. Choose a plan below to pay for them again, or delete those that you do not need.',
  });
});

test.each<[string, Partial<Billing>, ReturnType<typeof adviseBilling>]>([
  ['who never bought', {}, { offer: 'first', problem: null }],
  ['who ended with nothing held', { status: 'canceled' }, { offer: 'first', problem: null }],
  [
    'whose free plan is not limited',
    { status: 'canceled', repos: 9, limits: { included: { connections: null, repos: null }, ceiling: FREE } },
    { offer: 'first', problem: null },
  ],
  ['who pays', { tier: 'pro', entitled_tier: 'pro' }, { offer: 'change', problem: null }],
  [
    'who is on trial',
    { tier: 'team', entitled_tier: 'team', status: 'trialing' },
    { offer: 'change', problem: null },
  ],
])('nothing is wrong with a tenant %s', (_who, changes, advice) => {
  expect(adviseBilling(given(changes))).toEqual(advice);
});

test.each<[Plan['price'], string]>([
  [{ amount: '29.00', currency: 'EUR', interval: 'month', interval_count: 1 }, '€29.00 a month'],
  [{ amount: '500', currency: 'JPY', interval: 'month', interval_count: 3 }, '¥500 every 3 months'],
  [null, 'The price is not known here; the payment page shows it before anything is charged.'],
])('a price of %j is told as it is charged', (price, words) => {
  expect(sayPrice(price, 'first')).toBe(words);
});

test('a change of plan goes through no payment page, and is told with what it costs', () => {
  expect(sayPrice(null, 'change')).not.toContain('payment page');
  expect(sayCharge('team')).toContain('is charged at once');
  expect(sayCharge('pro')).toContain('is not paid back');
});

test('a plan says what it includes; while it is not known, nothing', () => {
  const plan: Plan = {
    tier: 'team',
    price: null,
    limits: { included: { connections: null, repos: 50 }, ceiling: FREE },
  };
  expect(sayIncluded(plan)).toBe('Includes 50 repositories and any number of connections.');
  expect(sayIncluded(undefined)).toBeNull();
  expect(planOf({ plans: [plan] }, 'team')).toBe(plan);
  expect(planOf(undefined, 'team')).toBeUndefined();
});
