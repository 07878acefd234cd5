import { deleteCustomer } from '../../../../local/payments/delete-customer.ts';
import { CARDS } from '../../../../local/payments/world.ts';
import { TENANT_A } from '../../../support/api-world.ts';
import { BillingWorld, PAYMENT_EVENT, pageOf } from '../../../support/billing-world.ts';

let world: BillingWorld;
beforeEach(async () => {
  world = await BillingWorld.open();
});
afterEach(() => world.close());

describe('tiers', () => {
  test.each(['checkout', 'change-plan'])('%s takes pro and team and nothing else', async (path) => {
    for (const tier of ['free', 'gold', 'PRO', '', 5, null, undefined, ['pro'], {}]) {
      expect([tier, (await world.ask(path, { tier })).code]).toEqual([tier, 'invalid_tier']);
      await world.api.clock.advance(60_000);
    }
    for (const body of ['{', '[]', 'null']) {
      expect((await world.ask(path, body)).code).toBe('invalid_body');
      await world.api.clock.advance(60_000);
    }
    expect(world.provider.calls).toEqual([]);
  });
});

describe('checkout', () => {
  test('leads to the provider, and paying makes the plan', async () => {
    const answer = await world.ask('checkout', { tier: 'pro' });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json)).toEqual(['checkout_url']);
    expect(await world.summary()).toMatchObject({ tier: 'free', status: 'active' });
    const [session] = Object.values(world.provider.world.state.sessions);
    expect(session).toMatchObject({
      mode: 'subscription',
      success_url: 'https://mergeyard.example/billing?checkout=success',
      cancel_url: 'https://mergeyard.example/billing?checkout=cancel',
      client_reference_id: TENANT_A,
      subscriptionMetadata: { tenant_id: TENANT_A, tier: 'pro' },
      lines: [{ price: 'price_local_pro', quantity: 1 }],
    });
    world.provider.world.pay(session?.id ?? '', CARDS.good);
    await world.deliverAll();
    expect(await world.summary()).toMatchObject({ tier: 'pro', status: 'active' });
  });

  test('the addresses to come back to are never the client’s (D-57)', async () => {
    const evil = { success_url: 'https://evil.example', cancel_url: 'https://evil.example' };
    await world.ask('checkout', { tier: 'pro', ...evil });
    expect(JSON.stringify(world.provider.world.state.sessions)).not.toContain('evil');
  });

  test('asked for several times at once, there is one customer and one page that takes money', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => world.ask('checkout', { tier: 'team' })));
    const customers = Object.values(world.provider.world.state.customers);
    expect(customers).toHaveLength(1);
    expect(await world.stored()).toMatchObject({ customerId: customers[0]?.id, tier: 'free' });
    const paid = Object.keys(world.provider.world.state.sessions).filter(
      (id) => world.provider.world.pay(id, CARDS.good) === 'paid',
    );
    expect(paid).toHaveLength(1);
    const handedOut = answers.filter(({ status }) => status === 200).map(pageOf);
    expect(handedOut).toContain(paid[0]);
    for (const { code } of answers.filter(({ status }) => status !== 200))
      expect(code).toBe('billing_unavailable');
  });

  test('two pages after each other: the first one takes no money any more', async () => {
    const first = pageOf(await world.ask('checkout', { tier: 'pro' }));
    const second = pageOf(await world.ask('checkout', { tier: 'team' }));
    expect([first, second].map((id) => world.provider.world.pay(id, CARDS.good))).toEqual([
      'expired',
      'paid',
    ]);
    await world.deliverAll();
    expect(await world.summary()).toMatchObject({ tier: 'team', status: 'active' });
  });

  test('a page that was paid while its event is still under way: 409, and no second page', async () => {
    const first = pageOf(await world.ask('checkout', { tier: 'pro' }));
    world.provider.world.pay(first, CARDS.good);
    const answer = await world.ask('checkout', { tier: 'team' });
    expect([answer.status, answer.code, answer.json.error.portal]).toEqual([
      409,
      'subscription_exists',
      undefined,
    ]);
    expect(Object.keys(world.provider.world.state.sessions)).toEqual([first]);
    // The event may have been lost: https://docs.stripe.com/webhooks/process-undelivered-events.
    expect(await world.summary()).toMatchObject({ tier: 'pro', status: 'active' });
  });

  test.each(['active', 'trialing'])('with a subscription that is %s: 409', async (status) => {
    const id = await world.buy('pro');
    world.provider.world.setStatus(id, status);
    await world.deliverAll();
    const calls = world.provider.calls.length;
    const answer = await world.ask('checkout', { tier: 'team' });
    expect([answer.status, answer.code]).toEqual([409, 'subscription_exists']);
    expect(world.provider.calls.length).toBe(calls);
  });

  test('a page that is paid while another one is asked for: 409, and no second page', async () => {
    const first = pageOf(await world.ask('checkout', { tier: 'pro' }));
    world.provider.world.onExpire = () => world.provider.world.pay(first, CARDS.good);
    expect((await world.ask('checkout', { tier: 'pro' })).code).toBe('subscription_exists');
    expect(Object.keys(world.provider.world.state.subscriptions)).toHaveLength(1);
  });

  test.each(['past_due', 'unpaid', 'incomplete', 'paused', 'canceled', 'incomplete_expired'])(
    'with one that is %s it is open again',
    async (status) => {
      const id = await world.buy('pro');
      if (status === 'canceled') world.provider.world.cancel(id);
      else world.provider.world.setStatus(id, status);
      await world.deliverAll();
      expect((await world.ask('checkout', { tier: 'pro' })).status).toBe(200);
    },
  );

  test.each(['loadBilling', 'saveBilling', 'createTenant'])(
    '%s fails: 503, and no session is made',
    async (label) => {
      world.failStore(label);
      expect((await world.ask('checkout', { tier: 'pro' })).code).toBe('billing_unavailable');
      world.healStore();
      expect(world.provider.world.state.sessions).toEqual({});
      await world.buy('pro');
      expect(Object.keys(world.provider.world.state.customers)).toHaveLength(1);
    },
  );

  test.each(['silent', 'failing', 'garbage', 'refusing'] as const)('provider %s: 502', async (behaviour) => {
    world.beSilent(behaviour);
    const answer = await world.ask('checkout', { tier: 'pro' });
    expect([answer.status, answer.code, answer.json.error.retryable]).toEqual([502, 'payments_error', true]);
    expect(answer.text).not.toContain('canary');
    expect(await world.stored()).toBeNull();
  });

  test('eleven a minute are too many', async () => {
    const answers = await Promise.all(
      Array.from({ length: 11 }, () => world.ask('checkout', { tier: 'pro' })),
    );
    expect(answers.filter((answer) => answer.code === 'rate_limited')).toHaveLength(1);
  });
});

