import type { TenantId } from '../domain/ids.ts';
import type { PaidTier } from '../domain/tenants/billing.ts';
import type { PlanPrice } from '../domain/tenants/plan-price.ts';
import type { ItemMove, PriceSet, Subscription } from '../domain/tenants/subscription.ts';

/** `declined`: the card was. `rejected`: any other no. `unreachable`: no answer in time, or none that can be read. */
export type PaymentsErrorKind = 'declined' | 'rejected' | 'unreachable';

/** The provider's words are left out: they may name people and cards. */
export class PaymentsError extends Error {
  override readonly name = 'PaymentsError';
  constructor(
    readonly kind: PaymentsErrorKind,
    readonly operation: string,
    /** HTTP status of the answer; null when there was none. */
    readonly status: number | null,
  ) {
    super(`payments ${operation}: ${kind}`);
  }
}

export interface SubscriptionReader {
  /** Newest first, ended ones perhaps left out. What is true now: never from a cache. */
  listSubscriptions(customerId: string): Promise<readonly Subscription[]>;
}

export interface CheckoutOrder {
  readonly tenantId: TenantId;
  readonly customerId: string;
  readonly tier: PaidTier;
  readonly prices: PriceSet;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

export interface PlanMove {
  readonly tenantId: TenantId;
  readonly subscriptionId: string;
  readonly tier: PaidTier;
  readonly moves: readonly ItemMove[];
}

/**
 * The payment provider. Every call throws `PaymentsError` and nothing else. `requestId` makes a repeated request one: calls
 * are repeated by the adapter when no answer came.
 */
export interface Payments extends SubscriptionReader {
  /**
   * One per tenant: asked twice within an hour, the same comes back. `instead`: the customer that was deleted there, in whose
   * place it comes; null: it is the first.
   */
  createCustomer(tenantId: TenantId, instead: string | null): Promise<string>;
  /** Deleted at the provider: it pays nothing any more, and can be given nothing to pay. */
  isCustomerDeleted(customerId: string): Promise<boolean>;
  /**
   * Address of a page on which a person pays: the only one of this customer that takes a payment from then on. Null: one that
   * was opened after it has taken its place.
   */
  openCheckout(order: CheckoutOrder, requestId: string): Promise<string | null>;
  /** No page that was opened for this customer takes a payment any more. Paid or closed already is fine. */
  closeCheckouts(customerId: string, requestId: string): Promise<void>;
  /** With prorations, which are charged at once; nothing is changed when the charge fails. Returns the subscription as it is afterwards. */
  moveSubscription(move: PlanMove, requestId: string): Promise<Subscription>;
  /** At once, without a last invoice. Ended already is fine. */
  cancelSubscription(subscriptionId: string, requestId: string): Promise<void>;
  /** One unit for one period; null: it is not charged so, or the answer does not say it. */
  readPrice(priceId: string): Promise<PlanPrice | null>;
  /** Address of a page for payment methods, invoices and cancellation. */
  openPortal(customerId: string, returnUrl: string, requestId: string): Promise<string>;
}

/** Null: this deployment takes no payments. Asked per request, since keys are stored and rotated outside. */
export type OpenPayments = () => Promise<Payments | null>;
