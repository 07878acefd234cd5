import { AppError } from '../../contracts/errors.ts';
import { type PaymentEvent, parsePaymentEvent } from '../../contracts/webhooks/payment-event.ts';
import { isPaymentEventSigned } from '../../contracts/webhooks/payment-signature.ts';
import type { TenantId } from '../../domain/ids.ts';
import { PAYMENT_EVENT_BYTES_MAX } from '../../domain/limits.ts';
import { isEntitling } from '../../domain/tenants/billing.ts';
import type { PriceBook } from '../../domain/tenants/subscription.ts';
import type { BillingStore } from '../../ports/billing-store.ts';
import type { NoticeRequestStore } from '../../ports/notifier.ts';
import { PaymentsError, type SubscriptionReader } from '../../ports/payments.ts';
import { StoreError } from '../../ports/store.ts';
import type { Clock, Log } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import { askInvoiceNotice } from '../notices/ask-notice.ts';
import { followProvider } from './billing.ts';

export interface PaymentEventDeps {
  readonly store: Omit<BillingStore, 'forgetCustomer'> & NoticeRequestStore;
  /** Null: payments are off, so nothing can be verified (D-60). Throws when it cannot be read. */
  readonly readSigningSecret: (() => Promise<Secret<string>>) | null;
  /** Null: payments are off. */
  readonly openReader: () => Promise<SubscriptionReader | null>;
  readonly prices: PriceBook | null;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  /** @default parsePaymentEvent */
  readonly parse?: (body: Uint8Array) => PaymentEvent | null;
}

export interface PaymentEventRequest {
  /** As received; the signature is over these bytes. */
  readonly body: Uint8Array;
  readonly signature: string | undefined;
}

/** `applied`: the plan is what the provider reports. All others changed nothing. */
export type PaymentEventOutcome = 'applied' | 'seen' | 'ignored';

/**
 * Takes one event of the payment provider. Nothing is parsed before it is verified (A104). An event says only whose plan to
 * look at: its own words are not believed over what the provider reports now, so order and number do not matter (A105).
 */
export async function acceptPaymentEvent(
  deps: PaymentEventDeps,
  request: PaymentEventRequest,
): Promise<PaymentEventOutcome> {
  await refuseUnsigned(deps, request);
  const event = (deps.parse ?? parsePaymentEvent)(request.body);
  if (event === null) throw new AppError('invalid_body');
  if (event.about === null) return 'ignored';
  try {
    return await follow(deps, event.id, event.about);
  } catch (error) {
    if (!(error instanceof StoreError) && !(error instanceof PaymentsError)) throw error;
    deps.log.error('a payment event could not be followed', { event_id: event.id, event: event.type, error });
    // The provider sends it again (D-60).
    throw new AppError('db_error');
  }
}

async function refuseUnsigned(
  deps: PaymentEventDeps,
  { body, signature }: PaymentEventRequest,
): Promise<void> {
  const { readSigningSecret } = deps;
  if (readSigningSecret === null || body.length > PAYMENT_EVENT_BYTES_MAX) {
    throw new AppError('invalid_signature');
  }
  let secret: Secret<string>;
  try {
    secret = await readSigningSecret();
  } catch (error) {
    deps.log.error('the signing secret of the payment provider could not be read', { error });
    throw new AppError('invalid_signature');
  }
  if (!isPaymentEventSigned(secret, signature, body, deps.clock.now())) {
    throw new AppError('invalid_signature');
  }
}

async function follow(
  deps: PaymentEventDeps,
  eventId: string,
  about: NonNullable<PaymentEvent['about']>,
): Promise<PaymentEventOutcome> {
  if (await deps.store.isEventTaken(eventId)) return 'seen';
  const tenantId = await findTenant(deps, about);
  if (tenantId === null) {
    deps.log.info('a payment event of no tenant', { event_id: eventId });
    return 'ignored';
  }
  const payments = await deps.openReader();
  if (payments === null || deps.prices === null) throw new PaymentsError('unreachable', 'openReader', null);
  const saved = await followProvider(
    deps,
    { payments, prices: deps.prices },
    tenantId,
    about.customerId,
    eventId,
  );
  if (saved === 'lost_race') throw new StoreError('lost_race', 'saveBilling');
  if (saved === 'tenant_gone') return 'ignored';
  if (saved === 'seen') return 'seen';
  deps.log.info('a plan follows the payment provider', { tenant_id: tenantId, event_id: eventId });
  if (about.failedInvoice !== null && (await isDue(deps, tenantId))) {
    const { id: invoiceId, email } = about.failedInvoice;
    await askInvoiceNotice(deps, { tenantId, invoiceId, email });
  }
  return 'applied';
}

/**
 * Whether the plan waits for a payment. The provider tells of any invoice of the customer
 * (https://docs.stripe.com/api/events/types#event_types-invoice.payment_failed): one that an operator wrote stops no plan, nor
 * does one that is paid by now.
 */
async function isDue({ store }: PaymentEventDeps, tenantId: TenantId): Promise<boolean> {
  try {
    const plan = await store.loadBilling(tenantId);
    return plan === null || !isEntitling(plan.status);
  } catch (error) {
    // The event is taken by now: it would not come again for the notice.
    if (error instanceof StoreError) return true;
    throw error;
  }
}

/**
 * Whose customer it is by our own record; else by what we once wrote into the subscription. A tenant that has another customer
 * is not moved to this one: two customers cannot both say what it has.
 */
async function findTenant(
  { store, log }: PaymentEventDeps,
  about: NonNullable<PaymentEvent['about']>,
): Promise<TenantId | null> {
  const named = (await store.findCustomerTenant(about.customerId)) ?? about.tenantNoted;
  if (named === null) return null;
  const known = await store.loadBilling(named);
  if (known === null || known.customerId === null || known.customerId === about.customerId) return named;
  log.warn('a payment event names a tenant that has another customer', { tenant_id: named });
  return null;
}
