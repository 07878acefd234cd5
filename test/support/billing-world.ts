import { createSubscriptionReader } from '#core/adapters/payments-http/list-subscriptions.ts';
import { createPayments } from '#core/adapters/payments-http/payments.ts';
import { parsePriceBook } from '#core/contracts/tenants/billing-config.ts';
import { StoreError } from '#core/ports/store.ts';
import { Secret } from '#core/secret.ts';
import type { ProviderEvent } from '../../local/payments/model.ts';
import {
  type Behaviour,
  LOCAL_PAYMENTS,
  type LocalPayments,
  startLocalPayments,
} from '../../local/payments/provider.ts';
import { CARDS } from '../../local/payments/world.ts';
import { type Answer, ApiWorld, TENANT_A, TOKEN_A } from './api-world.ts';

export const PAYMENT_EVENT = {
  id: 'evt_x',
  object: 'event' as const,
  api_version: 'x',
  created: 1,
  type: 'customer.subscription.updated',
};

export const pageOf = (answer: { readonly json: { readonly checkout_url: string } }): string =>
  answer.json.checkout_url.split('/').at(-1) ?? '';

/** The whole API with the payment provider's stand-in behind it; events wait until a test delivers them. */
export class BillingWorld {
  readonly api = new ApiWorld();
  readonly provider: LocalPayments;
  /** Patience with the provider: much on a busy machine, none where a test makes it silent. */
  timeoutMs = 10_000;

  private constructor(provider: LocalPayments) {
    this.provider = provider;
  }

  static async open(): Promise<BillingWorld> {
    let now = (): number => 0;
    const provider = await startLocalPayments({ now: () => now() });
    provider.deliveries.hold();
    const world = new BillingWorld(provider);
    now = () => world.api.clock.now();
    const prices = parsePriceBook(LOCAL_PAYMENTS.prices);
    if (!prices.ok || prices.value === null) throw new Error('the stand-in has no prices');
    const { clock } = world.api;
    const common = () => ({ apiUrl: provider.url, clock, timeoutMs: world.timeoutMs, repeatsMax: 0 });
    const key = new Secret<string>(LOCAL_PAYMENTS.key);
    const readKey = new Secret<string>(LOCAL_PAYMENTS.readKey);
    world.api.payments = {
      prices: prices.value,
      openPayments: async () => createPayments({ ...common(), key }),
      openReader: async () => createSubscriptionReader({ ...common(), key: readKey }),
      signingSecret: LOCAL_PAYMENTS.signingSecret,
    };
    return world;
  }

  close(): Promise<void> {
    return this.provider.stop();
  }

  /** Tenant A. */
  ask(path: string, body?: unknown, method = 'POST'): Promise<Answer> {
    return this.api.as(TOKEN_A)(method, `/api/v1/billing/${path}`, body);
  }

  async summary(): Promise<Answer['json']> {
    return (await this.ask('me', undefined, 'GET')).json;
  }

  /** Everything that waits, in the order it happened. */
  pending(): readonly ProviderEvent[] {
    const waiting = this.provider.deliveries.release();
    this.provider.deliveries.hold();
    return waiting;
  }

  deliver(event: ProviderEvent): Promise<Answer> {
    const { headers, body } = this.provider.deliveries.wrap(event);
    return this.api.call('POST', '/api/v1/payments/webhook', { headers, body });
  }

  async deliverAll(): Promise<void> {
    for (const event of this.pending()) {
      const answer = await this.deliver(event);
      if (answer.status !== 200) throw new Error(`${event.type} was answered ${answer.status}`);
    }
  }

  /** Through checkout and the webhook to a paid plan; the id of its subscription. */
  async buy(tier: 'pro' | 'team', card: string = CARDS.good): Promise<string> {
    const answer = await this.ask('checkout', { tier });
    const url: string = answer.json.checkout_url;
    const sessionId = url.split('/').at(-1) ?? '';
    if (this.provider.world.pay(sessionId, card) !== 'paid') throw new Error('not paid');
    await this.deliverAll();
    return this.provider.world.state.sessions[sessionId]?.subscription ?? '';
  }

  failStore(...labels: readonly string[]): void {
    this.api.store.beforeCall = (label) => {
      if (labels.includes(label)) throw new StoreError('unavailable', label);
    };
  }

  healStore(): void {
    this.api.store.beforeCall = null;
  }

  /** Tests do not wait long for a silent one. */
  beSilent(behaviour: Behaviour): void {
    if (behaviour === 'silent') this.timeoutMs = 150;
    this.provider.behave(behaviour);
  }

  /** A subscription of a customer, as a person makes one at the provider's console. */
  buyAtConsole(customer: string, subscriptionMetadata: Readonly<Record<string, string>>): void {
    const { world: provider } = this.provider;
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
  }

  async stored() {
    return this.api.store.loadBilling(TENANT_A);
  }
}
