import { parsePaymentEvent } from '#core/contracts/webhooks/payment-event.ts';
import { PAYMENT_SIGNATURE_HEADER, signPaymentEvent } from '#core/contracts/webhooks/payment-signature.ts';
import { PAID_TIERS, PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { PLAN_PRICE_KEPT_MS, PLAN_PRICE_RETRY_MS } from '#core/domain/tenants/plan-price.ts';
import { type OpenPayments, PaymentsError } from '#core/ports/payments.ts';
import { StoreError } from '#core/ports/store.ts';
import { Secret } from '#core/secret.ts';
import { acceptPaymentEvent } from '#core/services/billing/accept-payment-event.ts';
import { type Behaviour, LOCAL_PAYMENTS } from '../../../local/payments/provider.ts';
import { CARDS } from '../../../local/payments/world.ts';
import { TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';
import { BillingWorld } from '../../support/billing-world.ts';

let world: BillingWorld;
beforeEach(async () => {
  world = await BillingWorld.open();
});
afterEach(() => world.close());

const failStore = (...labels: readonly string[]): void => {
  world.api.store.beforeCall = (label) => {
    if (labels.includes(label)) throw new StoreError('unavailable', label);
  };
};
/** Tests do not wait long for a silent one. */
const beSilent = (behaviour: Behaviour): void => {
  if (behaviour === 'silent') world.timeoutMs = 150;
  world.provider.behave(behaviour);
};
/** A subscription of a customer, as a person makes one at the provider's console. */
const buyAtConsole = (customer: string, subscriptionMetadata: Readonly<Record<string, string>>): void => {
  const { world: provider } = world.provider;
  const { id } = provider.createCheckout({
    customer,
    mode: 'subscription',
    lines: [{ price: 'price_local_team', quantity: 1 }],
    successUrl: '',
    cancelUrl: '',
    reference: null,
    subscriptionMetadata,
  });
  provider.pay(id, CARDS.good);
};
const healStore = (): void => {
  world.api.store.beforeCall = null;
};

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
    failStore(label);
    const answer = await world.ask('me', undefined, 'GET');
    expect([answer.status, answer.code, answer.json.error.retryable]).toEqual([
      503,
      'billing_unavailable',
      true,
    ]);
  });
});

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

