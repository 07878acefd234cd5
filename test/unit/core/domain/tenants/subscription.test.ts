import { BILLING_STATUSES } from '#core/domain/tenants/billing.ts';
import {
  chooseSubscription,
  matchTier,
  moveItems,
  readStatus,
  type Subscription,
  seePlan,
} from '#core/domain/tenants/subscription.ts';

const BOOK = {
  pro: { flat: 'price_pro', repos: 'price_pro_repos' },
  team: { flat: 'price_team', repos: 'price_team_repos' },
} as const;
const PRO = [
  { id: 'si_1', priceId: 'price_pro' },
  { id: 'si_2', priceId: 'price_pro_repos' },
];

function given(changes: Partial<Subscription> = {}): Subscription {
  return {
    id: 'sub_1',
    customerId: 'cus_1',
    status: 'active',
    items: PRO,
    tierNoted: null,
    tenantNoted: null,
    createdAt: 1_000,
    ...changes,
  };
}

describe('statuses of the provider', () => {
  test.each(BILLING_STATUSES.filter((status) => status !== 'canceled' && status !== 'unknown'))(
    '%s is itself',
    (status) => expect(readStatus(status)).toBe(status),
  );
  test.each(['canceled', 'incomplete_expired'])('%s has ended', (status) =>
    expect(readStatus(status)).toBe('ended'),
  );
  // D-56: only what the list does not have.
  test.each(['unpaid', 'unknown', '', 'ACTIVE', 'constructor'])('%j is unknown', (status) =>
    expect(readStatus(status)).toBe('unknown'),
  );
});

describe('the subscription that counts', () => {
  test('one that entitles, then the newest, whatever the order of the list', () => {
    const old = given({ id: 'old', createdAt: 1 });
    const late = given({ id: 'late', status: 'past_due', createdAt: 3 });
    const ended = given({ id: 'ended', status: 'ended', createdAt: 9 });
    const twin = given({ id: 'twin', createdAt: 1 });
    for (const list of [
      [old, late, ended, twin],
      [twin, ended, late, old],
    ]) {
      expect(chooseSubscription(list)?.id).toBe('twin');
    }
    expect(chooseSubscription([late, ended])?.id).toBe('late');
    expect(chooseSubscription([ended])).toBeNull();
    expect(chooseSubscription([])).toBeNull();
  });
});

describe('items against the price book', () => {
  test('every item moves to its own kind, in whatever order they come', () => {
    expect(moveItems(BOOK, PRO, 'team')).toEqual([
      { id: 'si_1', priceId: 'price_team' },
      { id: 'si_2', priceId: 'price_team_repos' },
    ]);
    expect(moveItems(BOOK, [...PRO].reverse(), 'team')).toEqual([
      { id: 'si_2', priceId: 'price_team_repos' },
      { id: 'si_1', priceId: 'price_team' },
    ]);
    expect(moveItems(BOOK, PRO, 'pro')?.map(({ priceId }) => priceId)).toEqual([
      'price_pro',
      'price_pro_repos',
    ]);
  });

  test.each([
    ['none', []],
    ['a kind is missing', PRO.slice(0, 1)],
    ['a stranger beside', [...PRO, { id: 'si_3', priceId: 'price_else' }]],
    ['a kind twice', [...PRO, { id: 'si_3', priceId: 'price_pro' }]],
    [
      'of two tiers',
      [
        { id: 'si_1', priceId: 'price_pro' },
        { id: 'si_2', priceId: 'price_team_repos' },
      ],
    ],
    ['a name that every object has', [{ id: 'si_1', priceId: 'constructor' }]],
  ])('%s: no tier’s price set', (_name, items) => {
    expect(matchTier(BOOK, items)).toBeNull();
    expect(moveItems(BOOK, items, 'team')).toBeNull();
  });
});

describe('the plan that is seen (D-59)', () => {
  test.each([
    ['prices alone', given(), 'free', ['pro', 'active', 'prices']],
    ['prices and a note that agree', given({ tierNoted: 'pro' }), 'free', ['pro', 'active', 'prices']],
    [
      'prices win over a note',
      given({ tierNoted: 'team' }),
      'team',
      ['pro', 'active', 'prices_against_metadata'],
    ],
    [
      'unknown prices, a note',
      given({ items: [{ id: 'x', priceId: 'legacy' }], tierNoted: 'team' }),
      'pro',
      ['team', 'active', 'metadata'],
    ],
    [
      'unknown prices, no note',
      given({ items: [{ id: 'x', priceId: 'legacy' }] }),
      'pro',
      ['pro', 'active', 'stored'],
    ],
    ['not paid', given({ status: 'past_due' }), 'free', ['pro', 'past_due', 'prices']],
    ['a status we do not know', given({ status: 'unknown' }), 'free', ['pro', 'unknown', 'prices']],
    ['ended', given({ status: 'ended' }), 'team', ['free', 'canceled', 'none']],
  ] as const)('%s', (_name, subscription, stored, [tier, status, source]) => {
    expect(seePlan(BOOK, [subscription], stored)).toEqual({
      tier,
      status,
      source,
      subscriptionId: source === 'none' ? null : 'sub_1',
    });
  });

  test('two flat charges at once are no tier of ours', () => {
    const items = [
      { id: 'si_1', priceId: 'price_pro' },
      { id: 'si_2', priceId: 'price_team' },
    ];
    expect(seePlan(BOOK, [given({ items, tierNoted: 'pro' })], 'free').source).toBe('metadata');
  });
});
