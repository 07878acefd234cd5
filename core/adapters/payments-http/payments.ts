import Stripe from 'stripe';
import { HOUR_MS } from '../../domain/api-limits.ts';
import { PAYMENTS_REPEATS_MAX, PAYMENTS_TIMEOUT_MS } from '../../domain/limits.ts';
import type { PriceSet } from '../../domain/tenants/subscription.ts';
import { FLAT_KIND } from '../../domain/tenants/subscription.ts';
import { type CheckoutOrder, type Payments, PaymentsError } from '../../ports/payments.ts';
import type { Clock } from '../../ports/system.ts';
import {
  createSubscriptionReader,
  PAYMENTS_API_VERSION,
  type SubscriptionListConfig,
} from './list-subscriptions.ts';
import { PriceAnswer, SubscriptionAnswer } from './schema.ts';

export interface PaymentsConfig extends SubscriptionListConfig {
  readonly clock: Pick<Clock, 'sleep' | 'now'>;
  /** Repeats of a call that got no answer. @default PAYMENTS_REPEATS_MAX */
  readonly repeatsMax?: number;
}

/** The payment provider through its own SDK. Writes are repeated under one idempotency key. */
export function createPayments(config: PaymentsConfig): Payments {
  const sdk = openSdk(config);
  const { sessions } = sdk.checkout;

  /** Ids of the open sessions of a customer, newest first, as the provider lists them. */
  const listOpen = async (customer: string): Promise<readonly string[]> => {
    const ids: string[] = [];
    for await (const { id } of sessions.list({ customer, status: 'open', limit: 100 })) ids.push(id);
    return ids;
  };

  const expire = async (ids: readonly string[], requestId: string): Promise<void> => {
    for (const id of ids) {
      try {
        await sessions.expire(id, {}, { idempotencyKey: `${requestId}-${id}` });
      } catch (error) {
        // Paid or run out since it was listed: the provider refuses that without a code of its own.
        if ((await sessions.retrieve(id)).status === 'open') throw error;
      }
    }
  };

  return {
    ...createSubscriptionReader(config),

    createCustomer: (tenantId, instead) =>
      call('createCustomer', async () => {
        // Keyed by tenant and hour: within the hour, a request whose answer was lost makes no second customer. The
        // same words each time, as the provider wants it of one key. Under one key the provider repeats a fault of its
        // own for a day (https://docs.stripe.com/api/idempotent_requests).
        const hour = Math.floor(config.clock.now() / HOUR_MS);
        const key = `mergeyard-customer-${tenantId}-${hour}`;
        const options = { idempotencyKey: instead === null ? key : `${key}-${instead}` };
        return (await sdk.customers.create({ metadata: { tenant_id: tenantId } }, options)).id;
      }),

    isCustomerDeleted: (customerId) =>
      call('isCustomerDeleted', async () => (await sdk.customers.retrieve(customerId)).deleted === true),

    openCheckout: (order, requestId) =>
      call('openCheckout', async () => {
        const session = await sdk.checkout.sessions.create(toSession(order), { idempotencyKey: requestId });
        if (session.url === null) throw new PaymentsError('unreachable', 'openCheckout', 200);
        // Of requests at the same time each finds all pages that were opened before its own, so that one is left.
        const [newest, ...others] = await listOpen(order.customerId);
        await expire(others, requestId);
        return newest === session.id ? session.url : null;
      }),

    closeCheckouts: (customer, requestId) =>
      call('closeCheckouts', async () => expire(await listOpen(customer), requestId)),

    moveSubscription: ({ tenantId, subscriptionId, tier, moves }, requestId) =>
      call('moveSubscription', async () => {
        const moved = await sdk.subscriptions.update(
          subscriptionId,
          {
            items: moves.map(({ id, priceId }) => ({ id, price: priceId })),
            // Charged now: what waits for the next invoice is lost where the subscription is cancelled at once
            // (https://docs.stripe.com/api/subscriptions/cancel).
            proration_behavior: 'always_invoice',
            // A charge that fails leaves everything as it was, and says so with 402.
            payment_behavior: 'error_if_incomplete',
            metadata: { tenant_id: tenantId, tier },
          },
          { idempotencyKey: requestId },
        );
        const read = SubscriptionAnswer.safeParse(moved);
        if (!read.success) throw new PaymentsError('unreachable', 'moveSubscription', 200);
        return read.data;
      }),

    cancelSubscription: (subscriptionId, requestId) =>
      call('cancelSubscription', async () => {
        try {
          await sdk.subscriptions.cancel(subscriptionId, {}, { idempotencyKey: requestId });
        } catch (error) {
          // A subscription that has ended cannot be found for a cancellation.
          if (error instanceof Stripe.errors.StripeError && error.code === 'resource_missing') return;
          throw error;
        }
      }),

    readPrice: (priceId) =>
      call('readPrice', async () => {
        const read = PriceAnswer.safeParse(await sdk.prices.retrieve(priceId));
        return read.success ? read.data : null;
      }),

    openPortal: (customerId, returnUrl, requestId) =>
      call('openPortal', async () => {
        const session = await sdk.billingPortal.sessions.create(
          { customer: customerId, return_url: returnUrl },
          { idempotencyKey: requestId },
        );
        return session.url;
      }),
  };
}

function openSdk(config: PaymentsConfig): Stripe {
  const { protocol, hostname, port } = new URL(config.apiUrl);
  const isPlain = protocol === 'http:';
  return new Stripe(config.key.reveal(), {
    protocol: isPlain ? 'http' : 'https',
    host: hostname,
    port: port === '' ? (isPlain ? 80 : 443) : Number(port),
    timeout: config.timeoutMs ?? PAYMENTS_TIMEOUT_MS,
    maxNetworkRetries: config.repeatsMax ?? PAYMENTS_REPEATS_MAX,
    // The same as the webhook's own call asks for: a new pin of the SDK does not compile without a look at both.
    apiVersion: PAYMENTS_API_VERSION,
    // Nothing about this deployment goes to the provider beyond the calls themselves.
    telemetry: false,
  });
}

type SessionParams = NonNullable<Parameters<Stripe['checkout']['sessions']['create']>[0]>;

/**
 * Parameters of a checkout. Every kind of price of the tier becomes an item, so that a later change of plan finds
 * exactly the price set.
 */
function toSession(order: CheckoutOrder): SessionParams {
  const metadata = { tenant_id: order.tenantId, tier: order.tier };
  return {
    mode: 'subscription',
    customer: order.customerId,
    client_reference_id: order.tenantId,
    line_items: toLineItems(order.prices),
    subscription_data: { metadata },
    metadata,
    success_url: order.successUrl,
    cancel_url: order.cancelUrl,
  };
}

/** Line items of a price set; a price that is charged by usage has no quantity. */
function toLineItems(prices: PriceSet): NonNullable<SessionParams['line_items']> {
  return Object.entries(prices).map(([kind, price]) =>
    kind === FLAT_KIND ? { price, quantity: 1 } : { price },
  );
}

/** Runs a call of the SDK. Only kind and status of an error are kept: its texts name keys, cards and people (A95). */
async function call<T>(operation: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof PaymentsError) throw error;
    if (!(error instanceof Stripe.errors.StripeError))
      throw new PaymentsError('unreachable', operation, null);
    const status = error.statusCode ?? null;
    if (error instanceof Stripe.errors.StripeCardError || status === 402) {
      throw new PaymentsError('declined', operation, status);
    }
    const passes = status === null || status === 429 || status >= 500;
    throw new PaymentsError(passes ? 'unreachable' : 'rejected', operation, status);
  }
}
