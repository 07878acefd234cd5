import {
  BILLING_STATUSES,
  type BillingStatus,
  ceilingOf,
  entitledTier,
  FREE_PLAN,
  needsPayment,
  PLAN_LIMITS,
  repoIdsOnHold,
  TIERS,
  type Tier,
} from '#core/domain/tenants/billing.ts';

/** Every cell: what is granted, and whether the tenant has to pay. */
const GRANTED: Readonly<Record<Tier, Readonly<Record<BillingStatus, readonly [Tier, boolean]>>>> = {
  free: {
    active: ['free', false],
    trialing: ['free', false],
    past_due: ['free', false],
    incomplete: ['free', false],
    paused: ['free', false],
    canceled: ['free', false],
    unknown: ['free', false],
  },
  pro: {
    active: ['pro', false],
    trialing: ['pro', false],
    past_due: ['free', true],
    incomplete: ['free', true],
    paused: ['free', true],
    canceled: ['free', true],
    unknown: ['free', true],
  },
  team: {
    active: ['team', false],
    trialing: ['team', false],
    past_due: ['free', true],
    incomplete: ['free', true],
    paused: ['free', true],
    canceled: ['free', true],
    unknown: ['free', true],
  },
};

const repos = [
  { id: 'c', createdAt: 30 },
  { id: 'a', createdAt: 10 },
  { id: 'b2', createdAt: 20 },
  { id: 'b1', createdAt: 20 },
];

describe.each(TIERS)('tier %s: its grants, and whether it has to pay (A106)', (tier) => {
  test.each(BILLING_STATUSES)('%s', (status) => {
    const plan = { tier, status };
    expect([entitledTier(plan), needsPayment(plan)]).toEqual(GRANTED[tier][status]);
    const entitles = status === 'active' || status === 'trialing';
    expect([...repoIdsOnHold(plan, repos, PLAN_LIMITS)]).toEqual(entitles ? [] : ['b1', 'b2', 'c']);
    expect(ceilingOf(plan, PLAN_LIMITS).repos).toBe(
      { free: 1, pro: 50, team: 500 }[GRANTED[tier][status][0]],
    );
  });
});

describe('holds (A107)', () => {
  test('the oldest run, of the same age the one with the smaller id; deleted ones take no place', () => {
    const plan = { tier: 'pro', status: 'past_due' } as const;
    const limits = {
      ...PLAN_LIMITS,
      free: { ...PLAN_LIMITS.free, included: { connections: 1, repos: 2 } },
    };
    expect([...repoIdsOnHold(plan, repos, limits)]).toEqual(['b2', 'c']);
    const [first, ...rest] = repos;
    const oldestGone = [{ ...first, id: 'c', createdAt: 1, tombstone: true }, ...rest];
    expect([...repoIdsOnHold(plan, oldestGone, PLAN_LIMITS)]).toEqual(['b1', 'b2']);
  });

  test('an allowance without limit holds nothing, one of none holds everything', () => {
    const plan = { tier: 'free', status: 'canceled' } as const;
    const free = (allowed: number | null) => ({
      ...PLAN_LIMITS,
      free: { ...PLAN_LIMITS.free, included: { connections: 1, repos: allowed } },
    });
    expect(repoIdsOnHold(plan, repos, free(null)).size).toBe(0);
    expect(repoIdsOnHold(plan, repos, free(0)).size).toBe(4);
  });

  test('a tenant that never bought anything holds nothing', () => {
    expect(repoIdsOnHold(FREE_PLAN, repos, PLAN_LIMITS).size).toBe(0);
  });
});
