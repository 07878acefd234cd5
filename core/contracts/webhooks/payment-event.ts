import * as z from 'zod';
import type { TenantId } from '../../domain/ids.ts';

/** The part that we take of an event: only that there is something to look at, and at whose (A105). */
export interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  /** Null: an event that moves no plan, or one that names no customer. */
  readonly about: {
    readonly customerId: string;
    /** From the metadata that we wrote; null where the event carries none. */
    readonly tenantNoted: TenantId | null;
    /** Set for a failed invoice, of which the tenant is told. */
    readonly failedInvoice: { readonly id: string; readonly email: string | null } | null;
  } | null;
}

/** Contract, Received. Pausing and resuming are reported as events of their own and as updates. */
const SUBSCRIPTION_EVENT = /^customer\.subscription\.[a-z_]+$/;
const FAILED_INVOICE_EVENT = 'invoice.payment_failed';

const Id = z.string().min(1).max(255);
/** An id, or the object itself where the account's settings expand it. */
const Reference = z.union([Id, z.object({ id: Id }).transform(({ id }) => id)]);
const Envelope = z.object({
  id: Id,
  type: z.string().max(255),
  data: z.object({ object: z.record(z.string(), z.unknown()) }),
});
const Metadata = z.object({ tenant_id: z.uuid().nullable().catch(null) }).catch({ tenant_id: null });
const SubscriptionObject = z.object({ customer: Reference, metadata: Metadata });
const InvoiceObject = z.object({
  id: Id,
  customer: Reference,
  customer_email: z.string().nullable().catch(null),
  parent: z
    .object({ subscription_details: z.object({ metadata: Metadata }) })
    .transform(({ subscription_details: { metadata } }) => metadata)
    .catch({ tenant_id: null }),
});

/** Null: not JSON, or not an event. Call it for verified bytes only (A104). */
export function parsePaymentEvent(body: Uint8Array): PaymentEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return null;
  }
  const event = Envelope.safeParse(value);
  if (!event.success) return null;
  const { id, type, data } = event.data;
  return { id, type, about: readSubject(type, data.object) };
}

function readSubject(type: string, object: unknown): PaymentEvent['about'] {
  if (SUBSCRIPTION_EVENT.test(type)) {
    const { data } = SubscriptionObject.safeParse(object);
    if (data === undefined) return null;
    return { customerId: data.customer, tenantNoted: data.metadata.tenant_id, failedInvoice: null };
  }
  if (type !== FAILED_INVOICE_EVENT) return null;
  const { data } = InvoiceObject.safeParse(object);
  if (data === undefined) return null;
  return {
    customerId: data.customer,
    tenantNoted: data.parent.tenant_id,
    failedInvoice: { id: data.id, email: data.customer_email },
  };
}
