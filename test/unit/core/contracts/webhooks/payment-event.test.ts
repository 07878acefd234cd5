import { parsePaymentEvent } from '#core/contracts/webhooks/payment-event.ts';

const TENANT = 'aaaaaaaa-0000-4000-8000-000000000001';
const event = (type: string, object: unknown, more: object = {}): Uint8Array =>
  Buffer.from(JSON.stringify({ id: 'evt_1', type, created: 1, data: { object }, ...more }));
const subscription = { id: 'sub_1', customer: 'cus_1', status: 'active', metadata: { tenant_id: TENANT } };
const invoice = {
  id: 'in_1',
  customer: 'cus_1',
  customer_email: 'ada@example.org',
  parent: { type: 'subscription_details', subscription_details: { metadata: { tenant_id: TENANT } } },
};

describe('the parts of a payment event that are read', () => {
  test.each(['created', 'updated', 'deleted', 'paused', 'resumed', 'trial_will_end'])(
    'subscription %s: whose plan to look at, and nothing of its words',
    (what) => {
      expect(parsePaymentEvent(event(`customer.subscription.${what}`, subscription))).toEqual({
        id: 'evt_1',
        type: `customer.subscription.${what}`,
        about: { customerId: 'cus_1', tenantNoted: TENANT, failedInvoice: null },
      });
    },
  );

  test('a failed invoice, with where the provider writes to', () => {
    expect(parsePaymentEvent(event('invoice.payment_failed', invoice))?.about).toEqual({
      customerId: 'cus_1',
      tenantNoted: TENANT,
      failedInvoice: { id: 'in_1', email: 'ada@example.org' },
    });
    const bare = { id: 'in_1', customer: { id: 'cus_1', object: 'customer' } };
    expect(parsePaymentEvent(event('invoice.payment_failed', bare))?.about).toEqual({
      customerId: 'cus_1',
      tenantNoted: null,
      failedInvoice: { id: 'in_1', email: null },
    });
  });

  test.each([
    ['another type', event('invoice.paid', invoice)],
    ['a type that only begins alike', event('customer.subscription_schedule.updated', subscription)],
    ['of no tenant', event('customer.subscription.updated', { id: 'sub_1' })],
  ])('%s moves no plan', (_name, body) => {
    expect(parsePaymentEvent(body)).toMatchObject({ id: 'evt_1', about: null });
  });

  test.each([[{ tenant_id: 'not-an-id' }], [{}], [null], ['x'], [{ tenant_id: 5 }]])(
    'metadata %j names no tenant',
    (metadata) => {
      const body = event('customer.subscription.updated', { ...subscription, metadata });
      expect(parsePaymentEvent(body)?.about).toMatchObject({ customerId: 'cus_1', tenantNoted: null });
    },
  );

  test.each([
    ['no text', Buffer.from([0xff, 0xfe, 0x00])],
    ['no JSON', Buffer.from('{')],
    ['no object', Buffer.from('[]')],
    ['no id', Buffer.from('{"type":"x","data":{"object":{}}}')],
    ['no data', Buffer.from('{"id":"evt_1","type":"x"}')],
    ['nothing', Buffer.from('')],
  ])('%s is no event', (_name, body) => {
    expect(parsePaymentEvent(body)).toBeNull();
  });
});
