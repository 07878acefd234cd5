import type { TenantId } from '../domain/ids.ts';
import type { Plan } from '../domain/tenants/billing.ts';

/** The purchase, and its customer at the payment provider. */
export interface BillingAccount extends Plan {
  /** Null until the first checkout. */
  readonly customerId: string | null;
  readonly subscriptionId: string | null;
}

export interface StoredBilling extends BillingAccount {
  /** Grows with every write of the row. */
  readonly version: number;
}

/** `seen`: the event that caused it was taken before. `tenant_gone`: offboarded. `lost_race`: another call wrote first. */
export type BillingSaved = 'saved' | 'seen' | 'tenant_gone' | 'lost_race';

export interface BillingStore {
  loadBilling(tenantId: TenantId): Promise<StoredBilling | null>;
  /** Whose customer it is; null: no tenant's. */
  findCustomerTenant(customerId: string): Promise<TenantId | null>;
  /**
   * One transaction: the row, if it still has `expectedVersion` (null: does not exist); the customer's look-up; and the id
   * of the event that caused it, if it is new (A104). Nothing is stored for a tenant that is gone or going (D-62).
   */
  saveBilling(
    tenantId: TenantId,
    account: BillingAccount,
    expectedVersion: number | null,
    eventId: string | null,
  ): Promise<BillingSaved>;
  /** Takes the look-up of a customer that another one replaces: what is told of it from then on finds no tenant. */
  forgetCustomer(customerId: string): Promise<void>;
  isEventTaken(eventId: string): Promise<boolean>;
}
