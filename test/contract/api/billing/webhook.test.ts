import { parsePaymentEvent } from '#core/contracts/webhooks/payment-event.ts';
import { PAYMENT_SIGNATURE_HEADER, signPaymentEvent } from '#core/contracts/webhooks/payment-signature.ts';
import { Secret } from '#core/secret.ts';
import { acceptPaymentEvent } from '#core/services/billing/accept-payment-event.ts';
import { LOCAL_PAYMENTS } from '../../../../local/payments/provider.ts';
import { CARDS } from '../../../../local/payments/world.ts';
import { TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../../support/api-world.ts';
import { BillingWorld, PAYMENT_EVENT } from '../../../support/billing-world.ts';

let world: BillingWorld;
beforeEach(async () => {
  world = await BillingWorld.open();
});
afterEach(() => world.close());

describe('the payment webhook', () => {
  test('200 says received and nothing else; an unknown type and a stranger too (D-60)', async () => {
    await world.buy('pro');
    const known = world.provider.events.at(-1);
    const stranger = { customer: 'cus_else', metadata: {}, id: 'sub_9' };
    for (const event of [
      { ...PAYMENT_EVENT, id: 'evt_1', type: 'charge.refunded', data: { object: {} } },
      { ...PAYMENT_EVENT, id: 'evt_2', data: { object: stranger } },
      { ...PAYMENT_EVENT, id: 'evt_3', data: { object: {} } },
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
    const body = JSON.stringify({ ...PAYMENT_EVENT, data: { object: {} } });
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
    const event = { ...PAYMENT_EVENT, type: 'charge.refunded', data: { object: {} } };
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
  ])('a signature from %i s ago is %i (A104)', async (seconds, status) => {
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
      world.failStore(label);
      const answer = await world.deliver(event);
      expect([answer.status, answer.code]).toEqual([500, 'db_error']);
      world.healStore();
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
      world.beSilent(behaviour);
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
    world.buyAtConsole(customer, {});
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
    world.buyAtConsole(customer, { tenant_id: TENANT_A });
    await world.deliverAll();
    expect(world.api.lines.join()).toContain('a subscription outlives its tenant');
  });

  /** https://docs.stripe.com/api/events/types#event_types-invoice.payment_failed: any invoice of the customer. */
  test('a failed invoice that stops no plan is not told as one that does', async () => {
    await world.buy('pro');
    const customer = (await world.stored())?.customerId;
    const invoice = { id: 'in_by_hand', customer, customer_email: null, parent: null };
    const event = { ...PAYMENT_EVENT, type: 'invoice.payment_failed', data: { object: invoice } };
    expect((await world.deliver(event)).status).toBe(200);
    expect(await world.summary()).toMatchObject({ tier: 'pro', status: 'active' });
    expect(world.api.notices).toEqual([]);
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

/** A store that must not be asked. */
const NO_STORE = {
  loadBilling: () => Promise.reject(new Error('asked')),
  findCustomerTenant: () => Promise.reject(new Error('asked')),
  saveBilling: () => Promise.reject(new Error('asked')),
  isEventTaken: () => Promise.reject(new Error('asked')),
  requestNotice: () => Promise.reject(new Error('asked')),
};
