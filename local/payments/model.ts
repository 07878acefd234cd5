/** Objects as the provider's API shows them, as far as this project reads them. */
export interface Price {
  readonly id: string;
  readonly object: 'price';
  readonly nickname: string;
  readonly unit_amount: number;
  readonly currency: 'eur';
  readonly billing_scheme: 'per_unit';
  readonly recurring: {
    readonly interval: 'month';
    readonly interval_count: number;
    readonly usage_type: 'licensed';
  };
}

export interface SubscriptionItem {
  readonly id: string;
  readonly object: 'subscription_item';
  readonly price: Price;
  readonly quantity: number;
}

export type Metadata = Readonly<Record<string, string>>;

export interface Subscription {
  readonly id: string;
  readonly object: 'subscription';
  readonly customer: string;
  readonly status: string;
  /** Seconds. */
  readonly created: number;
  readonly cancel_at_period_end: boolean;
  readonly items: { readonly object: 'list'; readonly data: readonly SubscriptionItem[] };
  readonly metadata: Metadata;
}

export interface Customer {
  readonly id: string;
  readonly object: 'customer';
  readonly created: number;
  readonly email: string | null;
  readonly metadata: Metadata;
  /** Absent where it was not deleted. */
  readonly deleted?: true;
  /** Number of the card on file; never shown by the API. */
  readonly card: string | null;
}

export interface CheckoutSession {
  readonly id: string;
  readonly object: 'checkout.session';
  readonly customer: string;
  readonly mode: string;
  readonly status: 'open' | 'complete' | 'expired';
  readonly url: string;
  readonly success_url: string;
  readonly cancel_url: string;
  readonly client_reference_id: string | null;
  readonly subscription: string | null;
  readonly lines: readonly { readonly price: string; readonly quantity: number }[];
  readonly subscriptionMetadata: Metadata;
}

export interface PortalSession {
  readonly id: string;
  readonly object: 'billing_portal.session';
  readonly customer: string;
  readonly return_url: string;
  readonly url: string;
}

export interface Invoice {
  readonly id: string;
  readonly object: 'invoice';
  readonly customer: string;
  readonly customer_email: string | null;
  readonly status: 'open' | 'paid';
  readonly amount_due: number;
  readonly parent: {
    readonly type: 'subscription_details';
    readonly subscription_details: { readonly subscription: string; readonly metadata: Metadata };
  };
}

export interface ProviderEvent {
  readonly id: string;
  readonly object: 'event';
  readonly api_version: string;
  readonly created: number;
  readonly type: string;
  readonly data: { readonly object: object };
}

/** Everything that outlives a restart. */
export interface State {
  serial: number;
  readonly customers: Record<string, Customer>;
  readonly sessions: Record<string, CheckoutSession>;
  readonly portals: Record<string, PortalSession>;
  readonly subscriptions: Record<string, Subscription>;
  readonly invoices: Record<string, Invoice>;
}

export function emptyState(): State {
  return { serial: 0, customers: {}, sessions: {}, portals: {}, subscriptions: {}, invoices: {} };
}

export interface CheckoutWish {
  readonly customer: string;
  readonly mode: string;
  readonly lines: readonly { readonly price: string; readonly quantity: number }[];
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly reference: string | null;
  readonly subscriptionMetadata: Metadata;
}

export interface ItemChange {
  readonly id: string;
  readonly price: string;
}

export const PRORATIONS = ['create_prorations', 'always_invoice'] as const;
export type Proration = (typeof PRORATIONS)[number];

/** One period, in cents. */
export function amountOf({ items }: Subscription): number {
  return items.data.reduce((sum, item) => sum + item.price.unit_amount * item.quantity, 0);
}

export interface WorldOptions {
  /** Prices that exist, with what they cost in cents. */
  readonly prices: Readonly<Record<string, { readonly nickname: string; readonly amount: number }>>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly state?: State;
  /** Where its own pages are. */
  readonly baseUrl: () => string;
  readonly onEvent?: (event: ProviderEvent) => void;
  readonly onChange?: () => void;
}

/** The answer of the API instead of an object. */
export class ProviderError extends Error {
  constructor(
    readonly status: number,
    readonly type: 'invalid_request_error' | 'card_error' | 'idempotency_error' | 'api_error',
    readonly code: string | null,
    message: string,
  ) {
    super(message);
  }
}

export function found<T>(value: T | undefined, kind: string, id: string): T {
  if (value !== undefined) return value;
  throw new ProviderError(404, 'invalid_request_error', 'resource_missing', `No such ${kind}: '${id}'`);
}