const pageOf = (answer: { readonly json: { readonly checkout_url: string } }): string =>
  answer.json.checkout_url.split('/').at(-1) ?? '';

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
      failStore(label);
      expect((await world.ask('checkout', { tier: 'pro' })).code).toBe('billing_unavailable');
      healStore();
      expect(world.provider.world.state.sessions).toEqual({});
      await world.buy('pro');
      expect(Object.keys(world.provider.world.state.customers)).toHaveLength(1);
    },
  );

  test.each(['silent', 'failing', 'garbage', 'refusing'] as const)('provider %s: 502', async (behaviour) => {
    beSilent(behaviour);
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

describe('change of plan', () => {
  test('every item moves to its price on the target, and the tier is stored at once (A110)', async () => {
    const id = await world.buy('pro');
    const answer = await world.ask('change-plan', { tier: 'team' });
    expect([answer.status, answer.json]).toEqual([200, { tier: 'team' }]);
    expect(await world.summary()).toMatchObject({ tier: 'team', status: 'active' });
    const moved = world.provider.world.subscription(id);
    expect(moved.items.data.map((item) => item.price.id)).toEqual(['price_local_team']);
    expect(moved.metadata).toEqual({ tenant_id: TENANT_A, tier: 'team' });
    const before = await world.stored();
    await world.deliverAll();
    expect(await world.stored()).toMatchObject({ tier: 'team', status: 'active' });
    expect((await world.stored())?.version).toBeGreaterThan(before?.version ?? 0);
    expect((await world.ask('change-plan', { tier: 'pro' })).json).toEqual({ tier: 'pro' });
    expect(world.provider.world.subscription(id).items.data[0]?.price.id).toBe('price_local_pro');
  });

  test('to the tier it is on: 400', async () => {
    await world.buy('team');
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('already_on_tier');
  });

  test.each(['never bought', 'given by hand', 'cancelled', 'cancelled and not told'])(
    '%s: 409 with the way to checkout',
    async (story) => {
      if (story === 'given by hand') {
        await world.api.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
      } else if (story !== 'never bought') world.provider.world.cancel(await world.buy('pro'));
      if (story === 'cancelled') await world.deliverAll();
      const answer = await world.ask('change-plan', { tier: 'team' });
      expect([answer.status, answer.code, answer.json.error.checkout]).toEqual([
        409,
        'no_active_subscription',
        '/api/v1/billing/checkout',
      ]);
    },
  );

  test('one whose first payment is open cannot be changed', async () => {
    world.provider.world.setStatus(await world.buy('pro'), 'incomplete');
    await world.deliverAll();
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('no_active_subscription');
  });

  test('items that are no tier’s: 409 with the way to the portal, and nothing is moved', async () => {
    const id = await world.buy('pro');
    world.provider.world.addItem(id, 'price_local_pro');
    const before = structuredClone(world.provider.world.subscription(id));
    const answer = await world.ask('change-plan', { tier: 'team' });
    expect([answer.status, answer.code, answer.json.error.portal]).toEqual([
      409,
      'subscription_state_mismatch',
      '/api/v1/billing/portal',
    ]);
    expect(world.provider.world.subscription(id)).toEqual(before);
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
  });

  test('a declined charge: 502, and both sides stay as they were', async () => {
    const id = await world.buy('pro', CARDS.failsLater);
    const answer = await world.ask('change-plan', { tier: 'team' });
    expect([answer.status, answer.code]).toEqual([502, 'payments_error']);
    expect(await world.summary()).toMatchObject({ tier: 'pro', status: 'active' });
    expect(world.provider.world.subscription(id).items.data[0]?.price.id).toBe('price_local_pro');
    expect(world.api.lines.join()).toContain('declined');
  });

  test.each(['silent', 'failing', 'garbage', 'refusing'] as const)('provider %s: 502', async (behaviour) => {
    await world.buy('pro');
    beSilent(behaviour);
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('payments_error');
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
  });

  test('accepted but not stored: 500, and the next request stores it without another move', async () => {
    await world.buy('pro');
    failStore('saveBilling');
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('db_error');
    healStore();
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
    const moves = () => world.provider.calls.filter((call) => call.startsWith('POST /v1/subscriptions/'));
    expect(moves()).toHaveLength(1);
    expect((await world.ask('change-plan', { tier: 'team' })).json).toEqual({ tier: 'team' });
    expect(moves()).toHaveLength(1);
    expect(await world.summary()).toMatchObject({ tier: 'team' });
  });

  test('an event that is stored in between does not win over what came after it', async () => {
    const id = await world.buy('pro');
    world.provider.world.setMetadata(id, { tenant_id: TENANT_A, tier: 'pro' });
    const [event] = world.pending();
    let done = false;
    world.api.store.beforeCall = async (label) => {
      if (label !== 'saveBilling' || done || event === undefined) return;
      done = true;
      // Between the provider's yes and our write: the event is followed, and the row's version moves on.
      await world.deliver(event);
    };
    expect((await world.ask('change-plan', { tier: 'team' })).status).toBe(200);
    expect(done).toBe(true);
    expect(await world.summary()).toMatchObject({ tier: 'team' });
  });

  test('unreadable: 503, and the provider is not asked', async () => {
    await world.buy('pro');
    const calls = world.provider.calls.length;
    failStore('loadBilling');
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('billing_unavailable');
    expect(world.provider.calls.length).toBe(calls);
  });

  test('is noted in the audit log', async () => {
    await world.buy('pro');
    await world.ask('change-plan', { tier: 'team' });
    expect(await world.api.store.listAudit(TENANT_A, 5)).toMatchObject([
      { action: 'billing.change_plan', target: 'team', actor: TENANT_A },
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
    failStore('loadBilling');
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
    const event = { ...EVENT, data: { object: {} } };
    expect(await world.deliver(event)).toMatchObject({ status: 401, code: 'invalid_signature' });
    expect(provider.calls).toEqual([]);
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
  });
});

const EVENT = {
  id: 'evt_x',
  object: 'event' as const,
  api_version: 'x',
  created: 1,
  type: 'customer.subscription.updated',
};

describe('the payment webhook', () => {
  test('200 says received and nothing else; an unknown type and a stranger too (D-60)', async () => {
    await world.buy('pro');
    const known = world.provider.events.at(-1);
    const stranger = { customer: 'cus_else', metadata: {}, id: 'sub_9' };
    for (const event of [
      { ...EVENT, id: 'evt_1', type: 'charge.refunded', data: { object: {} } },
      { ...EVENT, id: 'evt_2', data: { object: stranger } },
      { ...EVENT, id: 'evt_3', data: { object: {} } },
      ...(known === undefined ? [] : [known, known]),
    ]) {
      const answer = await world.deliver(event);
      expect([answer.status, answer.text]).toEqual([200, '{"received":true}']);
    }
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['no header', {}],
    ['a wrong one', { 'stripe-signature': `t=1767225600,v1=${'0'.repeat(64)}` }],
    ['the forge’s', { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }],
  ])('%s: 401, and the parser is not called (A104)', async (_name, headers) => {
    const calls: string[] = [];
    world.api.store.beforeCall = (label) => {
      calls.push(label);
    };
    const body = JSON.stringify({ ...EVENT, data: { object: {} } });
    const answer = await world.api.call('POST', '/api/v1/payments/webhook', { headers, body });
    expect([answer.status, answer.code]).toEqual([401, 'invalid_signature']);
    expect([calls, world.provider.calls]).toEqual([[], []]);
  });

  test('unverifiable bytes never reach the parser; verified ones do once', async () => {
    const parsed: number[] = [];
    const deps = {
      store: { ...NO_STORE },
      clock: world.api.clock,
      prices: null,
      openReader: async () => null,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      readSigningSecret: async () => new Secret<string>(LOCAL_PAYMENTS.signingSecret),
      parse: (bytes: Uint8Array) => {
        parsed.push(bytes.length);
        return parsePaymentEvent(bytes);
      },
    };
    const event = { ...EVENT, type: 'charge.refunded', data: { object: {} } };
    const { headers, body } = world.provider.deliveries.wrap(event);
    const request = (bytes: Uint8Array) =>
      acceptPaymentEvent(deps, { body: bytes, signature: headers['stripe-signature'] });
    for (const bytes of [Buffer.from(`${body} `), Buffer.alloc(0), Buffer.alloc(1024 * 1024 + 1, 32)]) {
      await expect(request(bytes)).rejects.toMatchObject({ code: 'invalid_signature' });
    }
    expect(parsed).toEqual([]);
    expect(await request(Buffer.from(body))).toBe('ignored');
    expect(parsed).toEqual([body.length]);
    await world.api.clock.advance(301_000);
    await expect(request(Buffer.from(body))).rejects.toMatchObject({ code: 'invalid_signature' });
    expect(parsed).toHaveLength(1);
    const unreadable = { ...deps, readSigningSecret: () => Promise.reject(new Error('canary')) };
    await expect(
      acceptPaymentEvent(unreadable, { body: Buffer.from(body), signature: headers['stripe-signature'] }),
    ).rejects.toMatchObject({ code: 'invalid_signature' });
  });

  test.each([
    [299, 200],
    [300, 200],
    [301, 401],
  ])('%i s late: %i', async (seconds, status) => {
    await world.buy('pro');
    const event = world.provider.events.at(-1);
    if (event === undefined) throw new Error('nothing happened');
    const { headers, body } = world.provider.deliveries.wrap(event);
    await world.api.clock.advance(seconds * 1000);
    const answer = await world.api.call('POST', '/api/v1/payments/webhook', { headers, body });
    expect(answer.status).toBe(status);
  });

  test('verified but not JSON: 400', async () => {
    for (const text of ['{', 'null', '[]', '{"id":"evt_1"}']) {
      const secret = new Secret<string>(LOCAL_PAYMENTS.signingSecret);
      const signature = signPaymentEvent(secret, Buffer.from(text), world.api.clock.now());
      const headers = { [PAYMENT_SIGNATURE_HEADER]: signature };
      const answer = await world.api.call('POST', '/api/v1/payments/webhook', { headers, body: text });
      expect([answer.status, answer.code]).toEqual([400, 'invalid_body']);
    }
  });

  test('a replayed event has no second effect, also while the provider says something else by now', async () => {
    const id = await world.buy('pro');
    world.provider.world.setStatus(id, 'past_due');
    const [event] = world.pending();
    if (event === undefined) throw new Error('nothing happened');
    await world.deliver(event);
    const stored = await world.stored();
    world.provider.world.setStatus(id, 'active');
    await world.deliver(event);
    expect(await world.stored()).toEqual(stored);
    await world.deliverAll();
    expect(await world.summary()).toMatchObject({ status: 'active' });
  });

  test.each(['isEventTaken', 'findCustomerTenant', 'loadBilling', 'saveBilling'])(
    '%s fails: 500, so that it is sent again, and then it works',
    async (label) => {
      const id = await world.buy('pro');
      world.provider.world.cancel(id);
      const [event] = world.pending();
      if (event === undefined) throw new Error('nothing happened');
      failStore(label);
      const answer = await world.deliver(event);
      expect([answer.status, answer.code]).toEqual([500, 'db_error']);
      healStore();
      expect(await world.summary()).toMatchObject({ tier: 'pro' });
      expect((await world.deliver(event)).status).toBe(200);
      expect(await world.summary()).toMatchObject({ tier: 'free', status: 'canceled' });
    },
  );

  test.each(['silent', 'failing', 'garbage', 'refusing'] as const)(
    'the provider is %s when asked back: 500, nothing changes, no hold appears',
    async (behaviour) => {
      const id = await world.buy('pro');
      world.provider.world.cancel(id);
      const [event] = world.pending();
      if (event === undefined) throw new Error('nothing happened');
      beSilent(behaviour);
      expect((await world.deliver(event)).code).toBe('db_error');
      expect(await world.summary()).toMatchObject({ tier: 'pro', entitled_tier: 'pro' });
      world.timeoutMs = 10_000;
      world.provider.behave('normal');
      expect((await world.deliver(event)).status).toBe(200);
      expect(await world.summary()).toMatchObject({ tier: 'free' });
    },
  );

  test('the price decides over the note in the metadata, and the log says so (D-59)', async () => {
    const id = await world.buy('pro');
    world.provider.world.setMetadata(id, { tenant_id: TENANT_A, tier: 'team' });
    await world.deliverAll();
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
    expect(world.api.lines.join()).toContain('prices_against_metadata');
  });

  test('a subscription that a person makes by hand finds its tenant by the note, once', async () => {
    const { provider, api } = world;
    await api.store.createTenant(TENANT_B, 1);
    const customer = provider.world.createCustomer({}).id;
    const wish = {
      customer,
      mode: 'subscription',
      lines: [{ price: 'price_local_team', quantity: 1 }],
      successUrl: 'https://x.example',
      cancelUrl: '',
      reference: null,
      subscriptionMetadata: { tenant_id: TENANT_B },
    };
    provider.world.pay(provider.world.createCheckout(wish).id, CARDS.good);
    await world.deliverAll();
    const summary = (await api.as(TOKEN_B)('GET', '/api/v1/billing/me')).json;
    expect(summary).toMatchObject({ tier: 'team', status: 'active' });
    const other = provider.world.createCustomer({}).id;
    provider.world.pay(provider.world.createCheckout({ ...wish, customer: other }).id, CARDS.good);
    await world.deliverAll();
    expect(await api.store.loadBilling(TENANT_B)).toMatchObject({ customerId: customer });
  });

  test('a second living subscription of a customer is told to an operator, and the one that entitles counts', async () => {
    const first = await world.buy('pro');
    expect(world.api.lines.join()).not.toContain('two living subscriptions');
    const customer = (await world.stored())?.customerId ?? '';
    buyAtConsole(customer, {});
    world.provider.world.setStatus(first, 'past_due');
    await world.deliverAll();
    expect(await world.summary()).toMatchObject({ tier: 'team', status: 'active' });
    const line = world.api.lines.find((each) => JSON.stringify(each).includes('two living subscriptions'));
    expect(JSON.stringify(line)).toContain(first);
    expect(JSON.stringify(line)).toContain(TENANT_A);
  });

  test('an event after the offboarding brings nothing back (D-62)', async () => {
    const id = await world.buy('pro');
    expect(
      (await world.api.as(TOKEN_A)('POST', '/api/v1/tenant/offboard', { confirm: TENANT_A })).status,
    ).toBe(200);
    world.provider.world.renew(id);
    await world.deliverAll();
    expect(await world.stored()).toBeNull();
    expect(await world.api.store.loadTenant(TENANT_A)).toBeNull();
  });

  test('that a subscription ended with its tenant is no alarm; one that is made for it afterwards is', async () => {
    await world.buy('pro');
    const customer = (await world.stored())?.customerId ?? '';
    await world.api.as(TOKEN_A)('POST', '/api/v1/tenant/offboard', { confirm: TENANT_A });
    await world.deliverAll();
    expect(world.api.lines.join()).not.toContain('a subscription outlives its tenant');
    buyAtConsole(customer, { tenant_id: TENANT_A });
    await world.deliverAll();
    expect(world.api.lines.join()).toContain('a subscription outlives its tenant');
  });

  test('a failed invoice is told to the tenant, once per invoice; the plan does not entitle', async () => {
    const id = await world.buy('team', CARDS.failsLater);
    world.provider.world.renew(id);
    const events = world.pending();
    for (const event of [...events, ...events]) await world.deliver(event);
    expect(await world.summary()).toMatchObject({ entitled_tier: 'free', status: 'past_due' });
    expect(world.api.notices).toEqual([
      { kind: 'invoice_failed', tenantId: TENANT_A, subject: expect.stringMatching(/^in_/), email: null },
    ]);
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
    failStore('loadPlan');
    expect(await holds()).toEqual([]);
    expect(await enroll(connection.id, 'acme/more')).toMatchObject({
      status: 503,
      code: 'billing_unavailable',
    });
  });
});

describe('offboarding ends what is paid for, first (contract, Account)', () => {
  const offboard = () => world.api.as(TOKEN_A)('POST', '/api/v1/tenant/offboard', { confirm: TENANT_A });
  const statusOf = (id: string) => world.provider.world.subscription(id).status;

  test('the subscription is cancelled at the provider, then everything goes', async () => {
    const { repo } = await world.api.enroll(TENANT_A);
    const id = await world.buy('pro');
    let atDeletion: string | null = null;
    world.api.store.beforeCall = (label) => {
      if (label === 'markTenantDeleting') atDeletion = statusOf(id);
    };
    expect(await offboard()).toMatchObject({ status: 200, json: { deleted: { billing: 1 } } });
    world.api.store.beforeCall = null;
    expect([atDeletion, statusOf(id)]).toEqual(['canceled', 'canceled']);
    expect(await world.api.store.getRepo(repo.id)).toBeNull();
    // Later events about it find no tenant.
    await world.deliverAll();
    expect(await world.stored()).toBeNull();
  });

  test('one that is unpaid as well', async () => {
    const id = await world.buy('team');
    world.provider.world.setStatus(id, 'past_due');
    expect((await offboard()).status).toBe(200);
    expect(statusOf(id)).toBe('canceled');
  });

  test.each(['silent', 'failing', 'garbage', 'refusing'] as const)(
    'a provider that is %s leaves everything as it was, with its error',
    async (behaviour) => {
      const { repo, connection } = await world.api.enroll(TENANT_A);
      const id = await world.buy('pro');
      const before = await world.stored();
      beSilent(behaviour);
      const answer = await offboard();
      expect([answer.status, answer.code]).toEqual([502, 'payments_error']);
      world.timeoutMs = 10_000;
      world.provider.behave('normal');
      expect(statusOf(id)).toBe('active');
      expect(await world.stored()).toEqual(before);
      expect(await world.api.store.getRepo(repo.id)).toEqual(repo);
      expect(await world.api.store.getConnection(TENANT_A, connection.id)).toEqual(connection);
      expect(await world.api.store.loadTenant(TENANT_A)).toMatchObject({ deleting: false });
      expect((await offboard()).status).toBe(200);
      expect(statusOf(id)).toBe('canceled');
    },
  );

  test('an answer that is lost is asked for again, and finds it done', async () => {
    const id = await world.buy('pro');
    let cancelled = 0;
    const open = world.api.payments?.openPayments;
    if (world.api.payments === null || open === undefined) throw new Error('nothing is sold');
    (world.api.payments as { openPayments: OpenPayments }).openPayments = async () => {
      const payments = await open();
      return payments === null
        ? null
        : {
            ...payments,
            cancelSubscription: async (...given) => {
              cancelled += 1;
              await payments.cancelSubscription(...given);
              if (cancelled === 1) throw new PaymentsError('unreachable', 'cancelSubscription', null);
            },
          };
    };
    expect((await offboard()).code).toBe('payments_error');
    expect(statusOf(id)).toBe('canceled');
    expect(await world.stored()).not.toBeNull();
    expect((await offboard()).status).toBe(200);
  });

  test('a deployment that has switched payments off does not forget a tenant that is still charged', async () => {
    await world.buy('pro');
    if (world.api.payments === null) throw new Error('nothing is sold');
    (world.api.payments as { openPayments: OpenPayments }).openPayments = async () => null;
    expect(await offboard()).toMatchObject({ status: 503, code: 'payments_not_configured' });
    expect(await world.stored()).not.toBeNull();
  });

  test('a page of the provider that was opened before takes no money afterwards', async () => {
    const opened = [
      await world.ask('checkout', { tier: 'pro' }),
      await world.ask('checkout', { tier: 'team' }),
    ];
    expect((await offboard()).status).toBe(200);
    for (const each of opened) {
      expect(world.provider.world.pay(pageOf(each), CARDS.good)).toBe('expired');
    }
    expect(world.provider.world.state.subscriptions).toEqual({});
  });

  test('one that is paid while it is being closed: what was bought is cancelled', async () => {
    const page = pageOf(await world.ask('checkout', { tier: 'pro' }));
    world.provider.world.onExpire = () => world.provider.world.pay(page, CARDS.good);
    expect((await offboard()).status).toBe(200);
    expect(Object.values(world.provider.world.state.subscriptions).map(({ status }) => status)).toEqual([
      'canceled',
    ]);
  });

  test('one that is opened while the account goes is not handed out', async () => {
    await world.ask('checkout', { tier: 'pro' });
    const { payments } = world.api;
    if (payments === null) throw new Error('nothing is sold');
    const { openPayments } = payments;
    let left: Promise<unknown> | null = null;
    (payments as { openPayments: OpenPayments }).openPayments = async () => {
      const provider = await openPayments();
      return provider === null
        ? null
        : {
            ...provider,
            openCheckout: async (...given) => {
              left = offboard();
              await left;
              return provider.openCheckout(...given);
            },
          };
    };
    const answer = await world.ask('checkout', { tier: 'pro' });
    expect(await left).toMatchObject({ status: 200 });
    expect([answer.status, answer.code]).toEqual([503, 'billing_unavailable']);
    expect(answer.text).not.toContain('/c/pay/');
  });

  test('a tenant that never bought anything needs no provider', async () => {
    await world.api.enroll(TENANT_A);
    world.provider.behave('failing');
    const { calls } = world.provider;
    expect((await offboard()).status).toBe(200);
    expect(calls).toEqual([]);
  });
});

/** A store that must not be asked. */
const NO_STORE = {
  loadBilling: () => Promise.reject(new Error('asked')),
  findCustomerTenant: () => Promise.reject(new Error('asked')),
  saveBilling: () => Promise.reject(new Error('asked')),
  isEventTaken: () => Promise.reject(new Error('asked')),
  requestNotice: () => Promise.reject(new Error('asked')),
};
