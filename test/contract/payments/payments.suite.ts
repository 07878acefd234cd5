import { randomUUID } from 'node:crypto';
import type { PriceBook } from '#core/domain/tenants/subscription.ts';
import { type Payments, PaymentsError, type SubscriptionReader } from '#core/ports/payments.ts';

/** A provider under test: the stand-in, or anything else that speaks the API. */
export interface PaymentsSubject {
  readonly payments: Payments;
  /** The webhook's own, with a key that may only read. */
  readonly reader: SubscriptionReader;
  readonly prices: PriceBook;
  /** Null: it answers each call from examples and remembers nothing. */
  readonly state: {
    pay(checkoutUrl: string): Promise<void>;
    breakCard(customerId: string): void;
    cancel(subscriptionId: string): void;
    customers(): number;
    /** Cents that were paid so far. */
    paid(customerId: string): number;
  } | null;
  close(): Promise<void>;
}

const TENANT = 'aaaaaaaa-0000-4000-8000-000000000001';

export async function kindOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    if (error instanceof PaymentsError) return error.kind;
    throw error;
  }
}

/** The answers that every provider must give to the calls of the service. */
export function describePayments(
  name: string,
  open: () => Promise<PaymentsSubject>,
  options: { readonly remembers: boolean },
): void {
  describe(name, () => {
    let subject: PaymentsSubject;
    beforeAll(async () => {
      subject = await open();
    });
    afterAll(() => subject.close());

    const checkout = (customerId: string) =>
      subject.payments.openCheckout(
        {
          tenantId: TENANT,
          customerId,
          tier: 'pro',
          prices: subject.prices.pro,
          successUrl: 'https://mergeyard.example/billing?checkout=success',
          cancelUrl: 'https://mergeyard.example/billing?checkout=cancel',
        },
        randomUUID(),
      );

    test('a customer is made and has an id', async () => {
      expect(await subject.payments.createCustomer(TENANT, null)).toMatch(/^cus_\w+$/);
    });

    test('checkout has an address that a browser can open', async () => {
      const url = await checkout(await subject.payments.createCustomer(TENANT, null));
      // One without a memory lists other pages than it has made.
      if (subject.state === null && url === null) return;
      expect(new URL(url ?? '').protocol).toMatch(/^https?:$/);
    });

    test('a price says what one period costs', async () => {
      const price = await subject.payments.readPrice(subject.prices.pro.flat ?? '');
      expect(price).toMatchObject({ amount: expect.stringMatching(/^\d+(\.\d+)?$/), intervalCount: 1 });
      expect(price?.currency).toMatch(/^[A-Z]{3}$/);
    });

    test('the portal has one, too', async () => {
      const customerId = await subject.payments.createCustomer(TENANT, null);
      const url = await subject.payments.openPortal(
        customerId,
        'https://mergeyard.example/billing',
        randomUUID(),
      );
      expect(new URL(url).protocol).toMatch(/^https?:$/);
    });

    test('SDK and webhook read the same subscriptions', async () => {
      const { customerId } = await givenMove(subject, checkout);
      const bySdk = await subject.payments.listSubscriptions(customerId);
      expect(bySdk).not.toEqual([]);
      for (const each of bySdk) {
        expect(each).toMatchObject({ id: expect.stringMatching(/^sub_/), items: expect.any(Array) });
      }
      expect((await subject.reader.listSubscriptions(customerId)).length).toBe(bySdk.length);
    });

    test('a subscription is moved, and answered as it is afterwards', async () => {
      const moved = await subject.payments.moveSubscription(await givenMove(subject, checkout), randomUUID());
      expect(moved.id).toMatch(/^sub_/);
      if (subject.state === null) return;
      expect(moved).toMatchObject({ status: 'active', tierNoted: 'team', tenantNoted: TENANT });
      expect(moved.items.map(({ priceId }) => priceId)).toEqual(Object.values(subject.prices.team));
      expect(await subject.reader.listSubscriptions(moved.customerId)).toEqual([moved]);
    });

    (options.remembers ? describe : describe.skip)('with a memory', () => {
      const stateOf = (): NonNullable<PaymentsSubject['state']> => {
        if (subject.state === null) throw new Error('the subject remembers nothing');
        return subject.state;
      };

      test('one tenant gets one customer, however often it is asked for', async () => {
        const state = stateOf();
        const tenantId = randomUUID();
        const before = state.customers();
        const ids = await Promise.all([1, 2, 3].map(() => subject.payments.createCustomer(tenantId, null)));
        expect(new Set(ids).size).toBe(1);
        expect(state.customers()).toBe(before + 1);
      });

      test('a card that fails is `declined`, and everything is as it was', async () => {
        const state = stateOf();
        const move = await givenMove(subject, checkout);
        const [before] = await subject.payments.listSubscriptions(move.customerId);
        state.breakCard(move.customerId);
        expect(await kindOf(subject.payments.moveSubscription(move, randomUUID()))).toBe('declined');
        expect(await subject.payments.listSubscriptions(move.customerId)).toEqual([before]);
      });

      /**
       * https://docs.stripe.com/api/subscriptions/update: "If you pass create_prorations, the prorations are created but not
       * automatically invoiced", and https://docs.stripe.com/api/subscriptions/cancel: a cancellation at once removes them.
       */
      test('what a larger plan costs more is charged when it is asked for', async () => {
        const state = stateOf();
        const move = await givenMove(subject, checkout);
        const before = state.paid(move.customerId);
        await subject.payments.moveSubscription(move, randomUUID());
        expect(state.paid(move.customerId)).toBeGreaterThan(before);
      });

      test('a cancelled subscription is not listed, and cannot be moved', async () => {
        const state = stateOf();
        const move = await givenMove(subject, checkout);
        state.cancel(move.subscriptionId);
        expect(await subject.payments.listSubscriptions(move.customerId)).toEqual([]);
        expect(await kindOf(subject.payments.moveSubscription(move, randomUUID()))).toBe('rejected');
      });

      test('a subscription is cancelled at once, and once more is fine', async () => {
        const move = await givenMove(subject, checkout);
        await subject.payments.cancelSubscription(move.subscriptionId, randomUUID());
        expect(await subject.payments.listSubscriptions(move.customerId)).toEqual([]);
        await subject.payments.cancelSubscription(move.subscriptionId, randomUUID());
      });

      test('no page of a customer takes money once they are closed, and once more is fine', async () => {
        const state = stateOf();
        const customerId = await subject.payments.createCustomer(randomUUID(), null);
        await state.pay((await checkout(customerId)) ?? '');
        const open = await checkout(customerId);
        for (let times = 0; times < 2; times += 1) {
          await subject.payments.closeCheckouts(customerId, randomUUID());
        }
        await expect(state.pay(open ?? '')).rejects.toThrow('410');
        expect(await subject.payments.listSubscriptions(customerId)).toHaveLength(1);
      });

      test('a page that is opened closes those before it; of several at once one is left', async () => {
        const state = stateOf();
        const customerId = await subject.payments.createCustomer(randomUUID(), null);
        const first = await checkout(customerId);
        const urls = await Promise.all([1, 2, 3].map(() => checkout(customerId)));
        const paid: string[] = [];
        for (const url of [first, ...urls])
          if (url !== null)
            await state.pay(url).then(
              () => paid.push(url),
              () => undefined,
            );
        expect(paid).toHaveLength(1);
        expect(paid).not.toContain(first);
      });

      test('a customer or subscription that does not exist is `rejected`, not empty', async () => {
        expect(await kindOf(subject.payments.listSubscriptions('cus_nobody'))).toBe('rejected');
        expect(await kindOf(checkout('cus_nobody'))).toBe('rejected');
      });
    });
  });
}

/** A paid subscription on pro, and its way to team. A provider without memory gets ids of its examples. */
async function givenMove(subject: PaymentsSubject, checkout: (customerId: string) => Promise<string | null>) {
  const to = { tenantId: TENANT, tier: 'team' as const };
  const customerId = await subject.payments.createCustomer(
    subject.state === null ? TENANT : randomUUID(),
    null,
  );
  if (subject.state !== null) await subject.state.pay((await checkout(customerId)) ?? '');
  const [subscription] = await subject.payments.listSubscriptions(customerId);
  if (subscription === undefined) throw new Error('the provider lists no subscription');
  const kinds = Object.keys(subject.prices.pro);
  const moves = kinds.flatMap((kind, index) => {
    const item = subscription.items[index];
    return item === undefined ? [] : [{ id: item.id, priceId: subject.prices.team[kind] ?? '' }];
  });
  return { ...to, customerId, subscriptionId: subscription.id, moves };
}