/**
 * https://docs.stripe.com/api/customers/delete: "prevents any further operations to be performed (such as adding a new
 * subscription)".
 */
describe('a customer that was deleted at the provider', () => {
  const givenDeleted = async (): Promise<string> => {
    await world.buy('pro');
    const customerId = (await world.stored())?.customerId ?? '';
    deleteCustomer(world.provider.world, customerId);
    await world.deliverAll();
    expect(await world.summary()).toMatchObject({ tier: 'free', status: 'canceled' });
    return customerId;
  };

  /** As an event does that was followed while the customer was replaced. */
  const storeLookUp = async (customerId: string): Promise<void> => {
    const { store } = world.api;
    const stored = await store.loadBilling(TENANT_A);
    if (stored === null) throw new Error('nothing is stored');
    const { version, ...account } = stored;
    await store.saveBilling(TENANT_A, { ...account, customerId }, version, null);
    await store.saveBilling(TENANT_A, account, version + 1, null);
    expect(await store.findCustomerTenant(customerId)).toBe(TENANT_A);
  };

  test('buys again as another one, also within the hour in which the first was made', async () => {
    const before = await givenDeleted();
    await world.buy('team');
    expect(await world.summary()).toMatchObject({ tier: 'team', status: 'active' });
    expect((await world.stored())?.customerId).not.toBe(before);
    expect(await world.api.store.findCustomerTenant(before)).toBeNull();
  });

  test('says nothing of the plan that its successor has', async () => {
    const before = await givenDeleted();
    const late = world.provider.events.findLast(({ type }) => type === 'customer.subscription.deleted');
    if (late === undefined) throw new Error('no subscription ended');
    await world.buy('team');
    for (const isKnown of [false, true]) {
      if (isKnown) await storeLookUp(before);
      expect((await world.deliver({ ...late, id: `evt_late_${isKnown}` })).status).toBe(200);
      expect(await world.summary()).toMatchObject({ tier: 'team', status: 'active' });
    }
  });
});

