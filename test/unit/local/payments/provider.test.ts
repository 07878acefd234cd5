import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPaymentEventSigned } from '#core/contracts/webhooks/payment-signature.ts';
import { Secret } from '#core/secret.ts';
import {
  LOCAL_PAYMENTS,
  type LocalPayments,
  startLocalPayments,
} from '../../../../local/payments/provider.ts';
import { CARDS } from '../../../../local/payments/world.ts';

let dataDir: string;
let provider: LocalPayments;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'mergeyard-payments-'));
  provider = await startLocalPayments({ file: join(dataDir, 'payments.json') });
});
afterEach(async () => {
  await provider.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const press = (url: string, fields: Readonly<Record<string, string>>) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });

function givenCheckout(): { readonly url: string; readonly customer: string } {
  const customer = provider.world.createCustomer({}).id;
  const session = provider.world.createCheckout({
    customer,
    mode: 'subscription',
    reference: null,
    subscriptionMetadata: { tier: 'pro' },
    successUrl: 'https://back.example/yes',
    cancelUrl: 'https://back.example/no',
    lines: [{ price: 'price_local_pro', quantity: 1 }],
  });
  return { url: session.url, customer };
}

describe('the checkout page', () => {
  test('names what is bought; a declined card is told and buys nothing; a good one leads back', async () => {
    const { url, customer } = givenCheckout();
    expect(await (await fetch(url)).text()).toContain('Pro: € 29.00 a month');
    const declined = await press(url, { act: 'pay', card: '4000 0000 0000 0002' });
    expect([declined.status, await declined.text()]).toEqual([402, expect.stringContaining('declined')]);
    expect((await press(url, { act: 'pay', card: '1234' })).status).toBe(402);
    expect(provider.world.listSubscriptions(customer, 'all')).toEqual([]);
    const back = await press(url, { act: 'back' });
    expect([back.status, back.headers.get('location')]).toEqual([303, 'https://back.example/no']);
    const paid = await press(url, { act: 'pay', card: CARDS.good });
    expect([paid.status, paid.headers.get('location')]).toEqual([303, 'https://back.example/yes']);
    await press(url, { act: 'pay', card: CARDS.good });
    expect(provider.world.listSubscriptions(customer, null)).toMatchObject([{ status: 'active' }]);
  });
});

describe('the portal page', () => {
  test('cancels, ends with the period, keeps, lets an invoice fail and be paid with a new card', async () => {
    const { url, customer } = givenCheckout();
    await press(url, { act: 'pay', card: CARDS.failsLater });
    const portal = provider.world.createPortal(customer, 'https://back.example').url;
    const [{ id: subscription } = { id: '' }] = provider.world.listSubscriptions(customer, null);
    const statusOf = () => provider.world.subscription(subscription).status;
    const said = async (fields: Readonly<Record<string, string>>): Promise<string> => {
      const answer = await press(portal, { subscription, ...fields });
      return (await fetch(answer.headers.get('location') ?? '')).text();
    };
    expect(await said({ act: 'renew' })).toContain('past_due');
    expect(await said({ act: 'pay' })).toContain('was declined');
    expect(await said({ act: 'card', card: CARDS.declined })).toContain('was declined');
    expect(statusOf()).toBe('past_due');
    expect(await said({ act: 'card', card: CARDS.good })).toContain('on file');
    // Stored for charges to come: https://docs.stripe.com/api/customers/update.
    expect(statusOf()).toBe('past_due');
    expect(await said({ act: 'pay' })).toContain('is paid');
    expect(statusOf()).toBe('active');
    expect(await said({ act: 'end' })).toContain('ends with this period');
    expect(await said({ act: 'keep' })).toContain('It goes on');
    await said({ act: 'renew' });
    expect(statusOf()).toBe('active');
    await said({ act: 'end' });
    await said({ act: 'renew' });
    expect(statusOf()).toBe('canceled');
    expect(provider.events.filter((event) => event.type === 'invoice.payment_failed')).toHaveLength(1);
    expect(provider.events.at(-1)?.type).toBe('customer.subscription.deleted');
  });

  test('of one customer says nothing of another’s subscription, and writes text as text', async () => {
    const { url, customer } = givenCheckout();
    await press(url, { act: 'pay', card: CARDS.good });
    const [{ id } = { id: '' }] = provider.world.listSubscriptions(customer, null);
    const stranger = provider.world.createCustomer({}).id;
    const portal = provider.world.createPortal(stranger, 'https://back.example').url;
    await press(portal, { act: 'cancel', subscription: id });
    expect(provider.world.subscription(id).status).toBe('active');
    const page = await (await fetch(`${portal}?said=${encodeURIComponent('<b>x</b>')}`)).text();
    expect(page).not.toContain('<b>');
    expect((await fetch(`${provider.url}/p/session/none`)).status).toBe(404);
  });
});

