import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSubscriptionReader } from '#core/adapters/payments-http/list-subscriptions.ts';
import { createPaymentsOpener } from '#core/adapters/payments-http/open-payments.ts';
import { createPayments, type PaymentsConfig } from '#core/adapters/payments-http/payments.ts';
import { parsePriceBook } from '#core/contracts/tenants/billing-config.ts';
import { HOUR_MS } from '#core/domain/api-limits.ts';
import type { PriceBook } from '#core/domain/tenants/subscription.ts';
import { Secret } from '#core/secret.ts';
import {
  type Behaviour,
  LOCAL_PAYMENTS,
  type LocalPayments,
  startLocalPayments,
} from '../../../local/payments/provider.ts';
import { CARDS } from '../../../local/payments/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { describePayments, kindOf, type PaymentsSubject } from './payments.suite.ts';

const CATALOGUE = {
  price_pro: { nickname: 'Pro', amount: 2_900 },
  price_pro_repos: { nickname: 'Pro, more repositories', amount: 100 },
  price_team: { nickname: 'Team', amount: 9_900 },
  price_team_repos: { nickname: 'Team, more repositories', amount: 80 },
};
const PRICES =
  'pro.flat=price_pro,pro.repos=price_pro_repos,team.flat=price_team,team.repos=price_team_repos';
const KEY = new Secret<string>(LOCAL_PAYMENTS.key);
const READ_KEY = new Secret<string>(LOCAL_PAYMENTS.readKey);
const clock = new VirtualClock();

function bookOf(text: string): PriceBook {
  const parsed = parsePriceBook(text);
  if (!parsed.ok || parsed.value === null) throw new Error('not a price book');
  return parsed.value;
}

async function openStandIn(): Promise<PaymentsSubject> {
  const provider = await startLocalPayments({ catalogue: CATALOGUE });
  const { world } = provider;
  return {
    payments: createPayments({ apiUrl: provider.url, key: KEY, clock }),
    reader: createSubscriptionReader({ apiUrl: provider.url, key: READ_KEY, clock }),
    prices: bookOf(PRICES),
    state: {
      pay: async (url) => {
        const body = new URLSearchParams({ act: 'pay', card: CARDS.good });
        const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' });
        expect(answer.status).toBe(303);
      },
      breakCard: (customerId) => {
        world.replaceCard(customerId, CARDS.failsLater);
      },
      cancel: (id) => {
        world.cancel(id);
      },
      customers: () => Object.keys(world.state.customers).length,
      paid: (customerId) =>
        Object.values(world.state.invoices)
          .filter(({ customer, status }) => customer === customerId && status === 'paid')
          .reduce((sum, { amount_due }) => sum + amount_due, 0),
    },
    close: provider.stop,
  };
}

/** Such as the provider's own mock, which checks every request against its published description. */
function openExternal(apiUrl: string): Promise<PaymentsSubject> {
  const key = new Secret(process.env.STRIPE_API_KEY ?? 'sk_test_123');
  return Promise.resolve({
    payments: createPayments({ apiUrl, key, clock }),
    reader: createSubscriptionReader({ apiUrl, key, clock }),
    prices: bookOf(PRICES),
    state: null,
    close: async () => {},
  });
}

const external = process.env.STRIPE_API_BASE;
if (external === undefined) describePayments('the stand-in', openStandIn, { remembers: true });
else describePayments(`the API at ${external}`, () => openExternal(external), { remembers: false });

