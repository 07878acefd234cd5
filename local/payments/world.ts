import {
  amountOf,
  type CheckoutSession,
  type CheckoutWish,
  type Customer,
  emptyState,
  found,
  type Invoice,
  type ItemChange,
  type Metadata,
  type PortalSession,
  type Price,
  type Proration,
  ProviderError,
  type State,
  type Subscription,
  type SubscriptionItem,
  type WorldOptions,
} from './model.ts';

/** Card numbers that a person can type, as the provider documents them for its own test mode. */
export const CARDS = {
  good: '4242424242424242',
  /** Never works. */
  declined: '4000000000000002',
  /** Works once, when it is put on file; every later charge fails. */
  failsLater: '4000000000000341',
} as const;

/** The payment provider's world: customers who buy, change, fail to pay and cancel, and the events that tell of it. */
export class PaymentsWorld {
  readonly state: State;
  /** Runs before a checkout page is closed: a person may be faster. */
  onExpire: (() => void) | null = null;
  readonly #options: WorldOptions;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.state = options.state ?? emptyState();
  }

  createCustomer(metadata: Metadata, email: string | null = null): Customer {
    const id = this.#newId('cus');
    const created = this.#seconds();
    const customer: Customer = { id, object: 'customer', created, email, metadata, card: null };
    this.state.customers[id] = customer;
    this.#changed();
    return customer;
  }

  createCheckout(wish: CheckoutWish): CheckoutSession {
    this.customer(wish.customer);
    for (const { price } of wish.lines) this.price(price);
    const id = this.#newId('cs_test');
    const session: CheckoutSession = {
      id,
      object: 'checkout.session',
      customer: wish.customer,
      mode: wish.mode,
      status: 'open',
      url: `${this.#options.baseUrl()}/c/pay/${id}`,
      success_url: wish.successUrl,
      cancel_url: wish.cancelUrl,
      client_reference_id: wish.reference,
      subscription: null,
      lines: wish.lines,
      subscriptionMetadata: wish.subscriptionMetadata,
    };
    this.state.sessions[id] = session;
    this.#changed();
    return session;
  }

  session(id: string): CheckoutSession {
    return found(this.state.sessions[id], 'checkout.session', id);
  }

  /** Newest first. */
  listSessions(customer: string | null): readonly CheckoutSession[] {
    const all = Object.values(this.state.sessions).reverse();
    return all.filter((each) => (customer ?? each.customer) === each.customer);
  }

  /** Its page takes no payment any more. */
  expire(id: string): CheckoutSession {
    this.onExpire?.();
    const session = this.session(id);
    if (session.status !== 'open') {
      const words = 'Only Checkout Sessions with a status of open can be expired.';
      throw new ProviderError(400, 'invalid_request_error', null, words);
    }
    const expired: CheckoutSession = { ...session, status: 'expired' };
    this.state.sessions[id] = expired;
    this.#emit('checkout.session.expired', expired);
    this.#changed();
    return expired;
  }

  /** The outcome when a person presses "pay" on the checkout page. */
  pay(sessionId: string, card: string): 'paid' | 'declined' | 'expired' {
    const session = this.session(sessionId);
    if (session.status === 'complete') return 'paid';
    if (session.status === 'expired') return 'expired';
    if (card === CARDS.declined || !isCardNumber(card)) return 'declined';
    this.#putCard(session.customer, card);
    const id = this.#newId('sub');
    const subscription: Subscription = {
      id,
      object: 'subscription',
      customer: session.customer,
      status: 'active',
      created: this.#seconds(),
      cancel_at_period_end: false,
      metadata: session.subscriptionMetadata,
      items: {
        object: 'list',
        data: session.lines.map(({ price, quantity }) => this.#newItem(price, quantity)),
      },
    };
    this.state.subscriptions[id] = subscription;
    const complete: CheckoutSession = { ...session, status: 'complete', subscription: id };
    this.state.sessions[sessionId] = complete;
    this.#emit('checkout.session.completed', complete);
    this.#emit('customer.subscription.created', subscription);
    this.#emit('invoice.paid', this.#newInvoice(subscription, 'paid'));
    this.#changed();
    return 'paid';
  }

  createPortal(customer: string, returnUrl: string): PortalSession {
    this.customer(customer);
    const id = this.#newId('bps');
    const portal: PortalSession = {
      id,
      object: 'billing_portal.session',
      customer,
      return_url: returnUrl,
      url: `${this.#options.baseUrl()}/p/session/${id}`,
    };
    this.state.portals[id] = portal;
    this.#changed();
    return portal;
  }

  /** Newest first. */
  listSubscriptions(customer: string | null, status: string | null): readonly Subscription[] {
    return Object.values(this.state.subscriptions)
      .filter((each) => customer === null || each.customer === customer)
      .filter((each) =>
        status === null ? each.status !== 'canceled' : status === 'all' || each.status === status,
      )
      .reverse();
  }

  /**
   * Items not named stay. `always_invoice` charges the difference at once, and with a card that fails nothing changes. With
   * `create_prorations` the difference waits for the next invoice, and a cancellation at once takes it away
   * (https://docs.stripe.com/api/subscriptions/update, https://docs.stripe.com/api/subscriptions/cancel).
   */
  changeItems(
    id: string,
    changes: readonly ItemChange[],
    metadata: Metadata,
    proration: Proration,
  ): Subscription {
    const old = this.subscription(id);
    if (old.status === 'canceled') {
      throw new ProviderError(
        400,
        'invalid_request_error',
        'resource_missing',
        'The subscription has ended.',
      );
    }
    const data = old.items.data.map((item) => {
      const change = changes.find((each) => each.id === item.id);
      return change === undefined ? item : { ...item, price: this.price(change.price) };
    });
    if (changes.some((change) => !old.items.data.some((item) => item.id === change.id))) {
      throw new ProviderError(400, 'invalid_request_error', 'resource_missing', 'No such subscription item.');
    }
    const changed = { ...old, items: { ...old.items, data }, metadata: { ...old.metadata, ...metadata } };
    const difference = amountOf(changed) - amountOf(old);
    // What is credited needs no card.
    if (proration === 'always_invoice' && difference > 0) {
      this.#charge(old.customer);
      this.#emit('invoice.paid', this.#newInvoice(changed, 'paid', difference));
    }
    return this.#putSubscription(changed, 'customer.subscription.updated');
  }

  /** The next invoice falls due now. */
  renew(id: string): Subscription {
    const old = this.subscription(id);
    if (old.cancel_at_period_end) return this.cancel(id);
    if (this.#cardWorks(old.customer)) {
      this.#emit('invoice.paid', this.#newInvoice(old, 'paid'));
      return this.#putSubscription({ ...old, status: 'active' }, 'customer.subscription.updated');
    }
    this.#emit('invoice.payment_failed', this.#newInvoice(old, 'open'));
    return this.#putSubscription({ ...old, status: 'past_due' }, 'customer.subscription.updated');
  }

  /**
   * For charges to come: a new payment method pays no invoice that is open. Of all ways to store one, only the old `source` of
   * a customer has the latest invoice tried again (https://docs.stripe.com/api/customers/update).
   */
  replaceCard(customerId: string, card: string): 'stored' | 'declined' {
    if (card === CARDS.declined || !isCardNumber(card)) return 'declined';
    this.#putCard(customerId, card);
    this.#changed();
    return 'stored';
  }

  /** As a person who presses "pay" on the invoices that are open. */
  payOpen(customerId: string): 'paid' | 'declined' {
    if (!this.#cardWorks(customerId)) return 'declined';
    for (const each of this.listSubscriptions(customerId, 'past_due')) {
      this.#emit('invoice.paid', this.#newInvoice(each, 'paid'));
      this.#putSubscription({ ...each, status: 'active' }, 'customer.subscription.updated');
    }
    return 'paid';
  }

  cancel(id: string): Subscription {
    const old = this.subscription(id);
    if (old.status === 'canceled') return old;
    return this.#putSubscription({ ...old, status: 'canceled' }, 'customer.subscription.deleted');
  }

  setCancelAtPeriodEnd(id: string, ends: boolean): Subscription {
    const changed = { ...this.subscription(id), cancel_at_period_end: ends };
    return this.#putSubscription(changed, 'customer.subscription.updated');
  }

  /** Anything else that a provider may come to say of a subscription. */
  setStatus(id: string, status: string): Subscription {
    return this.#putSubscription({ ...this.subscription(id), status }, 'customer.subscription.updated');
  }

  setMetadata(id: string, metadata: Metadata): Subscription {
    return this.#putSubscription({ ...this.subscription(id), metadata }, 'customer.subscription.updated');
  }

  /** As a person at the provider's own console could. */
  addItem(id: string, price: string): Subscription {
    const old = this.subscription(id);
    const data = [...old.items.data, this.#newItem(price, 1)];
    return this.#putSubscription({ ...old, items: { ...old.items, data } }, 'customer.subscription.updated');
  }

  customer(id: string): Customer {
    const customer = this.state.customers[id];
    return found(customer?.deleted === true ? undefined : customer, 'customer', id);
  }

  subscription(id: string): Subscription {
    return found(this.state.subscriptions[id], 'subscription', id);
  }

  price(id: string): Price {
    const known = found(this.#options.prices[id], 'price', id);
    return {
      id,
      object: 'price',
      nickname: known.nickname,
      unit_amount: known.amount,
      currency: 'eur',
      billing_scheme: 'per_unit',
      recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
    };
  }

  #putSubscription(subscription: Subscription, event: string): Subscription {
    this.state.subscriptions[subscription.id] = subscription;
    this.#emit(event, subscription);
    this.#changed();
    return subscription;
  }

  #newItem(price: string, quantity: number): SubscriptionItem {
    return { id: this.#newId('si'), object: 'subscription_item', price: this.price(price), quantity };
  }

  #newInvoice(
    subscription: Subscription,
    status: Invoice['status'],
    amount: number = amountOf(subscription),
  ): Invoice {
    const { id: subscriptionId, customer, metadata } = subscription;
    const invoice: Invoice = {
      id: this.#newId('in'),
      object: 'invoice',
      customer,
      status,
      customer_email: this.state.customers[customer]?.email ?? null,
      amount_due: amount,
      parent: {
        type: 'subscription_details',
        subscription_details: { subscription: subscriptionId, metadata },
      },
    };
    this.state.invoices[invoice.id] = invoice;
    return invoice;
  }

  #putCard(customerId: string, card: string): void {
    this.state.customers[customerId] = { ...this.customer(customerId), card };
  }

  #cardWorks(customerId: string): boolean {
    return this.customer(customerId).card === CARDS.good;
  }

  #charge(customerId: string): void {
    if (this.#cardWorks(customerId)) return;
    throw new ProviderError(402, 'card_error', 'card_declined', 'Your card was declined.');
  }

  #emit(type: string, object: object): void {
    this.#options.onEvent?.({
      id: this.#newId('evt'),
      object: 'event',
      api_version: '2026-10-28.endive',
      type,
      created: this.#seconds(),
      data: { object: structuredClone(object) },
    });
  }

  #newId(prefix: string): string {
    this.state.serial += 1;
    return `${prefix}_local${String(this.state.serial).padStart(8, '0')}`;
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }

  #changed(): void {
    this.#options.onChange?.();
  }
}

function isCardNumber(card: string): boolean {
  return Object.values<string>(CARDS).includes(card);
}