describe('events', () => {
  test('are signed, and sent again until they are taken', async () => {
    const seen: { readonly signed: boolean; readonly type: string }[] = [];
    const answers = [500, 401, 200, 200, 200];
    const service: Server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const header = request.headers['stripe-signature'];
        const secret = new Secret<string>(LOCAL_PAYMENTS.signingSecret);
        const signed = isPaymentEventSigned(secret, String(header), body, Date.now());
        seen.push({ signed, type: JSON.parse(body.toString()).type });
        response.writeHead(answers.shift() ?? 200).end();
      });
    });
    await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
    provider.listenAt(`http://127.0.0.1:${(service.address() as AddressInfo).port}/hook`);
    const { customer, url } = givenCheckout();
    await press(url, { act: 'pay', card: CARDS.good });
    const end = performance.now() + 20_000;
    while (!(seen.length >= 5 && provider.deliveries.isQuiet) && performance.now() < end) {
      await new Promise((tick) => setTimeout(tick, 20));
    }
    expect(seen.every(({ signed }) => signed)).toBe(true);
    expect(seen.map(({ type }) => type).sort()).toHaveLength(5);
    expect(new Set(seen.map(({ type }) => type)).size).toBe(3);
    expect(provider.world.customer(customer).card).toBe(CARDS.good);
    service.closeAllConnections();
    await new Promise((done) => service.close(done));
  });
});

describe('a restart', () => {
  test('forgets nothing that was bought', async () => {
    const { url, customer } = givenCheckout();
    await press(url, { act: 'pay', card: CARDS.good });
    const before = structuredClone(provider.world.listSubscriptions(customer, null));
    await provider.stop();
    provider = await startLocalPayments({ file: join(dataDir, 'payments.json') });
    expect(provider.world.listSubscriptions(customer, null)).toEqual(before);
    expect(provider.world.createCustomer({}).id).not.toBe(customer);
  });
});

describe('the API’s own strictness', () => {
  const ask = (path: string, init: RequestInit = {}, key: string = LOCAL_PAYMENTS.key) =>
    fetch(`${provider.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...init.headers },
    });
  const post = (path: string, body: string, idempotencyKey?: string) =>
    ask(path, {
      method: 'POST',
      body,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    });

  test.each<[string, () => Promise<Response>, number]>([
    ['an unknown parameter', () => post('/v1/customers', 'colour=red'), 400],
    ['a missing one', () => post('/v1/checkout/sessions', 'mode=subscription'), 400],
    ['an unknown address', () => post('/v1/nothing', ''), 404],
    ['an unknown customer', () => ask('/v1/subscriptions?customer=cus_none'), 404],
    ['a limit that is none', () => ask('/v1/subscriptions?limit=1000'), 400],
    ['a wrong key', () => ask('/v1/subscriptions', {}, 'sk_test_wrong'), 401],
    ['a key that may only read', () => ask('/v1/customers/x', {}, LOCAL_PAYMENTS.readKey), 403],
  ])('%s', async (_name, call, status) => {
    const answer = await call();
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { type: expect.any(String) } });
  });

  test('a repeated idempotency key is the first answer; with other parameters it is refused', async () => {
    const first = await (await post('/v1/customers', 'metadata[a]=1', 'k1')).json();
    expect(await (await post('/v1/customers', 'metadata[a]=1', 'k1')).json()).toEqual(first);
    expect((await post('/v1/customers', 'metadata[a]=2', 'k1')).status).toBe(400);
    expect(first).toMatchObject({ metadata: { a: '1' } });
    expect(first).not.toHaveProperty('card');
  });
});