describe('a provider in trouble', () => {
  let provider: LocalPayments;
  let config: PaymentsConfig;
  let customerId: string;
  beforeAll(async () => {
    provider = await startLocalPayments();
    config = { apiUrl: provider.url, key: KEY, clock, timeoutMs: 150, repeatsMax: 0 };
    customerId = provider.world.createCustomer({}).id;
  });
  afterEach(() => provider.behave('normal'));
  afterAll(() => provider.stop());

  test.each<[Behaviour, string]>([
    ['silent', 'unreachable'],
    ['failing', 'unreachable'],
    ['garbage', 'unreachable'],
    ['refusing', 'rejected'],
  ])('%s: both ways of asking say %s, and nothing of its words', async (behaviour, kind) => {
    provider.behave(behaviour);
    const payments = createPayments(config);
    const calls = [
      () => payments.createCustomer(randomUUID(), null),
      () => payments.openPortal(customerId, 'https://x.example', randomUUID()),
      () => payments.closeCheckouts(customerId, randomUUID()),
      () => payments.listSubscriptions(customerId),
      () => createSubscriptionReader({ ...config, key: READ_KEY }).listSubscriptions(customerId),
    ];
    for (const call of calls) {
      expect(await kindOf(call())).toBe(kind);
      const error: unknown = await call().catch((thrown: unknown) => thrown);
      expect(JSON.stringify(error) + String(error)).not.toMatch(/canary|local_writes/);
    }
  });

  test('gone: unreachable', async () => {
    const silent = createPayments({ ...config, apiUrl: 'http://127.0.0.1:9' });
    expect(await kindOf(silent.createCustomer(randomUUID(), null))).toBe('unreachable');
    expect(await kindOf(silent.listSubscriptions('cus_1'))).toBe('unreachable');
  });

  test('a wrong key is rejected; the reading key writes nothing', async () => {
    const wrong = createPayments({ ...config, key: new Secret('sk_test_wrong') });
    expect(await kindOf(wrong.createCustomer(randomUUID(), null))).toBe('rejected');
    const reading = createPayments({ ...config, key: READ_KEY });
    expect(await kindOf(reading.createCustomer(randomUUID(), null))).toBe('rejected');
    expect(await kindOf(reading.listSubscriptions(customerId))).toBe('none');
  });

  /** https://docs.stripe.com/api/idempotent_requests: the first answer under a key is repeated for a day, faults included. */
  test('a fault of the provider keeps a tenant from the checkout for no longer than the hour', async () => {
    const answered = new Map<string, number>();
    let status = 500;
    const stripe = createServer((request, response) => {
      const key = String(request.headers['idempotency-key']);
      if (!answered.has(key)) answered.set(key, status);
      response.writeHead(answered.get(key) ?? 0, { 'content-type': 'application/json' });
      const body =
        answered.get(key) === 200 ? { id: 'cus_1', object: 'customer' } : { error: { type: 'api_error' } };
      response.end(JSON.stringify(body));
    });
    await new Promise<void>((listening) => stripe.listen(0, '127.0.0.1', listening));
    const { port } = stripe.address() as AddressInfo;
    let now = Date.parse('2026-11-27T10:05:00Z');
    const clock = { now: () => now, sleep: async () => undefined };
    const payments = createPayments({ ...config, apiUrl: `http://127.0.0.1:${port}`, clock });
    const tenantId = randomUUID();
    expect(await kindOf(payments.createCustomer(tenantId, null))).toBe('unreachable');
    status = 200;
    expect(await kindOf(payments.createCustomer(tenantId, null))).toBe('unreachable');
    now += HOUR_MS;
    expect(await payments.createCustomer(tenantId, null)).toBe('cus_1');
    await new Promise((closed) => stripe.close(closed));
  });

  test('a list that cannot be read is no empty list', async () => {
    const sub = provider.world.createCustomer({}).id;
    const session = provider.world.createCheckout({
      customer: sub,
      mode: 'subscription',
      successUrl: 'https://x.example',
      cancelUrl: '',
      reference: null,
      subscriptionMetadata: {},
      lines: [{ price: 'price_local_pro', quantity: 1 }],
    });
    provider.world.pay(session.id, CARDS.good);
    const [id = ''] = Object.keys(provider.world.state.subscriptions);
    const stored = provider.world.state.subscriptions;
    const whole = provider.world.subscription(id);
    stored[id] = { ...whole, items: undefined as unknown as typeof whole.items };
    expect(await kindOf(createPayments(config).listSubscriptions(sub))).toBe('unreachable');
    stored[id] = whole;
    expect(await createPayments(config).listSubscriptions(sub)).toHaveLength(1);
  });

  test('an answer that is lost is asked for again under the same key: one customer, one session', async () => {
    const payments = createPayments({ ...config, repeatsMax: 1, timeoutMs: 2_000 });
    const customers = () => Object.keys(provider.world.state.customers).length;
    const sessions = () => Object.keys(provider.world.state.portals).length;
    const before = [customers(), sessions()];
    provider.behave('lost');
    const made = await payments.createCustomer(randomUUID(), null);
    provider.behave('lost');
    await payments.openPortal(made, 'https://x.example', randomUUID());
    expect([customers(), sessions()]).toEqual(before.map((count) => count + 1));
    provider.behave('lost');
    expect(await payments.listSubscriptions(made)).toEqual([]);
  });
});

describe('whether there is a provider at all (A109)', () => {
  const prices = bookOf(PRICES);
  const readKey = async () => new Secret<string>(LOCAL_PAYMENTS.key);
  const base = { apiUrl: 'http://127.0.0.1:9', clock };

  test.each<[string, Omit<Parameters<typeof createPaymentsOpener>[0], 'apiUrl' | 'clock'>]>([
    ['no prices', { prices: null, readKey }],
    ['no secret', { prices, readKey: null }],
    ['a secret that holds no key', { prices, readKey: async () => new Secret('dkG7aJq1Zk') }],
    ['a publishable key', { prices, readKey: async () => new Secret('pk_test_1') }],
  ])('%s: there is none', async (_name, config) => {
    expect(await createPaymentsOpener({ ...base, ...config })()).toBeNull();
  });

  test('a secret that cannot be read is the provider being away, not payments being off', async () => {
    const readNothing = () => Promise.reject(new Error('canary'));
    expect(await kindOf(createPaymentsOpener({ ...base, prices, readKey: readNothing })())).toBe(
      'unreachable',
    );
  });

  test('a key that is replaced is used from then on', async () => {
    let key = 'sk_test_one';
    const open = createPaymentsOpener({ ...base, prices, readKey: async () => new Secret(key) });
    const first = await open();
    expect(await open()).toBe(first);
    key = 'sk_test_two';
    expect(await open()).not.toBe(first);
  });
});
