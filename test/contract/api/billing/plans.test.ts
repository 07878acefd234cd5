import { PAID_TIERS, PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { PLAN_PRICE_KEPT_MS, PLAN_PRICE_RETRY_MS } from '#core/domain/tenants/plan-price.ts';
import { TENANT_A, TOKEN_A } from '../../../support/api-world.ts';
import { BillingWorld } from '../../../support/billing-world.ts';

let world: BillingWorld;
beforeEach(async () => {
  world = await BillingWorld.open();
});
afterEach(() => world.close());

describe('plans', () => {
  const plans = async () => (await world.ask('plans', undefined, 'GET')).json.plans;
  const monthly = (amount: string) => ({ amount, currency: 'EUR', interval: 'month', interval_count: 1 });
  const unknown = PAID_TIERS.map((tier) => ({ tier, limits: PLAN_LIMITS[tier], price: null }));

  test('have what they include, and their prices as the provider tells them', async () => {
    expect(await plans()).toEqual([
      { tier: 'pro', limits: PLAN_LIMITS.pro, price: monthly('29.00') },
      { tier: 'team', limits: PLAN_LIMITS.team, price: monthly('99.00') },
    ]);
  });

  test('a price is asked for once in an hour', async () => {
    const known = await plans();
    world.provider.behave('failing');
    await world.api.clock.advance(PLAN_PRICE_KEPT_MS - 1);
    expect(await plans()).toEqual(known);
    await world.api.clock.advance(2);
    expect(await plans()).toEqual(unknown);
  });

  test.each(['failing', 'garbage', 'refusing'] as const)(
    'while the provider is %s a price is null, and is asked for again after a minute',
    async (behaviour) => {
      world.provider.behave(behaviour);
      expect(await plans()).toEqual(unknown);
      world.provider.behave('normal');
      expect(await plans()).toEqual(unknown);
      await world.api.clock.advance(PLAN_PRICE_RETRY_MS + 1);
      expect((await plans())[0].price).toEqual(monthly('29.00'));
    },
  );

  test('where nothing is sold no price is known', async () => {
    world.api.payments = null;
    expect(await plans()).toEqual(unknown);
  });
});

describe('summary', () => {
  test('of a tenant that never bought anything: free, and nothing is wrong (D-56)', async () => {
    expect(await world.summary()).toEqual({
      tier: 'free',
      entitled_tier: 'free',
      status: 'active',
      payment_action_required: false,
      connections: 0,
      repos: 0,
      limits: PLAN_LIMITS.free,
    });
  });

  test.each(PAID_TIERS)('of %s, active and then unpaid', async (tier) => {
    const id = await world.buy(tier);
    expect(await world.summary()).toMatchObject({
      tier,
      entitled_tier: tier,
      status: 'active',
      payment_action_required: false,
      limits: PLAN_LIMITS[tier],
    });
    world.provider.world.setStatus(id, 'past_due');
    await world.deliverAll();
    expect(await world.summary()).toMatchObject({
      tier,
      entitled_tier: 'free',
      status: 'past_due',
      payment_action_required: true,
      limits: PLAN_LIMITS.free,
    });
  });

  test('limits are configuration: included and ceiling, null for none', async () => {
    world.api.planLimits = {
      ...PLAN_LIMITS,
      free: { included: { connections: 2, repos: 3 }, ceiling: { connections: 4, repos: null } },
    };
    expect((await world.summary()).limits).toEqual({
      included: { connections: 2, repos: 3 },
      ceiling: { connections: 4, repos: null },
    });
  });

  test.each(['loadPlan', 'loadTenant'])('%s unreadable: 503, never free (A108)', async (label) => {
    await world.buy('pro');
    world.failStore(label);
    const answer = await world.ask('me', undefined, 'GET');
    expect([answer.status, answer.code, answer.json.error.retryable]).toEqual([
      503,
      'billing_unavailable',
      true,
    ]);
  });
});

describe('export', () => {
  test('has the plan and who pays for it', async () => {
    const read = async () => (await world.api.as(TOKEN_A)('GET', '/api/v1/tenant/export')).json.billing;
    expect(await read()).toEqual({
      tier: 'free',
      status: 'active',
      customer_id: null,
      subscription_id: null,
    });
    const id = await world.buy('pro');
    const customerId = (await world.stored())?.customerId;
    expect(await read()).toEqual({
      tier: 'pro',
      status: 'active',
      customer_id: customerId,
      subscription_id: id,
    });
  });
});

describe('ceilings and holds', () => {
  const enrollMany = async (count: number) => {
    const { connection } = await world.api.enroll(TENANT_A, { slug: 'acme/r0' });
    for (let index = 1; index < count; index += 1) {
      await world.api.clock.advance(1_000);
      await world.api.enroll(
        TENANT_A,
        { slug: `acme/r${index}`, instanceUrl: connection.instanceUrl },
        { id: connection.id },
      );
    }
    return connection;
  };
  const repos = async () => (await world.api.as(TOKEN_A)('GET', '/api/v1/user/repos')).json;
  const holds = async (): Promise<readonly string[]> =>
    (await repos())
      .filter((repo: { hold_reason: string | null }) => repo.hold_reason !== null)
      .map((repo: { name: string }) => repo.name)
      .sort();
  const enroll = (connectionId: string, slug: string) =>
    world.api.as(TOKEN_A)('POST', '/api/v1/user/repos', { connection_id: connectionId, repo_slug: slug });

  test('a second repository is 402 on free, and is not on pro', async () => {
    const connection = await enrollMany(1);
    const refused = await enroll(connection.id, 'acme/two');
    expect([refused.status, refused.code, refused.json.error.portal]).toEqual([
      402,
      'repo_limit_exceeded',
      '/api/v1/billing/portal',
    ]);
    await world.buy('pro');
    expect((await enroll(connection.id, 'acme/two')).status).toBe(201);
  });

  test('a limit that the deployment sets is the one that counts', async () => {
    world.api.planLimits = {
      ...PLAN_LIMITS,
      free: { included: { connections: 1, repos: 2 }, ceiling: { connections: 1, repos: 2 } },
    };
    const connection = await enrollMany(1);
    expect((await enroll(connection.id, 'acme/two')).status).toBe(201);
    expect((await enroll(connection.id, 'acme/three')).code).toBe('repo_limit_exceeded');
  });

  test('unpaid: all but the oldest are held at once; paid: none is, at once (A107)', async () => {
    const id = await world.buy('pro');
    await enrollMany(3);
    expect(await holds()).toEqual([]);
    world.provider.world.setStatus(id, 'past_due');
    expect(await holds()).toEqual([]);
    await world.deliverAll();
    expect(await holds()).toEqual(['acme/r1', 'acme/r2']);
    world.provider.world.setStatus(id, 'active');
    await world.deliverAll();
    expect(await holds()).toEqual([]);
    world.provider.world.cancel(id);
    await world.deliverAll();
    expect(await world.summary()).toMatchObject({ tier: 'free', payment_action_required: false });
    expect(await holds()).toEqual(['acme/r1', 'acme/r2']);
    await world.buy('team');
    expect(await holds()).toEqual([]);
  });

  test('held: no manual reconcile, no webhook, and the oldest goes on', async () => {
    await enrollMany(2);
    await world.api.store.savePlan(TENANT_A, { tier: 'pro', status: 'past_due' });
    const listed: { id: string; name: string }[] = await repos();
    for (const { id, name } of listed) {
      const answer = await world.api.as(TOKEN_A)('POST', `/api/v1/user/repos/${id}/reconcile`);
      const expected = name === 'acme/r0' ? [200, undefined] : [402, 'payment_required'];
      expect([name, answer.status, answer.code]).toEqual([name, ...expected]);
    }
  });

  test('a plan that cannot be read holds nothing and refuses nothing as unpaid (A108)', async () => {
    const connection = await enrollMany(2);
    await world.api.store.savePlan(TENANT_A, { tier: 'pro', status: 'past_due' });
    world.failStore('loadPlan');
    expect(await holds()).toEqual([]);
    expect(await enroll(connection.id, 'acme/more')).toMatchObject({
      status: 503,
      code: 'billing_unavailable',
    });
  });
});