describe('portal', () => {
  test('leads to the provider’s page of this customer, also while nothing is paid', async () => {
    const id = await world.buy('pro');
    world.provider.world.setStatus(id, 'past_due');
    await world.deliverAll();
    const answer = await world.ask('portal');
    expect([answer.status, Object.keys(answer.json)]).toEqual([200, ['portal_url']]);
    const [portal] = Object.values(world.provider.world.state.portals);
    expect(portal).toMatchObject({
      customer: (await world.stored())?.customerId,
      url: answer.json.portal_url,
      return_url: 'https://mergeyard.example/billing',
    });
  });

  /** https://docs.stripe.com/webhooks/process-undelivered-events: the provider gives up after three days. */
  test('makes up for an event that was lost', async () => {
    const id = await world.buy('pro');
    world.provider.world.setStatus(id, 'past_due');
    await world.deliverAll();
    world.provider.world.setStatus(id, 'active');
    expect(await world.summary()).toMatchObject({ status: 'past_due' });
    expect((await world.ask('portal')).status).toBe(200);
    expect(await world.summary()).toMatchObject({ status: 'active' });
  });

  test('takes no plan away that was given by hand', async () => {
    world.provider.world.cancel(await world.buy('pro'));
    await world.deliverAll();
    await world.api.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
    expect((await world.ask('portal')).status).toBe(200);
    expect(await world.summary()).toMatchObject({ tier: 'team', status: 'active' });
  });

  test('without a customer: 409 with the way to checkout (D-58)', async () => {
    const answer = await world.ask('portal');
    expect([answer.status, answer.code, answer.json.error.checkout]).toEqual([
      409,
      'no_active_subscription',
      '/api/v1/billing/checkout',
    ]);
    expect(world.provider.calls).toEqual([]);
  });

  test('provider or store away: 502', async () => {
    await world.buy('pro');
    world.provider.behave('failing');
    expect((await world.ask('portal')).code).toBe('payments_error');
    world.provider.behave('normal');
    world.failStore('loadBilling');
    expect((await world.ask('portal')).code).toBe('payments_error');
  });
});

describe('a deployment that sells nothing (A109)', () => {
  test('says so, without a call to the provider', async () => {
    const { provider } = world;
    world.api.payments = null;
    const { code: checkout } = await world.ask('checkout', { tier: 'pro' });
    const { code: portal } = await world.ask('portal');
    expect([checkout, portal]).toEqual(['payments_not_configured', 'payments_not_configured']);
    await world.api.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('payments_not_configured');
    expect((await world.ask('change-plan', { tier: 'pro' })).code).toBe('already_on_tier');
    const event = { ...PAYMENT_EVENT, data: { object: {} } };
    expect(await world.deliver(event)).toMatchObject({ status: 401, code: 'invalid_signature' });
    expect(provider.calls).toEqual([]);
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
  });
});
