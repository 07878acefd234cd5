import type { EpochMs, TenantId } from '#core/domain/ids.ts';
import type { Plan } from '#core/domain/tenants/billing.ts';
import type { BillingAccount, BillingSaved, BillingStore, StoredBilling } from '#core/ports/billing-store.ts';
import { StoreError } from '#core/ports/store.ts';
import { MemoryEnrollment } from './memory-enrollment.ts';

/** Plans, their customers and the events that moved them, over the memory rows. */
export class MemoryBilling extends MemoryEnrollment implements BillingStore {
  loadPlan(tenantId: TenantId): Promise<Plan | null> {
    return this.call('loadPlan', () => {
      const row = this.plans.get(tenantId);
      return row === undefined ? null : { tier: row.tier, status: row.status };
    });
  }

  savePlan(tenantId: TenantId, { tier, status }: Plan): Promise<void> {
    return this.call('savePlan', () => {
      const row = this.plans.get(tenantId) ?? { customerId: null, subscriptionId: null, version: 0 };
      this.plans.set(tenantId, { ...row, tier, status, version: row.version + 1 });
    });
  }

  deletePlan(tenantId: TenantId): Promise<boolean> {
    return this.call('deletePlan', () => {
      const customerId = this.plans.get(tenantId)?.customerId ?? null;
      if (customerId !== null) this.customers.delete(customerId);
      return this.plans.delete(tenantId);
    });
  }

  loadBilling(tenantId: TenantId): Promise<StoredBilling | null> {
    return this.call('loadBilling', () => this.plans.get(tenantId) ?? null);
  }

  findCustomerTenant(customerId: string): Promise<TenantId | null> {
    return this.call('findCustomerTenant', () => this.customers.get(customerId) ?? null);
  }

  forgetCustomer(customerId: string): Promise<void> {
    return this.call('forgetCustomer', () => {
      this.customers.delete(customerId);
    });
  }

  isEventTaken(eventId: string): Promise<boolean> {
    return this.call('isEventTaken', () => this.paymentEvents.has(eventId));
  }

  saveBilling(
    tenantId: TenantId,
    account: BillingAccount,
    expectedVersion: number | null,
    eventId: string | null,
  ): Promise<BillingSaved> {
    return this.call('saveBilling', () => {
      if (eventId !== null && this.paymentEvents.has(eventId)) return 'seen' as const;
      const tenant = this.tenants.get(tenantId);
      if (tenant === undefined || tenant.deleting) return 'tenant_gone' as const;
      const { tier, status, customerId, subscriptionId } = account;
      const owner = customerId === null ? undefined : this.customers.get(customerId);
      if (owner !== undefined && owner !== tenantId) throw new StoreError('lost_race', 'saveBilling');
      if ((this.plans.get(tenantId)?.version ?? null) !== expectedVersion) return 'lost_race' as const;
      const version = (expectedVersion ?? 0) + 1;
      this.plans.set(tenantId, { tier, status, customerId, subscriptionId, version });
      if (customerId !== null) this.customers.set(customerId, tenantId);
      if (eventId !== null) this.paymentEvents.set(eventId, this.clock.now());
      return 'saved' as const;
    });
  }

  /** Ids of the payment events that had an effect, for an observer. */
  get takenEvents(): ReadonlyMap<string, EpochMs> {
    return this.paymentEvents;
  }
}
